/**
 * The timing model of a simulated endpoint: how long each piece of work takes at speed 1.
 *
 * | work | takes |
 * |---|---|
 * | prefill | `overheadMs` + uncached tokens / `prefillTokensPerSecond` + `encodeMsPerItem` for each media item encoded here |
 * | encode leg | `overheadMs` + `encodeMsPerItem` for each media item that the media cache does not hold |
 * | KV transfer | `transferMs` + uncached tokens / `transferTokensPerSecond` |
 * | one decode step, a token for every decoding sequence | `decodeStepMs` + `decodeStepMsPerSequence` x (decoding - 1), times `prefillInterference` while a prefill runs beside it |
 *
 * One prefill (or encode) runs at a time; transfers run side by side; decode steps follow one another for as long as
 * a sequence decodes. A sequence is admitted, first come first served, when it has all KV blocks of its prompt and its
 * output, a running slot and, if it computes its own prefill, the prefill unit; until then it waits.
 */
export interface EndpointTiming {
  /** Fixed cost of a request, ms. */
  readonly overheadMs: number
  /** Prefill rate of tokens that are not in the prefix cache, tokens per second. */
  readonly prefillTokensPerSecond: number
  /** A decode step with one sequence, ms. */
  readonly decodeStepMs: number
  /** What each further sequence adds to a decode step, ms. */
  readonly decodeStepMsPerSequence: number
  /** Factor (>= 1) on a decode step that starts while a prefill runs. */
  readonly prefillInterference: number
  /** Fixed cost of fetching remote KV blocks or remote media embeddings, ms. */
  readonly transferMs: number
  /** Rate of fetching remote KV blocks, tokens per second. */
  readonly transferTokensPerSecond: number
  /** Encoding one media item, ms. */
  readonly encodeMsPerItem: number
  /** Sequences that may run at once. */
  readonly maxRunning: number
  /** Tokens in a KV block. */
  readonly blockTokens: number
  /** KV blocks in all. */
  readonly blockCount: number
}

/** Roughly a small server with an 8-billion-parameter model; a million tokens of KV cache. */
export const DEFAULT_TIMING: EndpointTiming = {
  overheadMs: 4,
  prefillTokensPerSecond: 32_000,
  decodeStepMs: 20,
  decodeStepMsPerSequence: 0.25,
  prefillInterference: 1.3,
  transferMs: 5,
  transferTokensPerSecond: 400_000,
  encodeMsPerItem: 60,
  maxRunning: 256,
  blockTokens: 16,
  blockCount: 65_536,
}

/** Time of a prefill in ms: fixed cost, uncached tokens at the prefill rate, media items encoded on the spot. */
export function prefillMs(timing: EndpointTiming, uncachedTokens: number, mediaEncoded: number): number {
  return timing.overheadMs + (uncachedTokens * 1000) / timing.prefillTokensPerSecond + mediaEncoded * timing.encodeMsPerItem
}

/** Time in ms until remotely computed KV blocks of this many tokens are here. */
export function transferMs(timing: EndpointTiming, tokens: number): number {
  return timing.transferMs + (tokens * 1000) / timing.transferTokensPerSecond
}

/** Time of one decode step in ms for `decoding` >= 1 sequences, with or without a prefill beside it. */
export function decodeStepMs(timing: EndpointTiming, decoding: number, prefilling: boolean): number {
  const alone = timing.decodeStepMs + timing.decodeStepMsPerSequence * (decoding - 1)
  return prefilling ? alone * timing.prefillInterference : alone
}

/** KV blocks that a sequence holds from admission to its end: its prompt and its whole output, rounded up. */
export function blocksNeeded(timing: EndpointTiming, promptTokens: number, outputTokens: number): number {
  return Math.ceil((promptTokens + outputTokens) / timing.blockTokens)
}

/**
 * Fills the gaps of a partial timing with the defaults.
 * Throws a RangeError that names the field when a value is not a positive finite number
 * (`overheadMs`, `decodeStepMsPerSequence`, `transferMs` and `encodeMsPerItem` may be 0).
 */
export function completeTiming(given: Partial<EndpointTiming>): EndpointTiming {
  const timing = { ...DEFAULT_TIMING, ...given }
  const mayBeZero = new Set(['overheadMs', 'decodeStepMsPerSequence', 'transferMs', 'encodeMsPerItem'])
  for (const [name, value] of Object.entries(timing)) {
    if (!Number.isFinite(value) || value < 0 || (value === 0 && !mayBeZero.has(name))) {
      throw new RangeError(`timing ${name} must be a positive number, got ${value}`)
    }
  }
  if (timing.prefillInterference < 1) {
    throw new RangeError(`timing prefillInterference must be at least 1, got ${timing.prefillInterference}`)
  }
  return timing
}
