import { byCodeUnit } from '../core/order.ts'
import type { ModelConfigs } from './model-config.ts'
import { DECODE_ROLE, LABELS, PREFILL_ROLE, roleOf, rolesetOf, servesHttp, type Pod } from './pod.ts'
import { fitsLength } from './routing-config.ts'

/** Prefill and decode pods that belong together: a prefill is paired with a decode of its own roleset only. */
export interface Roleset<P> {
  readonly name: string
  readonly prefill: readonly P[]
  readonly decode: readonly P[]
}

/** The pods that may be chosen for a prompt. */
export interface Candidates<P> {
  /** Of all complete rolesets; where some fit the prompt's length, of those. */
  readonly prefill: readonly P[]
  readonly decode: readonly P[]
  /** Those that fit the prompt's length; empty without bucketing. */
  readonly bucketPrefill: readonly P[]
  readonly bucketDecode: readonly P[]
  /** Pods that serve both stages and fit the length; empty without bucketing. */
  readonly combined: readonly P[]
}

/** How to choose by length; undefined where lengths do not matter. */
export interface Bucketing {
  readonly promptTokens: number
  readonly configs: ModelConfigs
  /** The configuration profile that the request asked for. */
  readonly profile: string
}

/** All rolesets by name, also those with one side only. */
export const rolesetsOf = <P extends Pod>(pods: readonly P[]): readonly Roleset<P>[] => {
  const found = new Map<string, { prefill: P[]; decode: P[] }>()
  for (const pod of pods) {
    const name = rolesetOf(pod)
    const role = roleOf(pod)
    if (name === undefined || !servesHttp(pod) || (role !== PREFILL_ROLE && role !== DECODE_ROLE)) continue
    const sides = found.get(name) ?? { prefill: [], decode: [] }
    sides[role].push(pod)
    found.set(name, sides)
  }
  return [...found].sort(([a], [b]) => byCodeUnit(a, b)).map(([name, sides]) => ({ name, ...sides }))
}

/** Whether it has both sides. */
export const isEligible = (roleset: Roleset<unknown>): boolean => roleset.prefill.length > 0 && roleset.decode.length > 0

/** The candidates among the pods. (AIBrix: collectAndBucketPods) */
export const candidatesOf = <P extends Pod>(pods: readonly P[], bucketing: Bucketing | undefined): Candidates<P> => {
  const eligible = rolesetsOf(pods).filter(isEligible)
  const all = { prefill: eligible.flatMap(({ prefill }) => prefill), decode: eligible.flatMap(({ decode }) => decode) }
  if (bucketing === undefined) return { ...all, bucketPrefill: [], bucketDecode: [], combined: [] }
  const fits = (pod: P): boolean => {
    const profile = bucketing.configs.profile(pod, bucketing.profile)
    return profile === undefined || fitsLength(profile.routing, bucketing.promptTokens)
  }
  const fitting = eligible.map(({ name, prefill, decode }) => ({ name, prefill: prefill.filter(fits), decode: decode.filter(fits) })).filter(isEligible)
  const bucketPrefill = fitting.flatMap(({ prefill }) => prefill)
  const bucketDecode = fitting.flatMap(({ decode }) => decode)
  return {
    ...(fitting.length > 0 ? { prefill: bucketPrefill, decode: bucketDecode } : all),
    bucketPrefill,
    bucketDecode,
    combined: pods.filter((pod) => isCombined(pod, bucketing) && fits(pod)),
  }
}

/** Both labels, another role than the two, an HTTP server, and the word of its configuration. */
const isCombined = (pod: Pod, { configs, profile }: Bucketing): boolean => {
  const role = roleOf(pod)
  if (rolesetOf(pod) === undefined || role === undefined || role === PREFILL_ROLE || role === DECODE_ROLE || !servesHttp(pod)) return false
  return configs.profile(pod, profile)?.routing.combined === true
}

/** One roleset in words, for people. */
export interface RolesetView {
  readonly roleset: string
  readonly prefillReplicas: number
  readonly decodeReplicas: number
  /** Names in order, joined by commas. */
  readonly prefillPods: string
  readonly decodePods: string
  readonly eligible: boolean
}

/** The rolesets of a fleet, by name, with the largest replica counts of either side. (AIBrix: roleset description) */
export const describeRolesets = (pods: readonly Pod[]): { readonly fleetMaxPrefill: number; readonly fleetMaxDecode: number; readonly rolesets: readonly RolesetView[] } => {
  const rolesets = rolesetsOf(pods).map((roleset) => ({
    roleset: roleset.name,
    prefillReplicas: replicasOf(roleset.prefill),
    decodeReplicas: replicasOf(roleset.decode),
    prefillPods: namesOf(roleset.prefill),
    decodePods: namesOf(roleset.decode),
    eligible: isEligible(roleset),
  }))
  return {
    fleetMaxPrefill: rolesets.reduce((max, { prefillReplicas }) => Math.max(max, prefillReplicas), 0),
    fleetMaxDecode: rolesets.reduce((max, { decodeReplicas }) => Math.max(max, decodeReplicas), 0),
    rolesets,
  }
}

/** Different replica indexes; a pod without one counts by its own name. */
const replicasOf = (pods: readonly Pod[]): number => new Set(pods.map((pod) => pod.labels.get(LABELS.replicaIndex) || pod.id)).size

const namesOf = (pods: readonly Pod[]): string => pods.map(({ id }) => id).sort(byCodeUnit).join(',')
