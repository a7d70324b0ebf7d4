import { describe, expect, it } from 'vitest'
import { load, picker } from './loading.ts'
import { SAMPLE_TYPES, sampleType } from './sample-types.ts'

const injected = (text: string): readonly string[] => load(text).completed.plugins.filter((plugin) => plugin.injected === true).map(({ name }) => name)
const PARSERS = ['openai-parser', 'anthropic-parser', 'vllmhttp-parser', 'passthrough-parser']
const METRICS = ['metrics-data-source', 'core-metrics-extractor']

describe('what is left out is added', () => {
  it('all of it, for a file that names nothing but scorers', () => {
    const { completed } = load(picker('plugins:\n  - type: queue-scorer\n'))
    expect(completed.plugins.map(({ name, injected: added = false }) => [name, added])).toEqual([
      ['queue-scorer', false],
      ...['single-profile-handler', 'max-score-picker', ...PARSERS, 'utilization-detector', ...METRICS].map((name) => [name, true]),
    ])
    expect(completed.profiles).toEqual([{ name: 'default', filters: [], scorers: [{ plugin: 'queue-scorer', weight: 1 }], picker: 'max-score-picker' }])
    expect(completed.dataLayer).toEqual({ sources: [{ source: 'metrics-data-source', extractors: ['core-metrics-extractor'] }] })
    expect(completed.parsers).toEqual(PARSERS)
    expect(completed.saturationDetector).toBe('utilization-detector')
    expect(completed.profileHandler).toBe('single-profile-handler')
    expect(completed.featureGates).toEqual({ flowControl: false, haPopulateNonLeaderDatastore: true })
    expect(completed.flowControl).toEqual({})
  })

  it('a profile of every filter, scorer and picker written, in the order of the file (a); a detector that is a filter joins when written, not when added', () => {
    const text = (more: string): string => picker(`plugins:\n  - type: random-picker\n  - type: queue-scorer\n  - type: token-producer\n  - type: decode-filter\n${more}`)
    expect(load(text('')).completed.profiles).toEqual([{ name: 'default', filters: ['decode-filter'], scorers: [{ plugin: 'queue-scorer', weight: 1 }], picker: 'random-picker' }])
    expect(load(text('  - type: utilization-detector\n')).completed.profiles[0]?.filters).toEqual(['decode-filter', 'utilization-detector'])
  })

  it('no profile handler where one is written (b)', () => {
    expect(injected(picker('plugins:\n  - type: pair-handler\nschedulingProfiles:\n  - name: decode\n  - name: prefill\n'))).not.toContain('single-profile-handler')
  })

  it('the first picker of the file to each profile without one; max-score-picker where there is none at all (c)', () => {
    const profiles = 'schedulingProfiles:\n  - name: decode\n    plugins: [{pluginRef: max-score-picker}]\n  - name: prefill\n'
    const two = load(picker(`plugins:\n  - type: pair-handler\n  - type: random-picker\n  - type: max-score-picker\n${profiles}`))
    expect(two.completed.profiles.map(({ name, picker: chosen }) => [name, chosen])).toEqual([['decode', 'max-score-picker'], ['prefill', 'random-picker']])
    expect(two.notes.pickers).toEqual(new Set(['prefill']))
    const none = load(picker('plugins:\n  - type: pair-handler\nschedulingProfiles:\n  - name: decode\n  - name: prefill\n'))
    expect(none.completed.profiles.map(({ picker: chosen }) => chosen)).toEqual(['max-score-picker', 'max-score-picker'])
  })

  it('the flow control policies where they are built (d)', () => {
    const policies = ['fcfs-ordering-policy', 'global-strict-fairness-policy', 'static-usage-limit-policy']
    const { completed } = load('', { pluginTypes: [...SAMPLE_TYPES, ...policies.map((type) => sampleType({ type, kinds: ['flow-control'] }))] })
    expect(completed.plugins.map(({ name }) => name)).toEqual(expect.arrayContaining(policies))
  })

  it('parsers: the four, or those that a list names, and then no fallback (e)', () => {
    const { completed } = load(picker('requestHandler:\n  parsers: [{pluginRef: anthropic-parser}]\n'))
    expect(completed.parsers).toEqual(['anthropic-parser'])
    expect(injected(picker('requestHandler:\n  parsers: [{pluginRef: anthropic-parser}]\n')).filter((name) => name.endsWith('-parser'))).toEqual(['anthropic-parser'])
    expect(load(picker('parser: {pluginRef: openai-parser}\n')).completed.parsers).toEqual(['openai-parser'])
    expect(load(picker('parser: {pluginRef: openai-parser}\nrequestHandler: {parsers: [{pluginRef: vllmhttp-parser}]}\n')).completed.parsers).toEqual(['vllmhttp-parser'])
  })

  it('the utilization detector, under its own name only (f)', () => {
    expect(load(picker('flowControl: {saturationDetector: {pluginRef: utilization-detector}}\n')).completed.saturationDetector).toBe('utilization-detector')
    const own = load(picker('plugins:\n  - name: mine\n    type: utilization-detector\nsaturationDetector: {pluginRef: mine}\n'))
    expect(own.completed.saturationDetector).toBe('mine')
    expect(own.completed.plugins.map(({ name }) => name)).not.toContain('utilization-detector')
    const both = load(picker('plugins:\n  - name: mine\n    type: utilization-detector\nsaturationDetector: {pluginRef: utilization-detector}\nflowControl: {saturationDetector: {pluginRef: mine}}\n'))
    expect(both.completed.saturationDetector).toBe('mine')
  })

  it('the metrics source beside others, unless it is there under that very name or turned off (g)', () => {
    const sources = (text: string): readonly string[] => load(picker(text)).completed.dataLayer.sources.map(({ source }) => source)
    const named = 'plugins:\n  - {name: m, type: metrics-data-source}\ndataLayer:\n  sources: [{pluginRef: m}]\n'
    expect(sources(named)).toEqual(['m', 'metrics-data-source'])
    expect(sources(`${named}  injectDefaults: false\n`)).toEqual(['m'])
    expect(sources('plugins:\n  - type: metrics-data-source\ndataLayer:\n  sources: [{pluginRef: metrics-data-source}]\n')).toEqual(['metrics-data-source'])
    expect(injected(picker('plugins:\n  - type: core-metrics-extractor\n'))).not.toContain('core-metrics-extractor')
  })

  it('producers of required data, and of what those require (h)', () => {
    const { completed, injections } = load(picker('plugins:\n  - type: prefix-cache-scorer\n'))
    expect(completed.producers).toEqual(['token-producer', 'approx-prefix-cache-producer'])
    expect(injections.get('token-producer')).toBe('`approx-prefix-cache-producer` requires TokenizedPrompt/token-producer')
  })
})

describe('a profile', () => {
  it('takes an entry in each role that it bears, and ignores one that bears none', () => {
    const both = sampleType({ type: 'context-length-aware', kinds: ['filter', 'scorer'] })
    const text = picker('plugins:\n  - type: context-length-aware\n  - type: openai-parser\nschedulingProfiles:\n  - name: a\n    plugins:\n      - {pluginRef: context-length-aware, weight: 3}\n      - {pluginRef: openai-parser}\n')
    const { completed, warnings } = load(text, { pluginTypes: [...SAMPLE_TYPES, both] })
    expect(completed.profiles).toEqual([{ name: 'a', filters: ['context-length-aware'], scorers: [{ plugin: 'context-length-aware', weight: 3 }], picker: 'max-score-picker' }])
    expect(warnings).toEqual([])
  })

  it('keeps weights as they are given: 0, negative, left out', () => {
    const text = picker('plugins:\n  - type: queue-scorer\n  - type: kv-cache-utilization-scorer\n  - type: prefix-cache-scorer\nschedulingProfiles:\n  - name: a\n    plugins:\n      - {pluginRef: queue-scorer, weight: 0}\n      - {pluginRef: kv-cache-utilization-scorer, weight: -1}\n      - {pluginRef: prefix-cache-scorer}\n')
    expect(load(text).completed.profiles[0]?.scorers.map(({ weight }) => weight)).toEqual([0, -1, 1])
  })
})

describe('plugins', () => {
  it('are made after those that their parameters name, whatever the order of the file', () => {
    const made: string[] = []
    const seen = sampleType({ type: 'pair-handler', kinds: ['profile-handler'], references: ['deciders.prefill'] })
    const watching = { ...seen, create: (context: Parameters<typeof seen.create>[0]) => {
      made.push(context.plugin('d')?.typedName.name ?? 'missing')
      return seen.create(context)
    } }
    const pluginTypes = [...SAMPLE_TYPES.filter(({ type }) => type !== 'pair-handler'), watching]
    const { completed } = load(picker('plugins:\n  - type: pair-handler\n    parameters: {Deciders: {PREFILL: d}}\n  - name: d\n    type: always-decider\n'), { pluginTypes })
    expect(made).toEqual(['d'])
    expect(completed.plugins.slice(0, 2).map(({ name }) => name)).toEqual(['d', 'pair-handler'])
  })

  it('that may name a decider by default are made after the deciders', () => {
    const { completed } = load(picker('plugins:\n  - type: pair-handler\n  - type: always-decider\n'))
    expect(completed.plugins.slice(0, 2).map(({ name }) => name)).toEqual(['always-decider', 'pair-handler'])
  })

  it('keep their parameters as written, and have none where none or null are written', () => {
    const { completed } = load(picker('plugins:\n  - type: prefix-cache-scorer\n    parameters: {Size: 3}\n  - type: queue-scorer\n    parameters: null\n'))
    expect(completed.plugins.slice(0, 2)).toEqual([{ name: 'prefix-cache-scorer', type: 'prefix-cache-scorer', parameters: { Size: 3 } }, { name: 'queue-scorer', type: 'queue-scorer' }])
  })
})

describe('flow control settings', () => {
  it('are kept as they are given while the gate is off', () => {
    const { completed } = load(picker('featureGates: ["flowControl= FALSE", haPopulateNonLeaderDatastore=0]\nflowControl: {maxBytes: 1Gi, saturationDetector: {pluginRef: utilization-detector}}\n'))
    expect(completed.flowControl).toEqual({ maxBytes: '1Gi' })
    expect(completed.featureGates).toEqual({ flowControl: false, haPopulateNonLeaderDatastore: false })
  })
})

describe('with no configuration', () => {
  it('the built-in default is taken', () => {
    const { completed } = load('')
    expect(completed.profiles).toEqual([{
      name: 'default',
      filters: [],
      scorers: [{ plugin: 'queue-scorer', weight: 2 }, { plugin: 'kv-cache-utilization-scorer', weight: 2 }, { plugin: 'prefix-cache-scorer', weight: 3 }],
      picker: 'max-score-picker',
    }])
    expect(completed.plugins.filter((plugin) => plugin.injected === true).map(({ name }) => name)).toEqual([
      'single-profile-handler', 'max-score-picker', ...PARSERS, 'utilization-detector', 'approx-prefix-cache-producer', 'token-producer',
    ])
  })
})
