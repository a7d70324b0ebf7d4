import type { RandomStream } from '../core/random.ts'
import type { DecodeLoads } from './decode-imbalance.ts'
import { LOAD_BALANCING, LoadBalancingDecodePolicy, type DecodePodInput, type DecodeScorePolicy, type LoadBalancingWeights } from './decode-policy.ts'
import { rolesetOf, type Pod } from './pod.ts'
import type { RoutingContext } from './routing-context.ts'
import { Lowest } from './ties.ts'

/** The best decode pod of one roleset. */
export interface RolesetDecodePick<P = Pod> {
  readonly pod: P
  readonly score: number
}

/** What one decode pass came to. (AIBrix: DecodeScoreRun) */
export interface DecodeScoreRun<P = Pod> {
  readonly perRoleset: ReadonlyMap<string, RolesetDecodePick<P>>
  /** Largest score of all that were scored; 0.01 at least. */
  readonly maxScore: number
  /** Why there is no result; a policy that throws ends up here. */
  readonly err: Error | undefined
  /** Whether load_balancing had to stand in for a NaN. */
  readonly fallbackUsed: boolean
  /** Name of the policy. */
  readonly policy: string
  /** Each pod's score, in the order of the pods; NaN where it has none. For receipts. */
  readonly scores: readonly number[]
}

/** A decode pass's question. */
export interface DecodePass<P> {
  readonly context: RoutingContext
  readonly pods: readonly P[]
  readonly policy: DecodeScorePolicy
  readonly weights: LoadBalancingWeights
  readonly loads: Pick<DecodeLoads<P>, 'counts' | 'throughputs' | 'freeGPUPercents' | 'maxRequestCount' | 'maxThroughput' | 'maxFreeGPUUsage'>
  /** Whether its running requests are measured; one that is not is cold where another is. */
  isWarm(pod: P): boolean
  pendingOn(pod: P): number
  readonly die: RandomStream
}

const MAX_SCORE_FLOOR = 0.01
/** What a cold pod scores before its pending requests. (AIBrix) */
const COLD_SCORE = 1

/** Whether a score says nothing: only NaN does, infinities are scores. */
export const isInvalidScore = (score: number): boolean => Number.isNaN(score)

/** Scores the pods and keeps the lowest of each roleset. (AIBrix: scoreDecodePods) */
export const scoreDecodePods = <P extends Pod>(pass: DecodePass<P>): DecodeScoreRun<P> => {
  const { context, pods, policy, die } = pass
  const fallback = policy.name() === LOAD_BALANCING ? undefined : new LoadBalancingDecodePolicy(pass.weights)
  const lowest = new Map<string, Lowest<P>>()
  const scores: number[] = []
  let maxScore = MAX_SCORE_FLOOR
  let fallbackUsed = false
  const someWarm = pods.some((pod) => pass.isWarm(pod))
  try {
    for (const pod of pods) {
      let score: number
      if (someWarm && !pass.isWarm(pod)) score = COLD_SCORE + pass.pendingOn(pod)
      else {
        const input = inputOf(pod, pass.loads)
        score = policy.scoreDecodePod(context, pod, input)
        if (isInvalidScore(score) && fallback !== undefined) {
          fallbackUsed = true
          score = fallback.scoreDecodePod(context, pod, input)
        }
      }
      scores.push(score)
      if (isInvalidScore(score)) continue
      if (score > maxScore) maxScore = score
      offerTo(lowest, rolesetOf(pod) ?? '', pod, score)
    }
  } catch (error) {
    return { perRoleset: new Map(), maxScore, err: error instanceof Error ? error : new Error(String(error)), fallbackUsed, policy: policy.name(), scores }
  }
  return { perRoleset: picksOf(lowest, die), maxScore, err: undefined, fallbackUsed, policy: policy.name(), scores }
}

/** Lets a pod take part in its roleset. */
export const offerTo = <P>(lowest: Map<string, Lowest<P>>, roleset: string, pod: P, score: number): void => {
  let entry = lowest.get(roleset)
  if (entry === undefined) {
    entry = new Lowest<P>()
    lowest.set(roleset, entry)
  }
  entry.offer(pod, score)
}

/** The lowest of each roleset. */
export const picksOf = <P>(lowest: ReadonlyMap<string, Lowest<P>>, die: RandomStream): Map<string, { readonly pod: P; readonly score: number }> => {
  const picks = new Map<string, { readonly pod: P; readonly score: number }>()
  for (const [roleset, entry] of lowest) {
    const pod = entry.pick(die)
    if (pod !== undefined) picks.set(roleset, { pod, score: entry.score })
  }
  return picks
}

const inputOf = (pod: Pod, loads: DecodePass<Pod>['loads']): DecodePodInput => ({
  runningReqs: loads.counts.get(pod.id) ?? 0,
  throughput: loads.throughputs.get(pod.id) ?? 0,
  freeGPUPercent: loads.freeGPUPercents.get(pod.id) ?? 0,
  maxRequestCount: loads.maxRequestCount,
  maxThroughput: loads.maxThroughput,
  maxFreeGPUUsage: loads.maxFreeGPUUsage,
})
