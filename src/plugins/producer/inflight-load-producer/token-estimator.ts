import type { PrefixCacheMatchInfo } from '../../../core/attribute.ts'
import { roundHalfAway } from '../../../core/numeric.ts'
import { tokensOf, type Request } from '../../../core/request.ts'

/**
 * Guesses what a request costs, in tokens. Output is input x ratio, rounded half away from zero, no more than the client
 * and the operator allow. (llm-d: inflight-load-producer)
 */
export class TokenEstimator {
  readonly outputRatio: number
  readonly maxOutputTokens: number | undefined

  constructor(outputRatio: number, maxOutputTokens: number | undefined) {
    this.outputRatio = outputRatio
    this.maxOutputTokens = maxOutputTokens
  }

  /** Input and output together; 0 when there is no input. */
  estimate(request: Request | undefined): number {
    const input = this.estimateInput(request)
    return input === 0 ? 0 : input + this.estimateOutput(input, request?.maxOutputTokens)
  }

  /** Tokens of all prompts; 0 when they were not counted. */
  estimateInput(request: Request | undefined): number {
    return request === undefined ? 0 : tokensOf(request)
  }

  /** A negative bound of the client counts as none. */
  estimateOutput(inputTokens: number, clientMax: number | undefined): number {
    if (inputTokens <= 0) return 0
    let output = roundHalfAway(inputTokens * this.outputRatio)
    if (clientMax !== undefined && clientMax >= 0) output = Math.min(output, clientMax)
    if (this.maxOutputTokens !== undefined) output = Math.min(output, this.maxOutputTokens)
    return output
  }
}

/**
 * Tokens of the input that an endpoint would have to compute: the indexed blocks that it lacks (matched ones weighted by
 * tier) and the tail that is in no block. (llm-d: inflight-load-producer)
 */
export const uncachedInput = (info: PrefixCacheMatchInfo | undefined, inputTokens: number): number => {
  if (info === undefined || !(info.blockSizeTokens > 0)) return Math.max(0, inputTokens)
  const matched = info.matchBlocks * info.blockSizeTokens
  const indexed = info.totalBlocks * info.blockSizeTokens
  return Math.max(0, indexed - matched) + Math.max(0, inputTokens - indexed)
}
