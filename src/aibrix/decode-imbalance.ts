import { roundHalfAway } from '../core/numeric.ts'
import type { RandomStream } from '../core/random.ts'
import type { Pod } from './pod.ts'
import type { MetricsOf } from './pod-metrics.ts'
import { Lowest } from './ties.ts'

/** From which unevenness on a decode pod is chosen without scores. */
export interface DecodeSpreads {
  /** Requests; at this spread already. */
  readonly minSpread: number
  /** Tokens a second; above this spread. */
  readonly throughputMinSpread: number
  /** Longest by shortest time to drain; above this ratio. */
  readonly scoreRatioThreshold: number
}

/** The loads of decode pods, by id, and what the fast path made of them. */
export interface DecodeLoads<P> {
  readonly counts: ReadonlyMap<string, number>
  readonly throughputs: ReadonlyMap<string, number>
  /** Free KV cache in percent, at least 0.1. */
  readonly freeGPUPercents: ReadonlyMap<string, number>
  /** At least 1 each. */
  readonly maxRequestCount: number
  readonly maxThroughput: number
  readonly maxFreeGPUUsage: number
  /** The pod to take without scores; undefined where the load is balanced. */
  readonly pod: P | undefined
  readonly cause: DecodeImbalance | undefined
}

export type DecodeImbalance = 'running' | 'throughput' | 'drain'

/** Percent of free cache below which a pod counts as having this much, so that nothing is divided by 0. (AIBrix) */
const FREE_FLOOR = 0.1
/** Requests a second that a pod drains at least. (AIBrix) */
const DRAIN_FLOOR = 0.1

/**
 * Measures the decode pods and looks for one that should be taken without scores: the least loaded where requests are
 * spread widely, else the slowest where throughput is (it is read as the least busy), else the one that drains soonest.
 * (AIBrix: decode load imbalance)
 */
export const decodeLoads = <P extends Pod>(pods: readonly P[], metricsOf: MetricsOf<P>, pendingOn: (pod: P) => number, spreads: DecodeSpreads, die: RandomStream): DecodeLoads<P> => {
  const counts = new Map<string, number>()
  const throughputs = new Map<string, number>()
  const freeGPUPercents = new Map<string, number>()
  const running = new Spread<P>()
  const throughput = new Spread<P>()
  let maxRequestCount = 1
  let maxFreeGPUUsage = 1
  for (const pod of pods) {
    const metrics = metricsOf(pod)
    const count = (metrics.runningRequests ?? 0) + pendingOn(pod)
    counts.set(pod.id, count)
    if (count > maxRequestCount) maxRequestCount = count
    if (metrics.runningRequests !== undefined) running.take(pod, count)
    throughputs.set(pod.id, metrics.generationThroughput ?? 0)
    if (metrics.generationThroughput !== undefined) throughput.take(pod, metrics.generationThroughput)
    const free = headroom(metrics.kvCacheUsage)
    freeGPUPercents.set(pod.id, free)
    if (free > maxFreeGPUUsage) maxFreeGPUUsage = free
  }
  const loads = { counts, throughputs, freeGPUPercents, maxRequestCount, maxThroughput: Math.max(1, throughput.max), maxFreeGPUUsage }
  if (running.max - running.min >= spreads.minSpread) return { ...loads, pod: running.lowest.pick(die), cause: 'running' }
  if (throughput.max - throughput.min > spreads.throughputMinSpread) return { ...loads, pod: throughput.lowest.pick(die), cause: 'throughput' }
  const soonest = soonestDrained(pods, metricsOf, counts, spreads.scoreRatioThreshold)
  const pod = soonest?.pick(die)
  return { ...loads, pod, cause: pod === undefined ? undefined : 'drain' }
}

/** Percent of the KV cache that is free, whole, at least 0.1; all of it where nobody measured. */
const headroom = (usage: number | undefined): number => {
  const free = roundHalfAway(100 - (usage ?? 0) * 100)
  return free <= 0 ? FREE_FLOOR : free
}

/** The least and the most of what was measured; the most is 0 at least. NaN takes no part. */
class Spread<P> {
  min = Infinity
  max = 0
  readonly lowest = new Lowest<P>()

  take(pod: P, value: number): void {
    this.lowest.offer(pod, value)
    if (value < this.min) this.min = value
    if (value > this.max) this.max = value
  }
}

/** Only where every pod drains, none is idle, and the slowest takes so much longer than the soonest. */
const soonestDrained = <P extends Pod>(pods: readonly P[], metricsOf: MetricsOf<P>, counts: ReadonlyMap<string, number>, threshold: number): Lowest<P> | undefined => {
  const soonest = new Lowest<P>()
  let longest = 0
  for (const pod of pods) {
    const rate = metricsOf(pod).drainRate1m
    if (rate === undefined || !(rate > 0)) return undefined
    const seconds = (counts.get(pod.id) ?? 0) / Math.max(rate, DRAIN_FLOOR)
    soonest.offer(pod, seconds)
    if (seconds > longest) longest = seconds
  }
  return pods.length > 0 && soonest.score > 0 && longest / soonest.score > threshold ? soonest : undefined
}
