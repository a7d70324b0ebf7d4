export { OwnLoad } from './own-load.ts'
export type { HeldLoad, LoadChange } from './own-load.ts'
export { LEASE_MS, Peers } from './peers.ts'
