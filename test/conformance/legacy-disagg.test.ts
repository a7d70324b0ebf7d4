import { expect } from 'vitest'
import { keyText, PREFIX_CACHE_MATCH_INFO } from '../../src/core/attribute.ts'
import type { Decider, Plugin, PluginType } from '../../src/core/contract.ts'
import { alwaysDisaggPdDecider } from '../../src/plugins/decider/always-disagg-pd-decider/index.ts'
import { prefixBasedPdDecider } from '../../src/plugins/decider/prefix-based-pd-decider/index.ts'
import { disaggHeadersHandler, prefillHeaderHandler, type DisaggHeadersHandler } from '../../src/plugins/header-handler/disagg-headers-handler/index.ts'
import { pdProfileHandler, PdProfileHandler } from '../../src/plugins/profile-handler/pd-profile-handler/index.ts'
import { countDecision, decisionTypeOf, type DecisionType } from '../../src/plugins/profile-handler/stage-decision.ts'
import { Desk, make, request } from '../unit/plugins/given.ts'
import { expectConfigured, headersAfter, matchInfo, parametersOf, placed, resultsOf, schedulingResult, type Attribute, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, messageOf, type Case } from './runner.ts'

type Given = Readonly<Record<string, readonly string[] | null>>
type Headers = Readonly<Record<string, string>>

const DECIDERS: readonly PluginType[] = [prefixBasedPdDecider, alwaysDisaggPdDecider]

interface PdConfig {
  readonly profiles: { readonly decode: string; readonly prefill: string }
  readonly decider?: { readonly type: string; readonly nonCachedTokens?: number; readonly answer?: boolean }
  readonly primaryPort?: number
}

const pdHandler = ({ profiles, decider, primaryPort = 0 }: PdConfig, desk: Desk): PdProfileHandler => {
  const { type = 'always-disagg-pd-decider', answer, ...parameters } = decider ?? {}
  const made: Decider =
    type === 'fixed' ? { typedName: { type, name: type }, runs: () => answer === true } : make<Decider>(DECIDERS.find((one) => one.type === type) as PluginType, parameters, desk)
  const settings = { decodeProfile: profiles.decode, prefillProfile: profiles.prefill, primaryPort, deciderPluginName: type, prefixMatchInfoProducerName: '' }
  const handler = new PdProfileHandler('handler', settings, made)
  handler.setup(desk)
  return handler
}

const known = (names: readonly string[]): Plugin[] =>
  names.map((name) => {
    const type = DECIDERS.find((one) => one.type === name)
    return type === undefined ? { typedName: { type: name, name } } : make<Plugin>(type)
  })

interface Processed {
  readonly error?: boolean
  readonly message?: string
  readonly primaryProfile?: string
  readonly profiles?: Readonly<Record<string, readonly string[]>>
  readonly headers?: Headers
}

forEachCase('pd-profile-handler.json', {
  config: (vector: Case<{ knownPlugins?: string[] }, { parameters?: unknown; rawJSON?: string | null }, Configured>) =>
    expectConfigured(
      () => make<PdProfileHandler>(pdProfileHandler, parametersOf(vector.input), new Desk(), known(vector.config.knownPlugins ?? [])),
      vector.expected,
      (made, settings) => expectMatch(made.settings, settings),
    ),
  pick: (vector: Case<PdConfig, { availableProfiles: string[]; results: Given; request: { tokenCount: number | null }; decodePrefixCache: Attribute }, { run: string[]; recordedDecision?: string | null }>) => {
    const desk = new Desk()
    const handler = pdHandler(vector.config, desk)
    const results = resultsOf(vector.input.results)
    const info = matchInfo(vector.input.decodePrefixCache)
    for (const target of results.get(vector.config.profiles.decode)?.endpoints ?? []) if (info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(target, info)
    expect(handler.pick(request({ tokens: vector.input.request.tokenCount ?? 0 }), vector.input.availableProfiles, results)).toEqual(vector.expected.run)
    const { recordedDecision } = vector.expected
    if (recordedDecision === undefined) return
    const recorded = desk.observations.filter(({ name }) => name === 'pd_decision_total').map(({ labels }) => labels['decision_type'])
    expect(recorded).toEqual(recordedDecision === null ? [] : [recordedDecision])
  },
  processResults: (vector: Case<PdConfig, { results: Given; headers: Headers }, Processed>) => {
    const handler = pdHandler(vector.config, new Desk())
    const one = request({ received: new Map(Object.entries(vector.input.headers)) })
    const process = () => handler.processResults(one, resultsOf(vector.input.results, placed))
    const { error, message, primaryProfile, profiles, headers } = vector.expected
    if (error === true) {
      expect(messageOf(process)).toContain(message ?? '')
      return
    }
    const made = process()
    expect(made.primary).toBe(primaryProfile)
    expect(Object.fromEntries([...made.results].map(([profile, { endpoints }]) => [profile, endpoints.map(({ hostPort }) => hostPort)]))).toEqual(profiles)
    if (headers !== undefined) expect(headersAfter(one)).toEqual(headers)
  },
  consumes: (vector: Case<object, unknown, { requiredContains: string[] }>) =>
    expect(make<PdProfileHandler>(pdProfileHandler, vector.config, new Desk(), known(['prefix-based-pd-decider'])).consumes().required.map(keyText)).toEqual(
      expect.arrayContaining(vector.expected.requiredContains),
    ),
})

const headersHandlers = [disaggHeadersHandler, prefillHeaderHandler]

forEachCase('disagg-headers-handler.json', {
  config: (vector: Case<object, { rawJSON: string | null }, Configured>) => {
    for (const type of headersHandlers) {
      expectConfigured(() => make<DisaggHeadersHandler>(type, parametersOf(vector.input)), vector.expected, (made, settings) => {
        expectMatch(made, settings)
        expect(made.typedName.type).toBe('disagg-headers-handler')
      })
    }
  },
  preRequest: (vector: Case<{ prefillProfile: string; encodeProfile: string }, { headers: Headers | null; results: Given | null }, { headers?: Headers; noThrow?: boolean }>) => {
    for (const type of headersHandlers) {
      const handler = make<DisaggHeadersHandler>(type, { prefillProfile: vector.config.prefillProfile, encodeProfile: vector.config.encodeProfile })
      const { headers, results } = vector.input
      const one = headers === null ? undefined : request({ received: new Map(Object.entries(headers)) })
      handler.preRequest(one, results === null ? undefined : schedulingResult(resultsOf(results)))
      if (vector.expected.headers !== undefined && one !== undefined) expect(headersAfter(one)).toEqual(vector.expected.headers)
    }
  },
})

interface Counted {
  readonly samples?: readonly { metric: string; labels: Headers; value: number }[]
  readonly decisionType?: string
}

forEachCase('disagg-metrics.json', {
  case: (vector: Case<{ plugin_name?: string; plugin_type?: string }, { calls?: readonly ['disagg' | 'pd', string, DecisionType][]; encodeUsed?: boolean; prefillUsed?: boolean }, Counted>) => {
    const desk = new Desk()
    const { plugin_name: name = '', plugin_type: type = '' } = vector.config
    for (const [family, model, decision] of vector.input.calls ?? []) countDecision(desk, family, { name, type }, model, decision)
    const { samples, decisionType } = vector.expected
    for (const { metric, labels, value } of samples ?? []) expect(desk.metric(metric.replace(/^llm_d_epp_/, ''), labels), metric).toBe(value)
    if (samples !== undefined) expect(desk.observations).toHaveLength((vector.input.calls?.length ?? 0) * 2)
    if (decisionType !== undefined) expect(decisionTypeOf(vector.input.encodeUsed === true, vector.input.prefillUsed === true)).toBe(decisionType)
  },
})
