import type { RandomStream } from '../core/random.ts'
import { leastLoadedCombined, prefersCombined } from './combined-pods.ts'
import { decodeLoads, type DecodeImbalance, type DecodeLoads } from './decode-imbalance.ts'
import { scoreDecodePods, type DecodeScoreRun } from './decode-pass.ts'
import type { DecodeScorePolicy } from './decode-policy.ts'
import type { DecodePolicies } from './decode-registry.ts'
import { chooseFinal, type FinalChoice } from './final-choice.ts'
import type { ModelConfigs } from './model-config.ts'
import { rolesetOf, type Pod } from './pod.ts'
import type { MetricsOf } from './pod-metrics.ts'
import { prefillImbalance } from './prefill-imbalance.ts'
import { scorePrefillPods, type PrefillScoreRun } from './prefill-pass.ts'
import type { PrefillScorePolicy } from './prefill-policy.ts'
import type { PrefillPolicies, PrefillPolicyParts } from './prefill-registry.ts'
import { candidatesOf, type Candidates } from './rolesets.ts'
import type { RoutingConfig } from './routing-config.ts'
import type { RoutingContext } from './routing-context.ts'
import { RoutingError } from './routing-error.ts'
import type { RouterSettings } from './settings.ts'

/** All that the choice of a pair depends on. */
export interface Question<P extends Pod> {
  readonly context: RoutingContext
  readonly pods: readonly P[]
  readonly settings: RouterSettings
  readonly configs: ModelConfigs
  /** The configuration profile asked for; empty for none. */
  readonly profile: string
  /** The routingConfig that counts for the request's policies; undefined where it has none. */
  readonly routing: RoutingConfig | undefined
  /** Length of the prompt in cl100k_base tokens; needed for bucketing only. */
  readonly promptTokens: number
  readonly metricsOf: MetricsOf<P>
  readonly prefillCounts: ReadonlyMap<string, number>
  pendingOn(pod: P): number
  readonly policies: RouterPolicies
  readonly die: RandomStream
}

/** The policies of a router and where others may come from. */
export interface RouterPolicies {
  readonly prefill: PrefillScorePolicy
  readonly decode: DecodeScorePolicy
  readonly prefillPolicies: PrefillPolicies
  readonly decodePolicies: DecodePolicies
  readonly parts: PrefillPolicyParts
}

/** The pair chosen, and why. */
export interface Selection<P extends Pod> {
  /** Undefined where a combined pod serves both stages. */
  readonly prefill: P | undefined
  readonly decode: P
  /** Blocks that the prefill pod will hold. */
  readonly hashes: readonly bigint[]
  /** Which way the choice went. */
  readonly path: 'pair' | 'combined-by-length' | 'combined-by-load'
  readonly prefillFastPath: boolean
  readonly decodeFastPath: DecodeImbalance | undefined
  /** Undefined for a combined pod. */
  readonly scored: Scored<P> | undefined
}

export interface Scored<P extends Pod> {
  readonly prefillPods: readonly P[]
  readonly decodePods: readonly P[]
  readonly prefillRun: PrefillScoreRun<P>
  readonly decodeRun: DecodeScoreRun<P>
  readonly loads: DecodeLoads<P>
  readonly final: FinalChoice<P>
}

/**
 * Chooses prefill and decode pod together: candidates, length, combined pods, the two fast paths, the model's own
 * policies, both scores, the final score. (AIBrix: filterPrefillDecodePods)
 * @throws RoutingError where there is no pair
 */
export const selectPair = <P extends Pod>(question: Question<P>): Selection<P> => {
  const { settings, configs, profile, promptTokens } = question
  const candidates = candidatesOf(question.pods, settings.bucketing ? { promptTokens, configs, profile } : undefined)
  requireReady(candidates)
  return (settings.bucketing ? chooseCombined(question, candidates) : undefined) ?? choosePair(question, candidates)
}

const requireReady = ({ prefill, decode, combined }: Candidates<unknown>): void => {
  if (combined.length > 0) return
  const counts = `prefill=${prefill.length}, decode=${decode.length}`
  if (prefill.length === 0) throw new RoutingError('prefill-not-ready', `prefill pods are not ready: ${counts}`)
  if (decode.length === 0) throw new RoutingError('decode-not-ready', `decode pods are not ready: ${counts}`)
}

const chooseCombined = <P extends Pod>({ metricsOf, promptTokens, die }: Question<P>, { bucketPrefill, bucketDecode, combined }: Candidates<P>): Selection<P> | undefined => {
  const [only] = combined
  if (bucketPrefill.length === 0 || bucketDecode.length === 0) {
    if (only === undefined) throw new RoutingError('no-bucket', `no prompt-length bucket matches prompt length ${promptTokens} and no combined pods available`)
    return combinedSelection(combined.length > 1 ? (combined[die.below(combined.length)] ?? only) : only, 'combined-by-length')
  }
  if (!prefersCombined(bucketPrefill, bucketDecode, combined, metricsOf)) return undefined
  const chosen = leastLoadedCombined(combined, metricsOf, die)
  return chosen === undefined ? undefined : combinedSelection(chosen, 'combined-by-load')
}

const combinedSelection = <P extends Pod>(decode: P, path: Selection<P>['path']): Selection<P> => ({
  prefill: undefined, decode, hashes: [], path, prefillFastPath: false, decodeFastPath: undefined, scored: undefined,
})

const choosePair = <P extends Pod>(question: Question<P>, candidates: Candidates<P>): Selection<P> => {
  const { context, settings, die, metricsOf, prefillCounts } = question
  let prefillPods = candidates.prefill
  let decodePods = candidates.decode
  const lightest = prefillImbalance(prefillPods, countsFor(prefillPods, prefillCounts), settings.prefillMinSpread, die).pod
  if (lightest !== undefined) {
    prefillPods = [lightest]
    decodePods = decodePods.filter((pod) => rolesetOf(pod) === rolesetOf(lightest))
  }
  const loads = decodeLoads(decodePods, metricsOf, question.pendingOn, settings.decodeSpreads, die)
  const { pod: pinned } = loads
  if (pinned !== undefined) {
    decodePods = [pinned]
    const aligned = prefillPods.filter((pod) => rolesetOf(pod) === rolesetOf(pinned))
    if (aligned.length > 0) prefillPods = aligned
  }
  const policies = effectivePolicies(question)
  const prefillRun = scorePrefillPods({ context, pods: prefillPods, policy: policies.prefill, counts: prefillCounts, deviationFactor: settings.deviationFactor, die })
  const decodeRun = scoreDecodePods({
    context, pods: decodePods, policy: policies.decode, weights: settings.weights, loads, die,
    isWarm: (pod) => metricsOf(pod).runningRequests !== undefined,
    pendingOn: (pod) => question.pendingOn(pod),
  })
  const final = chooseFinal(prefillRun, decodeRun, die)
  return {
    prefill: final.chosen.prefill,
    decode: final.chosen.decode,
    hashes: prefillRun.hashes ?? [],
    path: 'pair',
    prefillFastPath: lightest !== undefined,
    decodeFastPath: loads.cause,
    scored: { prefillPods, decodePods, prefillRun, decodeRun, loads, final },
  }
}

const countsFor = (pods: readonly Pod[], counts: ReadonlyMap<string, number>): ReadonlyMap<string, number> => new Map(pods.map(({ id }) => [id, counts.get(id) ?? 0]))

/**
 * The policies of a request: the model's own where its routingConfig names known ones, else the router's.
 * @throws RoutingError unknown-decode-policy; an unknown prefill policy is passed over
 */
export const effectivePolicies = ({ routing, settings, policies }: Pick<Question<Pod>, 'routing' | 'settings' | 'policies'>): Pick<RouterPolicies, 'prefill' | 'decode'> => {
  if (routing === undefined) return policies
  return {
    prefill: policies.prefillPolicies.override(routing.prefillScorePolicy, policies.parts) ?? policies.prefill,
    decode: policies.decodePolicies.override(routing.decodeScorePolicy, settings.weights) ?? policies.decode,
  }
}
