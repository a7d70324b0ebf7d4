import type { Pod } from './pod.ts'
import type { MetricsOf, PrefillTime } from './pod-metrics.ts'
import type { PrefixTable } from './prefix-table.ts'
import type { RoutingContext } from './routing-context.ts'

/** Scores prefill pods for one request; lower is better. (AIBrix: PrefillScorer) */
export interface PrefillScorer {
  /** `reqCnt` prefills run on the pod, `maxRequestCount` on the busiest candidate, 1 at least. */
  scorePod(pod: Pod, reqCnt: number, maxRequestCount: number): number
  /** Block hashes that the chosen pod will hold; null where the policy does not look at prompts. */
  prefixHashes(): readonly bigint[] | null
}

/** Makes a scorer for each request. (AIBrix: PrefillScorePolicy) */
export interface PrefillScorePolicy {
  name(): string
  /** @throws Error where it cannot score this request */
  prepare(context: RoutingContext, pods: readonly Pod[], readyPods: ReadonlySet<string>): PrefillScorer
}

export const PREFIX_CACHE = 'prefix_cache'
export const LEAST_REQUEST_PREFILL = 'least_request'
export const CONDUCTOR_PREFILL = 'conductor'

/** What a percent of the prompt that is not cached weighs against load, which is 1 at most. (AIBrix) */
const MISS_WEIGHT = 0.1

/** (100 - matched percent) x 0.1 + load / largest load. (AIBrix: prefix_cache) */
export class PrefixCachePrefillPolicy implements PrefillScorePolicy {
  private readonly table: PrefixTable

  constructor(table: PrefixTable) {
    this.table = table
  }

  name(): string {
    return PREFIX_CACHE
  }

  prepare(context: RoutingContext, _pods: readonly Pod[], readyPods: ReadonlySet<string>): PrefillScorer {
    const matched = this.table.matchPrefix(context.prompt.hashes, context.model, [...readyPods])
    return {
      scorePod: (pod, reqCnt, maxRequestCount) => (100 - (matched.get(pod.id) ?? 0)) * MISS_WEIGHT + reqCnt / maxRequestCount,
      prefixHashes: () => context.prompt.hashes,
    }
  }
}

/** The number of prefills. (AIBrix: least_request) */
export class LeastRequestPrefillPolicy implements PrefillScorePolicy {
  name(): string {
    return LEAST_REQUEST_PREFILL
  }

  prepare(): PrefillScorer {
    return { scorePod: (_pod, reqCnt) => reqCnt, prefixHashes: () => null }
  }
}

/** Coefficients of the cost model: a x^b + c ms to compute, a x + b ms to read from the cache. (AIBrix: conductor) */
const COMPUTE_FACTOR = 0.001
const COMPUTE_MS = 5
const READ_FACTOR = 0.005
const READ_MS = 1
/** Length of the prompts that are assumed to be waited for where no time was measured. */
const ASSUMED_TOKENS = 512

/** Milliseconds to compute so many tokens: 0.001 n^1.5 + 5; 0 for none. */
const prefillMs = (tokens: number): number => (tokens > 0 ? COMPUTE_FACTOR * tokens * Math.sqrt(tokens) + COMPUTE_MS : 0)

/** Estimated milliseconds to the first token: what waits in front, what is read from the cache, what is computed. (AIBrix: conductor) */
export class ConductorPrefillPolicy implements PrefillScorePolicy {
  private readonly table: PrefixTable
  private readonly metricsOf: MetricsOf<Pod>

  constructor(table: PrefixTable, metricsOf: MetricsOf<Pod>) {
    this.table = table
    this.metricsOf = metricsOf
  }

  name(): string {
    return CONDUCTOR_PREFILL
  }

  prepare(context: RoutingContext, _pods: readonly Pod[], readyPods: ReadonlySet<string>): PrefillScorer {
    const { hashes, bytes } = context.prompt
    const matched = this.table.matchPrefix(hashes, context.model, [...readyPods])
    return {
      scorePod: (pod, reqCnt) => conductorMs(bytes, matched.get(pod.id) ?? 0, reqCnt, this.metricsOf(pod).prefillTime),
      prefixHashes: () => hashes,
    }
  }
}

/** The estimate of `conductor` for one pod. */
export const conductorMs = (promptBytes: number, matchPercent: number, reqCnt: number, measured: PrefillTime | undefined): number => {
  const cached = (promptBytes * matchPercent) / 100
  const queue = reqCnt > 0 ? reqCnt * meanMs(measured) : 0
  const read = cached > 0 ? READ_FACTOR * cached + READ_MS : 0
  return queue + read + prefillMs(promptBytes - cached)
}

const meanMs = (measured: PrefillTime | undefined): number =>
  measured === undefined || !(measured.count > 0) ? prefillMs(ASSUMED_TOKENS) : (measured.sumSeconds / measured.count) * 1000
