import type { RandomStream } from '../core/random.ts'
import type { MetricsOf, PodMetrics } from './pod-metrics.ts'
import { Lowest } from './ties.ts'

/** A combined pod below this drains its queues well enough to take more. (AIBrix) */
export const LOW_LOAD = 0.25
/** A prefill or decode pod above this has more queued than it drains in a second. (AIBrix) */
export const HIGH_LOAD = 1

/**
 * Seconds that a pod would need to drain its queues. What was not measured is 0, so a pod without a rate has NaN or
 * Infinity, which is neither low nor high enough for anything. (AIBrix: queue-drain ratio)
 */
export const queueDrainSeconds = (metrics: PodMetrics): number =>
  ((metrics.waitingRequests ?? 0) + (metrics.prefillPreallocQueue ?? 0) + (metrics.decodePreallocQueue ?? 0)) / (metrics.queueDrainRate1m ?? 0)

/** Whether a combined pod should serve instead of a pair: one is idle enough while some pod of a pair is overloaded. */
export const prefersCombined = <P>(prefill: readonly P[], decode: readonly P[], combined: readonly P[], metricsOf: MetricsOf<P>): boolean => {
  const ratio = (pod: P): number => queueDrainSeconds(metricsOf(pod))
  const isHot = (pod: P): boolean => ratio(pod) > HIGH_LOAD
  return combined.some((pod) => ratio(pod) < LOW_LOAD) && (prefill.some(isHot) || decode.some(isHot))
}

/** The combined pod that drains soonest; undefined where no ratio is a finite number. */
export const leastLoadedCombined = <P>(combined: readonly P[], metricsOf: MetricsOf<P>, die: RandomStream): P | undefined => {
  const lowest = new Lowest<P>()
  for (const pod of combined) {
    const ratio = queueDrainSeconds(metricsOf(pod))
    if (Number.isFinite(ratio)) lowest.offer(pod, ratio)
  }
  return lowest.pick(die)
}
