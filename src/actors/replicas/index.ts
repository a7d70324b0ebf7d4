export { heldLoad } from './held-load.ts'
export { OwnLoad } from './own-load.ts'
export type { HeldLoad, LoadChange } from './own-load.ts'
export { Peers } from './peers.ts'
