/**
 * Rates `out[0..count)`, which holds the values, by where they lie between the highest (0) and the lowest (1). All equal
 * gives 1 to all. What is NaN stays so. (llm-d: queue-scorer, running-requests-size-scorer)
 */
export const rateLowerBetter = (out: Float64Array, count: number): void => {
  let low = Infinity
  let high = -Infinity
  for (let i = 0; i < count; i++) {
    const value = out[i] as number
    if (value < low) low = value
    if (value > high) high = value
  }
  if (!(high > low)) out.fill(1, 0, count)
  else for (let i = 0; i < count; i++) out[i] = (high - (out[i] as number)) / (high - low)
}
