import type { Pod } from './pod.ts'
import type { RoutingContext } from './routing-context.ts'

/** What a decode policy scores a pod by: its own values, and the largest of all candidates, which are 1 at least. */
export interface DecodePodInput {
  /** Requests that run on it, pending ones included. */
  readonly runningReqs: number
  /** Tokens generated a second. */
  readonly throughput: number
  /** Percent of its KV cache that is free; 0.1 at least where it was measured. */
  readonly freeGPUPercent: number
  readonly maxRequestCount: number
  readonly maxThroughput: number
  readonly maxFreeGPUUsage: number
}

/** Scores decode pods one by one; lower is better. NaN says that it cannot tell. (AIBrix: DecodeScorePolicy) */
export interface DecodeScorePolicy {
  name(): string
  /** One line for the log at start. */
  describe(): string
  scoreDecodePod(context: RoutingContext, pod: Pod, input: DecodePodInput): number
}

export const LOAD_BALANCING = 'load_balancing'
export const LEAST_REQUEST = 'least_request'
export const CONDUCTOR = 'conductor'

/** Weights of `load_balancing`. */
export interface LoadBalancingWeights {
  readonly running: number
  readonly throughput: number
}

export const DEFAULT_WEIGHTS: LoadBalancingWeights = { running: 1, throughput: 1 }

/**
 * Few requests, much throughput, much free cache:
 * (running x runningReqs / max + throughput x (1 - throughput / max)) / (free / max). (AIBrix: load_balancing)
 */
export class LoadBalancingDecodePolicy implements DecodeScorePolicy {
  private readonly weights: LoadBalancingWeights

  constructor(weights: LoadBalancingWeights = DEFAULT_WEIGHTS) {
    this.weights = weights
  }

  name(): string {
    return LOAD_BALANCING
  }

  describe(): string {
    const { running, throughput } = this.weights
    return `load_balancing: (${running} * running / max_running + ${throughput} * (1 - throughput / max_throughput)) / (free_gpu / max_free_gpu)`
  }

  scoreDecodePod(_context: RoutingContext, _pod: Pod, input: DecodePodInput): number {
    const running = input.runningReqs / input.maxRequestCount
    const slowness = 1 - input.throughput / input.maxThroughput
    return (this.weights.running * running + this.weights.throughput * slowness) / (input.freeGPUPercent / input.maxFreeGPUUsage)
  }
}

/** The number of requests, pending ones included. (AIBrix: least_request) */
export class LeastRequestDecodePolicy implements DecodeScorePolicy {
  name(): string {
    return LEAST_REQUEST
  }

  describe(): string {
    return 'least_request: the raw number of running requests, pending ones included'
  }

  scoreDecodePod(_context: RoutingContext, _pod: Pod, input: DecodePodInput): number {
    return input.runningReqs
  }
}

/** Milliseconds between tokens of a pod whose throughput is not known. (AIBrix) */
const UNKNOWN_TOKEN_MS = 20
const CACHE_PRESSURE_ABOVE = 0.9
const CACHE_PRESSURE_FACTOR = 1.5

/** Milliseconds between tokens once one more request runs, half as much again where the cache is nearly full. (AIBrix: conductor) */
export class ConductorDecodePolicy implements DecodeScorePolicy {
  name(): string {
    return CONDUCTOR
  }

  describe(): string {
    return 'conductor: estimated milliseconds between tokens with one more request, times 1.5 above 90% cache usage'
  }

  scoreDecodePod(_context: RoutingContext, _pod: Pod, input: DecodePodInput): number {
    const tokenMs = input.throughput > 0 ? 1000 / input.throughput : UNKNOWN_TOKEN_MS
    const score = tokenMs * (1 + 1 / Math.max(input.runningReqs, 1))
    return 1 - input.freeGPUPercent / 100 > CACHE_PRESSURE_ABOVE ? score * CACHE_PRESSURE_FACTOR : score
  }
}
