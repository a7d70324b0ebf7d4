import { MICROS_PER_MS } from '../../core/instant.ts'
import type { Instant } from '../../core/instant.ts'

/** The longest delay that a timer takes, in milliseconds; beyond it would fire at once. */
const DELAY_MAX_MS = 2 ** 31 - 1

/**
 * The machine's clock in microseconds since the Unix epoch: wall time is read once, from then on it runs monotonically.
 * A change of the wall clock changes nothing, and a journal's time is never undercut.
 */
export class SystemClock {
  private readonly origin: Instant
  private timer: NodeJS.Timeout | undefined

  /** @param notBefore the clock begins here where the wall clock is behind it */
  constructor(notBefore: Instant = 0) {
    this.origin = Math.max(Math.floor(Date.now() * MICROS_PER_MS), notBefore) - elapsed()
  }

  /** A whole number that never falls. */
  now(): Instant {
    return this.origin + elapsed()
  }

  /** Calls back once, at this time or soon after, never within this call; replaces the call asked for before. */
  wakeAt(at: Instant, callback: () => void): void {
    this.stop()
    const delayMs = Math.min(Math.max(0, Math.ceil((at - this.now()) / MICROS_PER_MS)), DELAY_MAX_MS)
    this.timer = setTimeout(() => {
      // Timers fire up to a millisecond early, and one for a time far off comes before it.
      if (this.now() < at) this.wakeAt(at, callback)
      else callback()
    }, delayMs)
  }

  /** Forgets the call asked for. */
  stop(): void {
    clearTimeout(this.timer)
    this.timer = undefined
  }
}

const elapsed = (): number => Math.floor(performance.now() * MICROS_PER_MS)
