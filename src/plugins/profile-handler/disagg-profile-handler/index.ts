import { keyText, PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT, type DataKey } from '../../../core/attribute.ts'
import type { Consumption, Decider, PluginContext, PluginType, PreRequest, ProfileHandler, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { ProfileResults, Request, SchedulingResult, Stage } from '../../../core/request.ts'
import { writeStageHeaders } from '../../header-handler/stage-headers.ts'
import { deciderNamed } from '../decider-reference.ts'
import { countDecision, decisionTypeOf, type DecisionType } from '../stage-decision.ts'
import { disaggSettingsOf, type DisaggSettings } from './settings.ts'

export type { DisaggSettings } from './settings.ts'

const TYPE = 'disagg-profile-handler'

/** The endpoint chosen first, of which the next stage's should be near. (llm-d: peer-endpoint) */
export const PEER_ENDPOINT: DataKey<Endpoint> = { dataType: 'peer-endpoint', producer: TYPE }

const NOTHING: readonly string[] = []

/**
 * Chooses decode, and encode and prefill where their deciders say so, each by a profile of its own; tells the decode side
 * of the others by headers. (llm-d: disagg-profile-handler)
 */
export class DisaggProfileHandler implements ProfileHandler, PreRequest {
  readonly typedName: TypedName
  readonly settings: DisaggSettings
  private readonly prefillDecider: Decider | undefined
  private readonly encodeDecider: Decider | undefined
  private services: Services | undefined = undefined

  constructor(name: string, settings: DisaggSettings, prefillDecider: Decider | undefined, encodeDecider: Decider | undefined) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    this.prefillDecider = prefillDecider
    this.encodeDecider = encodeDecider
  }

  consumes(): Consumption {
    return { required: [PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT] }
  }

  setup(services: Services): void {
    this.services = services
  }

  pick(request: Request | undefined, profiles: readonly string[], results: ProfileResults): readonly string[] {
    if (request === undefined) return NOTHING
    return this.settings.stageOrder === 'decode-first' ? this.decodeFirst(request, profiles, results) : this.prefillFirst(request, profiles, results)
  }

  stageOf(profile: string): Stage {
    const { prefill, encode } = this.settings.profiles
    return profile === prefill ? 'prefill' : profile === encode ? 'encode' : 'decode'
  }

  processResults(request: Request | undefined, results: ProfileResults): SchedulingResult {
    if (request === undefined) throw new Error('request is nil')
    const { decode, prefill, encode } = this.settings.profiles
    const decoded = results.get(decode)
    // Without a status of its own: a failed run's error has one.
    if (!decoded || decoded.endpoints.length === 0) throw new Error('failed to find available decode workers')
    const kept = new Map([[decode, decoded]])
    for (const profile of [prefill, encode]) {
      const result = results.get(profile)
      if (result) kept.set(profile, result)
    }
    return { primary: decode, results: kept }
  }

  decisionType(result: SchedulingResult): DecisionType {
    const { prefill, encode } = this.settings.profiles
    return decisionTypeOf(result.results.has(encode), result.results.has(prefill))
  }

  preRequest(request: Request | undefined, result: SchedulingResult | undefined): void {
    if (request === undefined || result === undefined) return
    writeStageHeaders(request, result, this.settings.profiles.prefill, this.settings.profiles.encode)
  }

  private decodeFirst(request: Request, profiles: readonly string[], results: ProfileResults): readonly string[] {
    const { decode, prefill, encode } = this.settings.profiles
    const decoded = results.get(decode)
    if (decoded === undefined) return profiles.includes(decode) ? [decode] : NOTHING
    const target = decoded?.endpoints[0]
    if (target === undefined) return NOTHING
    if (this.mayRun(encode, profiles, results)) {
      if (this.encodeDecider?.runs(request, target) === true) return [encode]
      results.set(encode, null)
    }
    if (this.mayRun(prefill, profiles, results)) {
      if (this.prefillDecider?.runs(request, target) === true) {
        request.attributes.set(keyText(PEER_ENDPOINT), target)
        return [prefill]
      }
      results.set(prefill, null)
    }
    return this.done(request, results)
  }

  private prefillFirst(request: Request, profiles: readonly string[], results: ProfileResults): readonly string[] {
    const { decode, prefill, encode } = this.settings.profiles
    const decoded = results.get(decode)
    if (decoded !== undefined) return decoded === null || decoded.endpoints.length === 0 ? NOTHING : this.done(request, results)
    if (this.mayRun(prefill, profiles, results)) return [prefill]
    if (this.mayRun(encode, profiles, results)) {
      if (this.encodeDecider?.runs(request, undefined) === true) return [encode]
      results.set(encode, null)
    }
    if (!profiles.includes(decode)) return NOTHING
    const prefilled = results.get(prefill)?.endpoints[0]
    if (prefilled !== undefined) request.attributes.set(keyText(PEER_ENDPOINT), prefilled)
    return [decode]
  }

  private mayRun(profile: string, profiles: readonly string[], results: ProfileResults): boolean {
    return profiles.includes(profile) && !results.has(profile)
  }

  /** A result counts as used also when it has no endpoint; a null one does not. */
  private done(request: Request, results: ProfileResults): readonly string[] {
    if (this.services === undefined) throw new Error('plugin handle is required, and a disagg metrics registerer is required: setup() was not called')
    const { prefill, encode } = this.settings.profiles
    const decision = decisionTypeOf(Boolean(results.get(encode)), Boolean(results.get(prefill)))
    countDecision(this.services, 'disagg', this.typedName, request.targetModel, decision)
    return NOTHING
  }
}

const decider = (context: PluginContext, stage: 'prefill' | 'encode', name: string): Decider | undefined =>
  name === ''
    ? undefined
    : deciderNamed(context, name, {
        notFound: `deciders.${stage} plugin not found: ${name}`,
        notDecider: `plugin ${name} does not implement ${stage}DeciderPlugin`,
        path: ['deciders', stage],
      })

export const disaggProfileHandler: PluginType = {
  type: TYPE,
  kinds: ['profile-handler', 'pre-request'],
  stability: 'beta',
  references: ['deciders.prefill', 'deciders.encode', 'prefillDeciderPluginName', 'encodeDeciderPluginName', 'deciderPluginName'],
  create: (context) => {
    const settings = disaggSettingsOf(context)
    const prefill = decider(context, 'prefill', settings.deciders.prefill)
    const encode = decider(context, 'encode', settings.deciders.encode)
    return new DisaggProfileHandler(context.name, settings, prefill, encode)
  },
}
