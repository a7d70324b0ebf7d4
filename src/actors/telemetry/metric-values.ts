import type { MetricColumn } from '../../wire/input.ts'

/** Why a value was not taken. */
export type RefusalReason = 'not-a-number' | 'infinite' | 'negative' | 'too-many-names' | 'too-many-models'

/** What is wrong with a value that a metric cannot have. */
export const faultOf = (value: number): RefusalReason | undefined => {
  if (value >= 0 && value < Infinity) return undefined
  if (value < 0) return 'negative'
  return value === Infinity ? 'infinite' : 'not-a-number'
}

/** One metric of all endpoints: the newest values and those that the engine took last, by slot; NaN where there is none. */
export class MetricValues {
  readonly metric: string
  readonly custom: boolean
  private newest: Float64Array
  private taken: Float64Array

  constructor(metric: string, custom: boolean, slots: number) {
    this.metric = metric
    this.custom = custom
    this.newest = new Float64Array(slots).fill(NaN)
    this.taken = new Float64Array(slots).fill(NaN)
  }

  /** Takes a value that has no fault. */
  set(slot: number, value: number): void {
    // + 0 makes -0 a plain 0, which is what the wire gives back.
    this.newest[slot] = value + 0
  }

  reset(slot: number): void {
    this.newest[slot] = NaN
    this.taken[slot] = NaN
  }

  grow(slots: number): void {
    this.newest = grown(this.newest, slots)
    this.taken = grown(this.taken, slots)
  }

  /** The values of these slots, in rising order, that differ from those taken last; they count as taken from now on. */
  take(slots: readonly number[]): MetricColumn | undefined {
    const { newest, taken } = this
    const slotDeltas: number[] = []
    const values: number[] = []
    let previous = 0
    let whole = true
    for (let i = 0; i < slots.length; i++) {
      const slot = slots[i] as number
      const value = newest[slot] as number
      // A slot without a value holds NaN, which differs from everything: the second comparison rules it out.
      if (value === taken[slot] || value !== value) continue
      taken[slot] = value
      slotDeltas.push(slot - previous)
      values.push(value)
      previous = slot
      whole &&= Number.isSafeInteger(value)
    }
    if (values.length === 0) return undefined
    return { metric: this.metric, custom: this.custom, slotDeltas, whole: whole ? values : [], real: whole ? [] : values }
  }
}

const grown = (from: Float64Array, slots: number): Float64Array => {
  const to = new Float64Array(slots).fill(NaN)
  to.set(from)
  return to
}
