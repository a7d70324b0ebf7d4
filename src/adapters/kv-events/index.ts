export type { BlockChange, BlockNaming, SkippedEvent, SkipReason } from './block-map.ts'
export type { KvFault } from './event-stream.ts'
export { KvListener } from './listener.ts'
export { KvSubscription } from './subscription.ts'
