/** Percentiles of a set of times, ms; all null when the set is empty. */
export interface Percentiles {
  readonly p50: number | null
  readonly p90: number | null
  readonly p99: number | null
}

/** Nearest-rank percentiles: the smallest value with at least that share of the values at or below it. */
export function percentiles(values: readonly number[]): Percentiles {
  const sorted = Float64Array.from(values).sort()
  const at = (share: number): number | null => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? null
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99) }
}
