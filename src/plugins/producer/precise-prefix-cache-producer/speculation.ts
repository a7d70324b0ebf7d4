import type { Instant } from '../../../core/instant.ts'

/** What a request that was just sent will put into an endpoint's cache. */
export interface Batch {
  readonly slot: number
  readonly until: Instant
  /** Keys as pairs of words. */
  readonly words: Int32Array
}

/** Keys kept at most: 8 MB; past it the oldest batches end before their time. */
const SPECULATIVE_KEYS_MAX = 1_048_576

/** Blocks taken to be held until the engine tells of them, or their time is over; the oldest batch ends first. */
export class Speculation {
  private batches: Batch[] = []
  private first = 0
  private keys = 0

  get pending(): readonly Batch[] {
    return this.batches.slice(this.first)
  }

  add(batch: Batch): void {
    this.batches.push(batch)
    this.keys += batch.words.length / 2
  }

  /** The next batch whose time is over or for which there is no room; undefined when there is none. */
  takeEnded(now: Instant): Batch | undefined {
    const batch = this.batches[this.first]
    if (batch === undefined || (batch.until > now && this.keys <= SPECULATIVE_KEYS_MAX)) return undefined
    this.first += 1
    this.keys -= batch.words.length / 2
    if (this.first > 1024 && 2 * this.first > this.batches.length) {
      this.batches = this.batches.slice(this.first)
      this.first = 0
    }
    return batch
  }

  /** Forgets what an endpoint was taken to hold. */
  forget(slot: number): void {
    this.batches = this.pending.filter((batch) => batch.slot !== slot)
    this.first = 0
    this.keys = this.batches.reduce((sum, { words }) => sum + words.length / 2, 0)
  }
}
