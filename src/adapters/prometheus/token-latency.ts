import { MICROS_PER_S } from '../../core/instant.ts'
import type { Instant } from '../../core/instant.ts'

/** When what happened to a response; times in microseconds, undefined or 0 where it did not. */
export interface ResponseTimes {
  readonly receivedAt: Instant
  readonly firstAt: Instant | undefined
  readonly endedAt: Instant
  readonly streaming: boolean
  readonly outputTokens: number
}

/**
 * Seconds for each output token behind the first; undefined where nothing can be said: a response in one piece, fewer
 * than two tokens, or times that are not in order. (llm-d: request_streaming_tpot_seconds)
 */
export const secondsPerToken = ({ receivedAt, firstAt, endedAt, streaming, outputTokens }: ResponseTimes): number | undefined => {
  if (!streaming || outputTokens < 2 || firstAt === undefined || firstAt < receivedAt || endedAt <= firstAt) return undefined
  return (endedAt - firstAt) / MICROS_PER_S / (outputTokens - 1)
}

/** Seconds of the whole request for each output token. (llm-d: request_ntpot_seconds) */
export const normalisedSecondsPerToken = ({ receivedAt, endedAt, outputTokens }: ResponseTimes): number | undefined =>
  outputTokens < 1 || endedAt < receivedAt ? undefined : (endedAt - receivedAt) / MICROS_PER_S / outputTokens
