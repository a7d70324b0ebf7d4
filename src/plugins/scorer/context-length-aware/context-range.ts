/** Lengths of context that an endpoint is meant for, in tokens, both ends included. */
export interface ContextRange {
  readonly min: number
  readonly max: number
}

const LENGTH = /^[+-]?\d+$/

/** Reads "min-max"; undefined when it is none. */
export const parseContextRange = (text: string): ContextRange | undefined => {
  const [low = '', high = '', ...rest] = text.split('-').map((part) => part.trim())
  if (rest.length > 0 || !LENGTH.test(low) || !LENGTH.test(high)) return undefined
  const range = { min: Number(low), max: Number(high) }
  return range.min <= range.max ? range : undefined
}

export const includes = (range: ContextRange, tokens: number): boolean => tokens >= range.min && tokens <= range.max

// A range that does not fit scores less than any that does.
const OUTSIDE = 0.3
const WIDTH_SHARE = 0.7
const ROOM_SHARE = 0.3
const WIDTH_SCALE = 10_000
const DISTANCE_SCALE = 1000

/**
 * Inside: 0.3 + 0.7 (0.7 / (1 + width / 10000) + 0.3 (max - tokens) / width), 1 when the width is 0; outside: 0.3 / (1 +
 * distance / 1000). (llm-d: context-length-aware)
 */
export const rateContextRange = (range: ContextRange, tokens: number): number => {
  if (!includes(range, tokens)) {
    const distance = tokens > range.max ? tokens - range.max : range.min - tokens
    return OUTSIDE / (1 + distance / DISTANCE_SCALE)
  }
  const width = range.max - range.min
  if (width === 0) return 1
  const fit = WIDTH_SHARE / (1 + width / WIDTH_SCALE) + (ROOM_SHARE * (range.max - tokens)) / width
  return OUTSIDE + (1 - OUTSIDE) * fit
}
