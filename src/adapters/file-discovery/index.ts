export { FileDiscoverySource } from './discovery.ts'
export type { EndpointChanges } from './endpoint-set.ts'
export { readEndpoints } from './endpoints-document.ts'
