import { DEFAULT_WEIGHTS, LOAD_BALANCING, type LoadBalancingWeights } from './decode-policy.ts'
import type { DecodeSpreads } from './decode-imbalance.ts'
import { PREFIX_CACHE } from './prefill-policy.ts'

/** How the router chooses. */
export interface RouterSettings {
  readonly prefillScorePolicy: string
  readonly decodeScorePolicy: string
  readonly weights: LoadBalancingWeights
  /** Requests; signed 32 bits, the fast path needs more. */
  readonly prefillMinSpread: number
  readonly decodeSpreads: DecodeSpreads
  readonly deviationFactor: number
  readonly bucketing: boolean
}

export const DEFAULT_ROUTER_SETTINGS: RouterSettings = {
  prefillScorePolicy: PREFIX_CACHE,
  decodeScorePolicy: LOAD_BALANCING,
  weights: DEFAULT_WEIGHTS,
  prefillMinSpread: 16,
  decodeSpreads: { minSpread: 16, throughputMinSpread: 2048, scoreRatioThreshold: 1.5 },
  deviationFactor: 1,
  bucketing: false,
}
