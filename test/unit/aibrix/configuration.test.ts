import { describe, expect, it } from 'vitest'
import { automaticProfile, parseModelConfig, PrefillPolicies, PrefixTable, profileFor, UNMEASURED, type PrefillScorePolicy } from '../../../src/aibrix/index.ts'
import { loadConfiguration } from '../../../src/config/load.ts'
import { AggregateConfigurationError } from '../../../src/config/problems.ts'
import { ParameterError } from '../../../src/core/parameters.ts'
import { KNOWN_TYPES, pluginTypes } from '../../../src/plugins/index.ts'
import { aibrixPdSettingsOf, environmentParameters } from '../../../src/plugins/profile-handler/aibrix-pd-profile-handler/index.ts'
import { aibrixConfiguration } from './story.ts'

const handlerIn = (...given: Parameters<typeof aibrixConfiguration>): Record<string, unknown> => {
  const plugin = aibrixConfiguration(...given).plugins.find(({ type }) => type === 'aibrix-pd-profile-handler')
  return (plugin?.parameters ?? {}) as Record<string, unknown>
}

/** What is wrong with a configuration, and where. */
const told = (load: () => unknown): readonly unknown[] => {
  try {
    load()
    return []
  } catch (error) {
    if (!(error instanceof AggregateConfigurationError)) throw error
    return error.errors.map(({ message, place }) => [message, place?.line, place?.column])
  }
}

describe('the environment as defaults of the router', () => {
  it('becomes parameters when the configuration is completed, and a file wins over it', () => {
    const environment = { AIBRIX_PREFIX_CACHE_BLOCK_SIZE: '128', AIBRIX_DECODE_SCORE_POLICY: ' Least_Request ', AIBRIX_KV_CONNECTOR_TYPE: ' nixl', POD_NAME: 'gw-0' }
    expect(handlerIn({ prefixCacheBlockSize: 64 }, environment)).toEqual({ prefixCacheBlockSize: 64, decodeScorePolicy: ' Least_Request ', kvConnectorType: ' nixl', gatewayPod: 'gw-0' })
    expect(aibrixPdSettingsOf(handlerIn({}, environment))).toMatchObject({ blockBytes: 128, kvConnectorType: ' nixl', decodeScorePolicy: ' Least_Request ' })
  })

  it.each([
    ['AIBRIX_PREFILL_SCORE_POLICY', 'Prefix_Cache', undefined],
    ['AIBRIX_PREFILL_SCORE_POLICY', 'least_request', 'least_request'],
    ['AIBRIX_DECODE_SCORE_POLICY', 'nope', undefined],
    ['AIBRIX_PREFILL_LOAD_IMBALANCE_MIN_SPREAD', '4294967295', -1],
    ['AIBRIX_PREFILL_LOAD_IMBALANCE_MIN_SPREAD', '0', undefined],
    ['AIBRIX_DECODE_LOAD_IMBALANCE_MIN_SPREAD', 'NaN', 'NaN'],
    ['AIBRIX_DECODE_LOAD_IMBALANCE_MIN_SPREAD', 'inf', '+Inf'],
    ['AIBRIX_DECODE_LOAD_IMBALANCE_MIN_SPREAD', '0x1p4', 16],
    ['AIBRIX_DECODE_LB_WEIGHT_RUNNING', '-2', undefined],
    ['AIBRIX_PROMPT_LENGTH_BUCKETING', 'T', true],
    ['AIBRIX_PROMPT_LENGTH_BUCKETING', ' true', undefined],
    ['AIBRIX_PREFIX_CACHE_BLOCK_SIZE', ' 5', undefined],
    ['AIBRIX_PREFIX_CACHE_BLOCK_NUMBER', '9223372036854775807', Number.MAX_SAFE_INTEGER],
  ])('%s=%j is %j', (name, raw, expected) => {
    const { parameters, warnings } = environmentParameters({ [name]: raw })
    expect(Object.values(parameters)).toEqual(expected === undefined ? [] : [expected])
    expect(warnings).toHaveLength(expected === undefined ? 1 : 0)
  })

  it.each([
    ['200', '', 200, 0], ['200', 'refresh-metrics-interval: 100ms', 100, 0], ['20', '', 50, 1], [' 200', '', 50, 1], ['0', '', 50, 1], ['NaN', '', 50, 1], ['', '', 50, 0],
  ])('AIBRIX_POD_METRIC_REFRESH_INTERVAL_MS=%j beside %j reads metrics each %i ms', (raw, setting, ms, warned) => {
    const texts = [
      { file: 'c.yaml', text: 'apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- type: aibrix-pd-profile-handler\nschedulingProfiles:\n- name: prefill\n  plugins: []\n- name: decode\n  plugins: []\n' },
      { file: 's.yaml', text: `apiVersion: signalbox/v1\nkind: SignalboxConfig\n${setting}\n` },
    ]
    const { settings, warnings } = loadConfiguration({ texts, pluginTypes, environment: { AIBRIX_POD_METRIC_REFRESH_INTERVAL_MS: raw } })
    expect([settings.refreshMetricsIntervalMs, warnings.length]).toEqual([ms, warned])
    expect(loadConfiguration({ texts: texts.slice(1), pluginTypes, environment: { AIBRIX_POD_METRIC_REFRESH_INTERVAL_MS: raw } }).settings.refreshMetricsIntervalMs).toBe(setting === '' ? 50 : 100)
  })

  it('names the variable whose value the router cannot run with', () => {
    expect(told(() => handlerIn({}, { AIBRIX_TRT_MACHINE_ID: '1024' }))).toEqual([['AIBRIX_TRT_MACHINE_ID: trtMachineId must be from 0 to 1023, got 1024', undefined, undefined]])
    expect(handlerIn({ trtMachineId: 7 }, { AIBRIX_TRT_MACHINE_ID: '1024' })).toEqual({ trtMachineId: 7 })
  })

  it('makes numbers of NaN and infinity', () => {
    expect(aibrixPdSettingsOf({ decodeLbWeightRunning: 'NaN', decodeScoreRatioThreshold: '+Inf' })).toMatchObject({ weights: { running: NaN }, decodeSpreads: { scoreRatioThreshold: Infinity } })
  })
})

describe('the parameters of the router', () => {
  it.each([
    [{ prefillScorePolicy: 'prefix-cache' }, 'did you mean `prefix_cache`'],
    [{ decodeScorePolicy: 'conducter' }, 'did you mean `conductor`'],
    [{ trtMachineId: 1024 }, 'from 0 to 1023'],
    [{ prefixCacheBlockSize: 0 }, 'above 0'],
    [{ decodeLbWeightRunning: -1 }, 'above 0'],
    [{ prefixCacheHashSeed: '18446744073709551616' }, '64-bit'],
    [{ execution: 'sidecar' }, 'gateway'],
  ])('%j is refused', (parameters, message) => {
    expect(() => aibrixPdSettingsOf(parameters)).toThrow(ParameterError)
    expect(() => aibrixPdSettingsOf(parameters)).toThrow(message)
  })

  it('lets pd-execution decide who prefills, and gives the prefill time before a request counts as lost', () => {
    expect(handlerIn({}, {}, 'pd-execution: headers')).toEqual({ execution: 'headers' })
    const { timeouts } = aibrixConfiguration({ prefillRequestTimeout: 60 }).engine
    expect(timeouts.sentMs).toBe(90_000)
    expect(aibrixConfiguration({}, {}, 'pd-execution: headers').engine.timeouts.sentMs).toBe(30_000)
  })
})

describe('the profiles of the router', () => {
  const loaded = (profiles: string, parameters = '{}', plugins = ''): ReturnType<typeof loadConfiguration> => loadConfiguration({
    texts: [{ file: 'c.yaml', text: `apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\nplugins:\n- type: aibrix-pd-profile-handler\n  parameters: ${parameters}\n${plugins}schedulingProfiles:\n${profiles}` }],
    pluginTypes, knownTypes: KNOWN_TYPES,
  })
  const both = '- name: prefill\n  plugins: []\n- name: decode\n  plugins: []\n'

  it('hold filters; a scorer there would never be asked and is refused with its place', () => {
    const plugins = '- type: queue-scorer\n- type: prefix-cache-scorer\n- type: decode-filter\n- type: max-score-picker\n'
    const wrong = '- name: prefill\n  plugins:\n  - pluginRef: queue-scorer\n    weight: 2\n- name: decode\n  plugins:\n  - pluginRef: decode-filter\n  - pluginRef: prefix-cache-scorer\n'
    expect(told(() => loaded(wrong, '{}', plugins))).toEqual([
      [expect.stringMatching(/^the scorer `queue-scorer` has no effect in the profile `prefill`: `aibrix-pd-profile-handler` chooses .* name a policy/), 13, 16],
      [expect.stringContaining('the scorer `prefix-cache-scorer` has no effect in the profile `decode`'), 18, 16],
    ])
    const { warnings } = loaded('- name: prefill\n  plugins: []\n- name: decode\n  plugins:\n  - pluginRef: decode-filter\n  - pluginRef: max-score-picker\n', '{}', plugins)
    expect(warnings.map(({ message, place }) => [message, place?.line])).toEqual([[expect.stringContaining('the picker `max-score-picker` has no effect in the profile `decode`'), 16]])
  })

  it('are there under the names that the parameters give', () => {
    expect(loaded(both).warnings).toEqual([])
    expect(() => loaded('- name: prefil\n  plugins: []\n- name: decode\n  plugins: []\n')).toThrow(/the profile `prefill` for prefill, which is not there; did you mean `prefil`/)
    expect(() => loaded(both, '{profiles: {decode: generate}}')).toThrow(/the profile `generate` for decode, which is not there/)
    expect(loaded(`${both}- name: encode\n  plugins: []\n`).warnings.map(({ message }) => message)).toEqual(['the profile `encode` has no effect: `aibrix-pd-profile-handler` runs `decode` and `prefill`'])
  })
})

describe('the profiles of a model', () => {
  const config = (profiles: unknown, more: object = {}) => parseModelConfig(JSON.stringify({ profiles, ...more }))

  it.each([['', undefined], ['{', undefined], ['{}', undefined], ['{"profiles":{}}', undefined], ['{"profiles":[]}', undefined], ['{"profiles":{"a":5}}', undefined], ['{"defaultProfile":1,"profiles":{"a":{}}}', undefined]])('%j is none', (json, expected) => {
    expect(parseModelConfig(json)).toBe(expected)
  })

  it('are found by name, else the default one, else `default`', () => {
    const named = config({ a: {}, b: {}, default: {} }, { defaultProfile: 'b' })
    expect([profileFor(named, 'a')?.name, profileFor(named, 'x')?.name, profileFor(config({ default: {} }), 'x')?.name, profileFor(config({ a: {} }), 'x')]).toEqual(['a', 'b', 'default', undefined])
  })

  it('are chosen by their hints: most of them, then the narrower, then by name', () => {
    const hinted = config({
      any: {}, long: { routingConfig: { promptTokensGte: 100 } }, longer: { routingConfig: { promptTokensGte: 1000 } }, exact: { routingConfig: { promptTokensGte: 100, promptTokensLt: 200 } },
      b: { routingConfig: { maxTokensLt: 10 } }, a: { routingConfig: { maxTokensLt: 10 } },
    })
    const chosen = (promptTokens: number, maxTokens?: number): string | undefined => (hinted === undefined ? undefined : automaticProfile(hinted, { promptTokens, maxTokens })?.name)
    expect([chosen(150), chosen(500), chosen(5000), chosen(5), chosen(5, 3)]).toEqual(['exact', 'long', 'longer', undefined, 'a'])
  })
})

describe('prefill policies by name', () => {
  const parts = { table: new PrefixTable({ blocks: 1, timeToLiveUs: 1, sweepIntervalUs: 1 }), metricsOf: () => UNMEASURED }
  const mine: PrefillScorePolicy = { name: () => 'mine', prepare: () => ({ scorePod: () => 1, prefixHashes: () => null }) }

  it('take registered ones, and prefix_cache for what is unknown', () => {
    const policies = new PrefillPolicies()
    expect([policies.register(' mine ', () => mine), policies.register('null', null), policies.register('none', () => null)]).toEqual([true, false, true])
    expect(policies.names()).toEqual(['conductor', 'least_request', 'mine', 'none', 'prefix_cache'])
    expect([policies.resolve('mine', parts), policies.resolve('Mine', parts), policies.resolve('none', parts)].map(({ policy, unknown }) => [policy.name(), unknown])).toEqual([['mine', false], ['prefix_cache', true], ['prefix_cache', true]])
  })
})
