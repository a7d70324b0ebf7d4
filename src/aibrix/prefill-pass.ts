import type { RandomStream } from '../core/random.ts'
import { offerTo, picksOf } from './decode-pass.ts'
import { rolesetOf, type Pod } from './pod.ts'
import type { PrefillScorePolicy, PrefillScorer } from './prefill-policy.ts'
import type { RoutingContext } from './routing-context.ts'
import type { Lowest } from './ties.ts'

/** The best prefill pod of one roleset. */
export interface RolesetPrefillPick<P = Pod> {
  readonly pod: P
  readonly score: number
}

/** What one prefill pass came to. */
export interface PrefillScoreRun<P = Pod> {
  /** Null where the policy could not prepare. */
  readonly perRoleset: ReadonlyMap<string, RolesetPrefillPick<P>> | null
  /** Largest score; 1 at least, 0 where the policy could not prepare. */
  readonly maxScore: number
  readonly hashes: readonly bigint[] | null
  readonly policy: string
  /** Why the policy could not prepare. */
  readonly err: Error | undefined
  /** Each pod's score, in the order of the pods; NaN where it was left out for its load. For receipts. */
  readonly scores: readonly number[]
}

/** A prefill pass's question. */
export interface PrefillPass<P> {
  readonly context: RoutingContext
  readonly pods: readonly P[]
  readonly policy: PrefillScorePolicy
  /** Prefills that run, by pod. */
  readonly counts: ReadonlyMap<string, number>
  /** Standard deviations above the mean from which a pod is too loaded to be scored. */
  readonly deviationFactor: number
  readonly die: RandomStream
}

const MAX_SCORE_FLOOR = 1

/** Scores the pods and keeps the lowest of each roleset; what is loaded far above the mean is left out. (AIBrix: scorePrefillPods) */
export const scorePrefillPods = <P extends Pod>(pass: PrefillPass<P>): PrefillScoreRun<P> => {
  const { context, pods, policy, counts, die } = pass
  const loads = pods.map(({ id }) => counts.get(id) ?? 0)
  const maxCount = loads.reduce((max, load) => Math.max(max, load), 1)
  const limit = meanOf(loads) + pass.deviationFactor * deviationOf(loads)
  let scorer: PrefillScorer
  try {
    scorer = policy.prepare(context, pods, new Set(pods.map(({ id }) => id)))
  } catch (error) {
    return { perRoleset: null, maxScore: 0, hashes: null, policy: policy.name(), err: error instanceof Error ? error : new Error(String(error)), scores: [] }
  }
  const lowest = new Map<string, Lowest<P>>()
  const scores: number[] = []
  let maxScore = MAX_SCORE_FLOOR
  pods.forEach((pod, i) => {
    const load = loads[i] as number
    const score = load > limit ? NaN : scorer.scorePod(pod, load, maxCount)
    scores.push(score)
    if (score > maxScore) maxScore = score
    offerTo(lowest, rolesetOf(pod) ?? '', pod, score)
  })
  return { perRoleset: picksOf(lowest, die), maxScore, hashes: scorer.prefixHashes(), policy: policy.name(), err: undefined, scores }
}

/** The arithmetic mean; 0 of none. */
const meanOf = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length)

/** The standard deviation of a sample; 0 of fewer than two. */
const deviationOf = (values: readonly number[]): number => {
  if (values.length <= 1) return 0
  const mean = meanOf(values)
  const squares = values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0)
  return Math.sqrt(squares / (values.length - 1))
}
