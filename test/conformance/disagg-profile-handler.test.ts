import { expect } from 'vitest'
import { keyText, PREFIX_CACHE_MATCH_INFO } from '../../src/core/attribute.ts'
import type { Decider, Filter, Picker, Plugin, PluginType, Scorer } from '../../src/core/contract.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { ProfileResults, Request } from '../../src/core/request.ts'
import { alwaysDisaggMultimodalDecider } from '../../src/plugins/decider/always-disagg-multimodal-decider/index.ts'
import { alwaysDisaggPdDecider } from '../../src/plugins/decider/always-disagg-pd-decider/index.ts'
import { prefixBasedPdDecider } from '../../src/plugins/decider/prefix-based-pd-decider/index.ts'
import { DisaggHeadersHandler } from '../../src/plugins/header-handler/disagg-headers-handler/index.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import { disaggProfileHandler, DisaggProfileHandler, PEER_ENDPOINT, type DisaggSettings } from '../../src/plugins/profile-handler/disagg-profile-handler/index.ts'
import { loadAwareScorer } from '../../src/plugins/scorer/load-aware-scorer/index.ts'
import { ROLE_LABEL } from '../../src/plugins/filter/role.ts'
import { Chance } from '../../src/scheduling/chance.ts'
import type { Profile } from '../../src/scheduling/profile.ts'
import { resultOf, runProfile } from '../../src/scheduling/run-profile.ts'
import { SlabRing } from '../../src/scheduling/slab.ts'
import { Desk, endpoint, make, prompt, request } from '../unit/plugins/given.ts'
import { expectConfigured, headersAfter, matchInfo, parametersOf, resultsOf, schedulingResult, type Attribute, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, messageOf, type Case } from './runner.ts'

type Given = Readonly<Record<string, readonly string[] | null>>
type DeciderConfig = { readonly type: string; readonly nonCachedTokens?: number; readonly answer?: boolean } | null

interface HandlerConfig {
  readonly stageOrder?: DisaggSettings['stageOrder']
  readonly profiles: DisaggSettings['profiles']
  readonly deciders?: { readonly prefill: DeciderConfig; readonly encode: DeciderConfig }
}

const DECIDERS = [alwaysDisaggMultimodalDecider, alwaysDisaggPdDecider, prefixBasedPdDecider]

const deciderOf = (config: DeciderConfig | undefined, desk: Desk): Decider | undefined => {
  if (config === null || config === undefined) return undefined
  const { type, answer, ...parameters } = config
  if (type === 'fixed') return { typedName: { type, name: type }, runs: () => answer === true }
  return make<Decider>(DECIDERS.find((one) => one.type === type) as PluginType, parameters, desk)
}

const handlerOf = ({ stageOrder = 'decode-first', profiles, deciders }: HandlerConfig, desk: Desk): DisaggProfileHandler => {
  const settings = { stageOrder, profiles, deciders: { prefill: '', encode: '' } }
  const handler = new DisaggProfileHandler('handler', settings, deciderOf(deciders?.prefill, desk), deciderOf(deciders?.encode, desk))
  handler.setup(desk)
  return handler
}

interface Asked {
  readonly absent?: boolean
  readonly tokenCount?: number | null
  readonly modalities?: readonly string[]
}

const asked = ({ absent, tokenCount, modalities = [] }: Asked): Request | undefined => {
  if (absent === true) return undefined
  const counted = tokenCount !== null || modalities.length > 0
  return request({ shape: { tokenized: counted, prompts: counted ? [prompt(tokenCount ?? 0, modalities)] : [], problem: '' } })
}

interface Picked {
  readonly run: readonly string[]
  readonly resultsAfter?: Readonly<Record<string, 'kept' | null>>
  readonly peerEndpoint?: string | null
  readonly recordedDecision?: string | null
}

const expectPicked = (expected: Picked, run: readonly string[], before: ProfileResults, after: ProfileResults): void => {
  expect([...run]).toEqual(expected.run)
  if (expected.resultsAfter === undefined) return
  expect([...after.keys()].sort()).toEqual(Object.keys(expected.resultsAfter).sort())
  for (const [profile, state] of Object.entries(expected.resultsAfter)) expect(after.get(profile)).toBe(state === 'kept' ? before.get(profile) : null)
}

const recorded = (desk: Desk): readonly (string | undefined)[] =>
  desk.observations.filter(({ name }) => name === 'disagg_decision_total').map(({ labels }) => labels['decision_type'])

const known = (names: readonly string[]): Plugin[] =>
  names.map((name) => {
    const type = DECIDERS.find((one) => one.type === name)
    return type === undefined ? { typedName: { type: name, name } } : make<Plugin>(type, name === 'prefix-based-pd-decider' ? { nonCachedTokens: 1 } : undefined)
  })

/** The case's own scheduling loop, on the real profile runs. */
const schedule = (handler: DisaggProfileHandler, profiles: ReadonlyMap<string, Profile>, of: Request, candidates: readonly Endpoint[], chance: Chance): ProfileResults => {
  const results: ProfileResults = new Map()
  const context = { slabs: new SlabRing(1), chance, now: () => 0 }
  chance.begin(of.key, 1)
  for (let next = handler.pick(of, [...profiles.keys()], results); next.length > 0; next = handler.pick(of, [...profiles.keys()], results)) {
    for (const name of next) results.set(name, resultOf(runProfile(profiles.get(name) as Profile, handler.stageOf(name), of, candidates, context)))
  }
  return results
}

interface SchedulingConfig extends HandlerConfig {
  readonly schedulingProfiles: Readonly<Record<string, { filters: readonly string[]; scorers: readonly (readonly [string, number])[]; picker: string }>>
}

const profilesOf = (config: SchedulingConfig, desk: Desk): ReadonlyMap<string, Profile> => {
  const built = <P extends Plugin>(type: string): P => make<P>(pluginTypes.find((one) => one.type === type) as PluginType, undefined, desk)
  const scorer = (name: string): Scorer => (name.startsWith('load-aware-scorer') ? make<Scorer>(loadAwareScorer, { threshold: 128 }, desk) : built<Scorer>(name))
  return new Map(
    Object.entries(config.schedulingProfiles).map(([name, { filters, scorers, picker }]) => [
      name,
      { name, filters: filters.map((one) => built<Filter>(one)), scorers: scorers.map(([one, weight]) => ({ scorer: scorer(one), weight })), picker: built<Picker>(picker) },
    ]),
  )
}

interface Scheduled {
  readonly promptTokens: number
  readonly endpoints: readonly { name: string; role: string | null; waitingQueueSize: number }[]
  readonly calls: readonly { prefixCacheOnAll?: Attribute }[]
}

type Outcome = { readonly error?: boolean; readonly primaryProfile?: string; readonly decode?: readonly string[]; readonly prefill?: readonly string[] }

forEachCase('disagg-profile-handler.json', {
  config: (vector: Case<{ knownPlugins?: readonly string[]; handle?: null; metricsRegistry?: null }, { parameters?: unknown; rawJSON?: string | null }, Configured>) => {
    const { knownPlugins = [], handle, metricsRegistry } = vector.config
    // What llm-d calls handle and registry comes with setup(): without it the first decision fails.
    const withoutDesk = handle === null || metricsRegistry === null
    const create = (): DisaggProfileHandler => {
      const made = make<DisaggProfileHandler>(disaggProfileHandler, parametersOf(vector.input), new Desk(), known(knownPlugins))
      if (withoutDesk) new DisaggProfileHandler('handler', made.settings, undefined, undefined).pick(request(), ['decode'], resultsOf({ decode: ['pod1'] }))
      return made
    }
    expectConfigured(create, vector.expected, ({ settings }, { deciders, ...rest }) => {
      expectMatch(settings, rest)
      const names = (deciders ?? {}) as Readonly<Record<string, string | null>>
      for (const [stage, name] of Object.entries(names)) expect(settings.deciders[stage as 'prefill' | 'encode']).toBe(name ?? '')
    })
  },
  pick: (vector: Case<HandlerConfig, { availableProfiles: string[]; results: Given; request: Asked; decodePrefixCache: Attribute }, Picked>) => {
    const desk = new Desk()
    const handler = handlerOf(vector.config, desk)
    const results = resultsOf(vector.input.results)
    const info = matchInfo(vector.input.decodePrefixCache)
    for (const target of results.get(vector.config.profiles.decode)?.endpoints ?? []) if (info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(target, info)
    const before = new Map(results)
    const one = asked(vector.input.request)
    expectPicked(vector.expected, handler.pick(one, vector.input.availableProfiles, results), before, results)
    const { peerEndpoint, recordedDecision } = vector.expected
    if (peerEndpoint !== undefined) {
      const peer = one?.attributes.get(keyText(PEER_ENDPOINT)) as Endpoint | undefined
      expect(peer?.id).toBe(peerEndpoint === null ? undefined : `default/${peerEndpoint}`)
    }
    if (recordedDecision !== undefined) expect(recorded(desk)).toEqual(recordedDecision === null ? [] : [recordedDecision])
  },
  processResults: (
    vector: Case<HandlerConfig, { request: object | null; results: Given }, { error?: boolean; message?: string; primaryProfile?: string; profiles?: string[]; emptyProfiles?: string[]; decodePort?: string }>,
  ) => {
    const handler = handlerOf(vector.config, new Desk())
    const results = resultsOf(vector.input.results)
    const process = () => handler.processResults(vector.input.request === null ? undefined : request(), results)
    const { error, message, primaryProfile, profiles, emptyProfiles = [], decodePort } = vector.expected
    if (error === true) {
      expect(messageOf(process)).toContain(message ?? '')
      return
    }
    const made = process()
    expect(made.primary).toBe(primaryProfile)
    if (profiles !== undefined) expect([...made.results.keys()].sort()).toEqual([...profiles].sort())
    for (const profile of emptyProfiles) expect(made.results.get(profile)?.endpoints).toEqual([])
    if (decodePort !== undefined) expect(String(made.results.get(made.primary)?.endpoints[0]?.port)).toBe(decodePort)
  },
  preRequest: (vector: Case<HandlerConfig & { handlers?: string[] }, { headers: Record<string, string>; results: Given | null }, { headers: Record<string, string> }>) => {
    const one = request({ received: new Map(Object.entries(vector.input.headers)) })
    const result = vector.input.results === null ? undefined : schedulingResult(resultsOf(vector.input.results))
    handlerOf(vector.config, new Desk()).preRequest(one, result)
    const { prefill, encode } = vector.config.profiles
    if (vector.config.handlers?.includes('disagg-headers-handler') === true) new DisaggHeadersHandler('old', prefill, encode).preRequest(one, result)
    expect(headersAfter(one)).toEqual(vector.expected.headers)
  },
  schedule: (vector: Case<SchedulingConfig, Scheduled, { calls: readonly Outcome[] }>) => {
    const desk = new Desk()
    const handler = handlerOf(vector.config, desk)
    const profiles = profilesOf(vector.config, desk)
    const chance = new Chance()
    const candidates = vector.input.endpoints.map(({ name, role, waitingQueueSize }) =>
      endpoint(name, { waitingQueueSize, labels: new Map(role === null ? [] : [[ROLE_LABEL, role]]) }))
    vector.input.calls.forEach((call, index) => {
      const info = matchInfo(call.prefixCacheOnAll)
      for (const candidate of candidates) if (info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(candidate, info)
      const one = request({ tokens: vector.input.promptTokens })
      const results = schedule(handler, profiles, one, candidates, chance)
      const expected = vector.expected.calls[index] ?? {}
      if (expected.error === true) {
        expect(messageOf(() => handler.processResults(one, results))).not.toBe('')
        return
      }
      const made = handler.processResults(one, results)
      expect(made.primary).toBe(expected.primaryProfile)
      for (const stage of ['decode', 'prefill'] as const) {
        expect(made.results.get(stage)?.endpoints.map(({ id }) => id)).toEqual(expected[stage]?.map((name) => `default/${name}`))
      }
    })
  },
})
