import { byCodeUnit } from '../core/order.ts'
import { ANNOTATIONS, type Pod } from './pod.ts'
import { Fields, routingConfigOf, type RoutingConfig } from './routing-config.ts'

/** One named way of routing a model. */
export interface ModelProfile {
  readonly name: string
  readonly routingStrategy: string
  readonly routing: RoutingConfig
  readonly hints: ProfileHints
}

/** For which requests a profile is meant, when the client leaves the choice to the router. */
export interface ProfileHints {
  readonly promptTokensGte: number | undefined
  readonly promptTokensLt: number | undefined
  readonly maxTokensGte: number | undefined
  readonly maxTokensLt: number | undefined
}

/** The profiles that a pod's annotation tells. */
export interface ModelConfig {
  readonly lockedRoutingStrategy: string
  readonly defaultProfile: string
  /** By name, in order of name. */
  readonly profiles: ReadonlyMap<string, ModelProfile>
}

/** The profile that a client asks for when it leaves the choice to the router. */
const AUTO_PROFILE = 'auto'
const DEFAULT_PROFILE = 'default'

/** Lengths of a request, for the choice among profiles. */
export interface RequestLengths {
  readonly promptTokens: number
  readonly maxTokens: number | undefined
}

/** Reads the annotation; undefined where it is absent, broken or without profiles. (AIBrix: model.aibrix.ai/config) */
export const parseModelConfig = (json: string | undefined): ModelConfig | undefined => {
  if (json === undefined || json === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch {
    return undefined
  }
  const read = new Fields(value)
  const config = { lockedRoutingStrategy: read.text('lockedRoutingStrategy'), defaultProfile: read.text('defaultProfile') }
  const given = read.get('profiles')
  if (!read.isRight || typeof given !== 'object' || given === null || Array.isArray(given)) return undefined
  const profiles = new Map<string, ModelProfile>()
  for (const [name, member] of Object.entries(given).sort(([a], [b]) => byCodeUnit(a, b))) {
    const profile = profileOf(name, member)
    if (profile === undefined) return undefined
    profiles.set(name, profile)
  }
  return profiles.size === 0 ? undefined : { ...config, profiles }
}

/**
 * The profile that counts for a pod: the one asked for, else the pod's default, else `default`; undefined where none is.
 * Annotations repeat, so what was read of one text is kept by the caller's cache.
 */
export const profileFor = (config: ModelConfig | undefined, asked: string): ModelProfile | undefined => {
  if (config === undefined) return undefined
  return config.profiles.get(asked) ?? config.profiles.get(config.defaultProfile) ?? config.profiles.get(DEFAULT_PROFILE)
}

/**
 * The profile that `auto` stands for: of those whose hints all hold the one with the most hints, then the narrower one,
 * then by name; undefined where none holds. (AIBrix: config-profile: auto)
 */
export const automaticProfile = (config: ModelConfig, lengths: RequestLengths): ModelProfile | undefined =>
  [...config.profiles.values()].filter(({ hints }) => countOf(hints) > 0 && holds(hints, lengths)).sort(narrowerFirst)[0]

export const isAutomatic = (asked: string): boolean => asked.trim().toLowerCase() === AUTO_PROFILE

/** Reads each annotation text once: a fleet has few of them and asks for each pod of each request. */
export class ModelConfigs {
  private readonly read = new Map<string, ModelConfig | undefined>()

  of(pod: Pod): ModelConfig | undefined {
    const json = pod.annotations.get(ANNOTATIONS.config)
    if (json === undefined) return undefined
    if (this.read.has(json)) return this.read.get(json)
    if (this.read.size >= TEXTS_MAX) this.read.clear()
    const config = parseModelConfig(json)
    this.read.set(json, config)
    return config
  }

  profile(pod: Pod, asked: string): ModelProfile | undefined {
    return profileFor(this.of(pod), asked)
  }
}

/** Texts kept: far more than a fleet has, few enough to forget all of when a fleet changes without end. */
const TEXTS_MAX = 1024

const profileOf = (name: string, value: unknown): ModelProfile | undefined => {
  const read = new Fields(value)
  const routingStrategy = read.text('routingStrategy')
  const routing = read.get('routingConfig')
  return read.isRight ? { name, routingStrategy, routing: routingConfigOf(routing), hints: hintsOf(routing) } : undefined
}

const hintsOf = (routing: unknown): ProfileHints => {
  const read = new Fields(routing ?? {})
  const hint = (name: string): number | undefined => (read.get(name) === undefined ? undefined : read.int(name))
  const hints = { promptTokensGte: hint('promptTokensGte'), promptTokensLt: hint('promptTokensLt'), maxTokensGte: hint('maxTokensGte'), maxTokensLt: hint('maxTokensLt') }
  return read.isRight ? hints : { promptTokensGte: undefined, promptTokensLt: undefined, maxTokensGte: undefined, maxTokensLt: undefined }
}

const countOf = (hints: ProfileHints): number => Object.values(hints).filter((hint) => hint !== undefined).length

const holds = (hints: ProfileHints, { promptTokens, maxTokens }: RequestLengths): boolean =>
  within(promptTokens, hints.promptTokensGte, hints.promptTokensLt) && within(maxTokens, hints.maxTokensGte, hints.maxTokensLt)

/** Whether a length is in the range; an unknown length is in none that has a bound. */
const within = (length: number | undefined, from: number | undefined, below: number | undefined): boolean =>
  (from === undefined || (length !== undefined && length >= from)) && (below === undefined || (length !== undefined && length < below))

const narrowerFirst = ({ hints: a, name: nameA }: ModelProfile, { hints: b, name: nameB }: ModelProfile): number =>
  countOf(b) - countOf(a) ||
  (b.promptTokensGte ?? 0) - (a.promptTokensGte ?? 0) ||
  (a.promptTokensLt ?? Number.MAX_VALUE) - (b.promptTokensLt ?? Number.MAX_VALUE) ||
  (b.maxTokensGte ?? 0) - (a.maxTokensGte ?? 0) ||
  (a.maxTokensLt ?? Number.MAX_VALUE) - (b.maxTokensLt ?? Number.MAX_VALUE) ||
  byCodeUnit(nameA, nameB)
