import { MICROS_PER_S, type Instant } from '../../../core/instant.ts'

/** How often a count is noted, how long notes are kept, how far back a rate looks, how much time it needs. (AIBrix: drain rate) */
const NOTE_EVERY = 5 * MICROS_PER_S
const KEEP = 180 * MICROS_PER_S
const LOOK_BACK = 60 * MICROS_PER_S
const SPAN_MIN = 10 * MICROS_PER_S

/** A window as plain data. */
export interface SavedWindow {
  readonly count: number
  readonly notes: readonly (readonly [at: number, count: number])[]
}

/** A count that only rises, and how fast it rose over about the last minute. */
export class RateWindow {
  count: number
  private readonly notes: (readonly [at: Instant, count: number])[] = []

  constructor(now: Instant, count = 0) {
    this.count = count
    this.notes.push([now, count])
  }

  /** The count is this high now; one that fell began anew. */
  rise(count: number, now: Instant): void {
    this.note(now)
    this.count = count
  }

  /** Rises a second since the note nearest to a minute ago; undefined before ten seconds have passed. */
  rate(now: Instant): number | undefined {
    let nearest: readonly [at: Instant, count: number] | undefined
    for (const note of this.notes) {
      if (nearest === undefined || Math.abs(now - LOOK_BACK - note[0]) <= Math.abs(now - LOOK_BACK - nearest[0])) nearest = note
    }
    if (nearest === undefined || now - nearest[0] < SPAN_MIN) return undefined
    const more = this.count >= nearest[1] ? this.count - nearest[1] : this.count
    return more / ((now - nearest[0]) / MICROS_PER_S)
  }

  save(): SavedWindow {
    return { count: this.count, notes: this.notes }
  }

  static load({ count, notes }: SavedWindow): RateWindow {
    const window = new RateWindow(0)
    window.count = count
    window.notes.length = 0
    window.notes.push(...notes)
    return window
  }

  /** Notes the count as it was until now, at most once in five seconds, and forgets what is too old. */
  private note(now: Instant): void {
    const last = this.notes.at(-1)
    if (last !== undefined && now - last[0] < NOTE_EVERY) return
    this.notes.push([now, this.count])
    while (this.notes.length > 1 && now - (this.notes[0]?.[0] ?? now) > KEEP) this.notes.shift()
  }
}
