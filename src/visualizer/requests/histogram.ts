/** Counts of durations in bins whose bounds grow by a constant factor. */
export interface Histogram {
  /** Lower bounds, in microseconds; the last bin ends at `end`. */
  readonly bounds: readonly number[]
  readonly end: number
  readonly counts: readonly number[]
  readonly total: number
}

/** Bins in which the bounds double: fine enough to see two humps, few enough to draw; more where all lies close together. */
const BINS_PER_OCTAVE = [4, 8, 16, 32] as const
const BINS_MIN = 24

/** A histogram of all values that are numbers; empty when none is. */
export const histogram = (values: Iterable<number>): Histogram => {
  const known = [...values].filter((value) => value >= 0).map((value) => Math.max(1, value))
  if (known.length === 0) return { bounds: [], end: 1, counts: [], total: 0 }
  const least = known.reduce((a, b) => Math.min(a, b))
  const most = known.reduce((a, b) => Math.max(a, b))
  const octaves = Math.log2(most / least)
  const each = BINS_PER_OCTAVE.find((bins) => octaves * bins >= BINS_MIN) ?? 32
  const low = Math.floor(Math.log2(least) * each)
  const high = Math.floor(Math.log2(most) * each)
  const counts = new Array<number>(high - low + 1).fill(0)
  for (const value of known) {
    const bin = Math.min(high, Math.floor(Math.log2(value) * each)) - low
    counts[bin] = (counts[bin] ?? 0) + 1
  }
  const bound = (bin: number): number => 2 ** ((low + bin) / each)
  return { bounds: counts.map((_, bin) => bound(bin)), end: bound(counts.length), counts, total: known.length }
}

/** Place of a value on the axis, from 0 to 1. */
export const shareOf = ({ bounds, end }: Histogram, value: number): number => {
  const [low = 1] = bounds
  return Math.min(1, Math.max(0, Math.log2(Math.max(1, value) / low) / Math.log2(end / low)))
}

/** The value at a place from 0 to 1. */
export const valueAt = ({ bounds, end }: Histogram, share: number): number => {
  const [low = 1] = bounds
  return low * 2 ** (share * Math.log2(end / low))
}

/** The value below which a share of the values lie (nearest rank); NaN when there is none. */
export const percentile = (sorted: readonly number[], share: number): number =>
  sorted.length === 0 ? NaN : (sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] as number)
