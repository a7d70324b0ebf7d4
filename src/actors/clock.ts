import type { Instant } from '../core/instant.ts'

/** Time as the engine's shell has it: monotonic, begun from wall time once. */
export interface Clock {
  /** Microseconds since the Unix epoch; never goes back. */
  now(): Instant
  /** Calls back once, at this time or soon after; a later call replaces the one before. */
  wakeAt(at: Instant, callback: () => void): void
  /** Forgets the call asked for. */
  stop(): void
}
