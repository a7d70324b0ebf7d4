/** Bounds of the histograms, as llm-d has them: dashboards made for it fit. One of its bounds is 32778, and stays so. */

const powers = (from: number, to: number): readonly number[] => {
  const bounds: number[] = []
  for (let bound = from; bound <= to; bound *= 2) bounds.push(bound)
  return bounds
}

/** Seconds of a whole request. */
export const REQUEST_SECONDS: readonly number[] = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
]
/** Seconds to the first token. */
export const FIRST_TOKEN_SECONDS: readonly number[] = REQUEST_SECONDS.filter((bound) => bound <= 120)
/** Seconds of scheduling. */
export const SCHEDULING_SECONDS: readonly number[] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1]
/** Seconds for each output token, over the whole request. */
export const NORMALISED_TOKEN_SECONDS: readonly number[] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10]
/** Seconds for each output token behind the first. */
export const TOKEN_SECONDS: readonly number[] = [0.0005, 0.00205, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.125, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 2]
export const REQUEST_BYTES: readonly number[] = powers(64, 2 ** 30)
export const RESPONSE_BYTES: readonly number[] = [1, ...powers(8, 16_384), 32_778, 65_536]
export const INPUT_TOKENS: readonly number[] = [1, ...powers(8, 16_384), 32_778, ...powers(65_536, 1_048_576)]
export const OUTPUT_TOKENS: readonly number[] = [1, ...powers(8, 8192)]
export const RATIO: readonly number[] = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]
export const HIT_BYTES: readonly number[] = [0, ...powers(16, 65_536)]
/** Seconds of a turn of the engine; most take microseconds. */
export const TURN_SECONDS: readonly number[] = [0.000005, 0.00001, 0.00002, 0.00005, ...SCHEDULING_SECONDS]
