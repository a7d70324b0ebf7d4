import { describe, expect, it } from 'vitest'
import { AggregateConfigurationError } from '../../../src/config/problems.ts'
import { errorsOf, load, picker, warningsOf } from './loading.ts'
import { SAMPLE_TYPES, sampleType } from './sample-types.ts'

const PLUGINS = 'plugins:\n  - type: queue-scorer\n  - type: max-score-picker\n  - type: decode-filter\n'

describe('a wrong EndpointPickerConfig is refused at its place', () => {
  it.each([
    ['malformed YAML', picker('plugins: [\n'), /^config-syntax: .*\(c\.yaml:4:1\)$/],
    ['a duplicate field', picker('plugins: []\nplugins: []\n'), 'config-syntax: `plugins` is given twice (c.yaml:4:1)'],
    ['a document that is no object', '- a\n', 'config-invalid: the document must be an object, got a list (c.yaml:1:1)'],
    ['no kind', 'apiVersion: llm-d.ai/v1alpha1\n', /^config-invalid: kind is missing: .*\(c\.yaml:1:1\)$/],
    ['an unknown kind', 'kind: EndpointPickerConfg\n', 'config-invalid: unknown kind `EndpointPickerConfg`; did you mean `EndpointPickerConfig`? (c.yaml:1:7)'],
    ['no apiVersion', 'kind: EndpointPickerConfig\nplugins: []\n', 'config-invalid: apiVersion is missing: write `apiVersion: llm-d.ai/v1alpha1` (c.yaml:1:1)'],
    ['an unknown apiVersion', 'apiVersion: llm-d.ai/v1alpha2\nkind: EndpointPickerConfig\n', 'config-invalid: unknown apiVersion `llm-d.ai/v1alpha2` of EndpointPickerConfig; did you mean `llm-d.ai/v1alpha1`? (c.yaml:1:13)'],
    ['two documents of a kind', `${picker('')}---\n${picker('')}`, 'config-duplicate: there are two documents of kind EndpointPickerConfig (c.yaml:5:7)'],
    ['an unknown field', picker('schedulingProfile: []\n'), 'config-unknown-field: unknown field `schedulingProfile`; did you mean `schedulingProfiles`? (c.yaml:3:1)'],
    ['an unknown field below', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: queue-scorer\n        wieght: 2\n`), 'config-unknown-field: unknown field `wieght` in schedulingProfiles[0].plugins[0]; did you mean `weight`? (c.yaml:11:9)'],
    ['a list that is none', picker('plugins: {}\n'), 'config-invalid: plugins must be a list, got an object (c.yaml:3:10)'],
    ['an unknown feature gate', picker('featureGates: [flowControll]\n'), 'config-unknown-field: unknown feature gate `flowControll`; did you mean `flowControl`? (c.yaml:3:16)'],
    ['a feature gate that is no boolean', picker('featureGates: [flowControl=maybe]\n'), 'config-invalid: feature gate `flowControl` must be true or false, got `maybe` (c.yaml:3:16)'],
    ['a feature gate that is a word of the language', picker('featureGates: [toString]\n'), 'config-unknown-field: unknown feature gate `toString` (c.yaml:3:16)'],
    ['flow control', picker('featureGates: [flowControl]\n'), 'config-not-built: flow control is known from llm-d but not built: turn the feature gate `flowControl` off (c.yaml:3:15)'],
    ['a peer discovery', picker('dataLayer:\n  peerDiscovery: {pluginRef: a}\n'), /^config-not-built: dataLayer\.peerDiscovery is known .*\(c\.yaml:4:18\)$/],
    ['a plugin without type', picker('plugins:\n  - name: a\n'), 'config-invalid: plugin `a` has no type (c.yaml:4:5)'],
    ['a plugin that is empty', picker('plugins:\n  - {}\n'), 'config-invalid: plugins[0] has no type (c.yaml:4:5)'],
    ['a plugin that is null', picker('plugins:\n  - null\n'), 'config-invalid: plugins[0] is empty: a plugin needs a type (c.yaml:4:5)'],
    ['a type that is no text', picker('plugins:\n  - type: 5\n'), 'config-invalid: plugins[0].type must be a string, got the number 5 (c.yaml:4:11)'],
    ['an unknown type', picker('plugins:\n  - type: kv-cach\n'), 'config-unknown-plugin: unknown plugin type `kv-cach`; did you mean `kv-cache-utilization-scorer`? (c.yaml:4:11)'],
    ['two plugins of a name', picker('plugins:\n  - type: queue-scorer\n  - name: queue-scorer\n    type: random-picker\n'), 'config-duplicate: there are two plugins `queue-scorer` (c.yaml:5:11)'],
    ['two plugins of a type without names', picker('plugins:\n  - type: queue-scorer\n  - type: queue-scorer\n'), 'config-duplicate: there are two plugins `queue-scorer` (c.yaml:5:11)'],
    ['parameters that are no object', picker('plugins:\n  - type: queue-scorer\n    parameters: [1]\n'), 'config-invalid: plugins[0].parameters must be an object, got a list (c.yaml:5:17)'],
    ['an unknown parameter', picker('plugins:\n  - type: prefix-cache-scorer\n    parameters:\n      siez: 3\n'), 'parameter-invalid: plugin `prefix-cache-scorer`: unknown field "siez"; did you mean `size`? (c.yaml:6:7)'],
    ['a parameter of the wrong type', picker('plugins:\n  - type: prefix-cache-scorer\n    parameters: {name: a, SIZE: 1.5}\n'), /^parameter-invalid: plugin `prefix-cache-scorer`: SIZE must be a whole number.*\(c\.yaml:5:27\)$/],
    ['a profile without name', picker(`${PLUGINS}schedulingProfiles:\n  - plugins: []\n`), 'config-invalid: schedulingProfiles[0] has no name (c.yaml:8:5)'],
    ['two profiles of a name', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n  - name: a\n`), 'config-duplicate: there are two profiles `a` (c.yaml:9:11)'],
    ['an entry without pluginRef', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - weight: 1\n`), 'config-invalid: an entry of the profile `a` has no pluginRef (c.yaml:10:9)'],
    ['an unknown scorer', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: queue-scorr\n`), 'config-unknown-reference: unknown plugin `queue-scorr`; did you mean `queue-scorer`? (c.yaml:10:20)'],
    ['an unknown plugin with a weight', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: kv-cach\n        weight: 2\n`), 'config-unknown-reference: unknown scorer `kv-cach`; did you mean `kv-cache-utilization-scorer`? (c.yaml:10:20)'],
    ['a plugin that is not listed', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: random-picker\n`), 'config-unknown-reference: unknown picker `random-picker`; there is a type called so: list it under `plugins` (c.yaml:10:20)'],
    ['a weight that is no number', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - {pluginRef: queue-scorer, weight: heavy}\n`), 'config-invalid: schedulingProfiles[0].plugins[0].weight must be a number, got the string "heavy" (c.yaml:10:43)'],
    ['a second picker in a profile', picker('plugins:\n  - type: max-score-picker\n  - type: random-picker\nschedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: max-score-picker\n      - pluginRef: random-picker\n'), 'config-invalid: `random-picker` is a second picker in the profile `a`, besides `max-score-picker` (c.yaml:10:20)'],
    ['two profile handlers', picker('plugins:\n  - type: single-profile-handler\n  - type: pair-handler\n'), 'config-invalid: `pair-handler` is a second profile handler, besides `single-profile-handler`: there must be exactly one (c.yaml:5:5)'],
    ['no profile handler for two profiles', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n  - name: b\n`), 'config-invalid: no profile handler, and 2 profiles: add one such as `disagg-profile-handler` to plugins (c.yaml:9:5)'],
    ['the single handler with two profiles', picker('plugins:\n  - type: single-profile-handler\nschedulingProfiles:\n  - name: a\n  - name: b\n'), 'config-invalid: `single-profile-handler` takes one profile, there are 2: `a`, `b` (c.yaml:4:5)'],
    ['a decider that is not there', picker('plugins:\n  - type: pair-handler\n    parameters:\n      deciders: {prefill: always-decidr}\n  - type: always-decider\n'), 'config-unknown-reference: `pair-handler` names the plugin `always-decidr`, which is not there; did you mean `always-decider`? (c.yaml:6:27)'],
    ['plugins that name each other', picker('plugins:\n  - name: a\n    type: pair-handler\n    parameters: {deciders: {prefill: b}}\n  - name: b\n    type: pair-handler\n    parameters: {deciders: {encode: a}}\n'), 'config-graph: plugins name each other in a circle: `a` > `b` > `a` (c.yaml:4:5)'],
    ['a source that is none', picker(`${PLUGINS}dataLayer:\n  sources:\n    - pluginRef: queue-scorer\n`), 'config-invalid: `queue-scorer` (a queue-scorer) is no data source (c.yaml:9:18)'],
    ['an unknown extractor', picker('plugins:\n  - type: metrics-data-source\ndataLayer:\n  sources:\n    - pluginRef: metrics-data-source\n      extractors:\n        - pluginRef: core\n'), 'config-unknown-reference: unknown extractor `core`; did you mean `core-metrics-extractor`? (c.yaml:9:22)'],
    ['a discovery that is none', picker(`${PLUGINS}dataLayer:\n  discovery: {pluginRef: queue-scorer}\n`), 'config-invalid: `queue-scorer` (a queue-scorer) is no discovery plugin (c.yaml:8:26)'],
    ['a detector that is none', picker(`${PLUGINS}flowControl:\n  saturationDetector: {pluginRef: queue-scorer}\n`), 'config-invalid: `queue-scorer` (a queue-scorer) is no saturation detector (c.yaml:8:35)'],
    ['a detector that is not there', picker('flowControl:\n  saturationDetector: {pluginRef: busy}\n'), 'config-unknown-reference: unknown saturation detector `busy` (c.yaml:4:35)'],
    ['a parser that is none', picker(`${PLUGINS}requestHandler:\n  parsers: [{pluginRef: queue-scorer}]\n`), 'config-invalid: `queue-scorer` (a queue-scorer) is no parser (c.yaml:8:25)'],
    ['an unknown parser', picker('requestHandler:\n  parsers: [{pluginRef: openai-parsr}]\n'), 'config-unknown-reference: unknown parser `openai-parsr`; did you mean `openai-parser`? (c.yaml:4:25)'],
    ['a quantity that is none', picker('flowControl:\n  maxBytes: 1Gb\n'), 'config-invalid: flowControl.maxBytes must be a quantity such as 5000, 1G or 512Mi, got the string "1Gb" (c.yaml:4:13)'],
    ['a duration that is none', picker('flowControl:\n  defaultRequestTTL: 60\n'), 'config-invalid: flowControl.defaultRequestTTL must be a duration such as 400ms, 30s or 1m30s, got the number 60 (c.yaml:4:22)'],
    ['two bands of a priority', picker('flowControl:\n  priorityBands: [{priority: 1}, {priority: 1}]\n'), 'config-duplicate: there are two priority bands 1 (c.yaml:4:34)'],
  ])('%s', (_, text, expected) => {
    const errors = errorsOf(text)
    expect(errors).toHaveLength(1)
    if (typeof expected === 'string') expect(errors).toEqual([expected])
    else expect(errors[0]).toMatch(expected)
  })

  it('with all independent errors in one run, in the order of the document', () => {
    const text = picker('plugin: []\nplugins:\n  - type: kv-cach\n  - type: prefix-cache-scorer\n    parameters: {siez: 1}\nschedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: nobody\n---\nkind: SignalboxConfig\napiVersion: signalbox/v1\nlistn: x\n')
    expect(errorsOf(text).map((error) => error.slice(error.lastIndexOf('(')))).toEqual(['(c.yaml:3:1)', '(c.yaml:5:11)', '(c.yaml:7:18)', '(c.yaml:11:20)', '(c.yaml:15:1)'])
  })

  it('with one error for one wrong plugin, however often it is named', () => {
    expect(errorsOf(picker('plugins:\n  - name: a\n    type: nothing-like-it\nschedulingProfiles:\n  - name: p\n    plugins:\n      - pluginRef: a\n'))).toHaveLength(1)
  })

  it('with one error for a wrong plugin that another names in its parameters', () => {
    const refusing = { ...sampleType({ type: 'pair', kinds: ['profile-handler'], references: ['decider'] }), create: () => { throw new Error('no decider') } }
    expect(errorsOf(picker('plugins:\n  - type: pair\n    parameters: {decider: d}\n  - name: d\n    type: nothing-like-it\n'), { pluginTypes: [...SAMPLE_TYPES, refusing] })).toEqual([
      'config-unknown-plugin: unknown plugin type `nothing-like-it` (c.yaml:7:11)',
    ])
    expect(errorsOf(picker('plugins:\n  - type: pair\n'), { pluginTypes: [...SAMPLE_TYPES, refusing] })).toEqual(['config-invalid: plugin `pair`: no decider (c.yaml:4:5)'])
  })

  it('in words that name the place and the fix', () => {
    let told = ''
    try {
      load(picker('plugins:\n  - type: kv-cach\n'))
    } catch (error) {
      if (error instanceof AggregateConfigurationError) told = error.toString()
    }
    expect(told).toBe('unknown plugin type `kv-cach`; did you mean `kv-cache-utilization-scorer`? (c.yaml:4:11)\n  Use the nearest plugin type named in the message, or load yours with --plugins. [config-unknown-plugin]')
  })
})

describe('types', () => {
  it('known from llm-d that are not built are told from mistyped ones', () => {
    const known = { knownTypes: ['lora-affinity-scorer'] }
    expect(errorsOf(picker('plugins:\n  - type: lora-affinity-scorer\n'), known)).toEqual(['config-plugin-not-built: plugin type `lora-affinity-scorer` is known from llm-d but not built (c.yaml:4:11)'])
    expect(errorsOf(picker('plugins:\n  - type: lora-affinity-scorr\n'), known)).toEqual(['config-unknown-plugin: unknown plugin type `lora-affinity-scorr`; did you mean `lora-affinity-scorer`? (c.yaml:4:11)'])
  })

  it('that are alpha need leave', () => {
    const types = { pluginTypes: [...SAMPLE_TYPES, sampleType({ type: 'new-filter', kinds: ['filter'], stability: 'alpha' })] }
    expect(errorsOf(picker('plugins:\n  - type: new-filter\n'), types)).toEqual(['config-experimental: plugin type `new-filter` is experimental (alpha) (c.yaml:4:11)'])
    expect(errorsOf(picker('plugins:\n  - type: new-filter\n'), { ...types, allowExperimental: true })).toEqual([])
  })

  it('that are deprecated warn with their replacement', () => {
    const old = sampleType({ type: 'by-label', kinds: ['filter'], deprecated: { since: 'v0.9', removal: 'v0.11', replacement: 'label-selector-filter' } })
    expect(warningsOf(picker('plugins:\n  - type: by-label\n'), { pluginTypes: [...SAMPLE_TYPES, old] })).toEqual([
      'plugin type `by-label` is deprecated since v0.9 and goes in v0.11; use `label-selector-filter` (c.yaml:4:11)',
    ])
  })

  it('must bear the methods of the kinds that they claim', () => {
    const liar = { ...sampleType({ type: 'liar', kinds: ['filter'] }), kinds: ['filter', 'scorer'] as const }
    expect(errorsOf(picker('plugins:\n  - type: liar\n'), { pluginTypes: [...SAMPLE_TYPES, liar] })).toEqual(['config-invalid: plugin type `liar` says it is a scorer but has not the methods of one (c.yaml:4:11)'])
  })

  it('must not share a name', () => {
    const twice = sampleType({ type: 'queue-scorer', kinds: ['scorer'] })
    expect(errorsOf('', { pluginTypes: [...SAMPLE_TYPES, twice] })).toEqual(['config-duplicate: there are two plugin types `queue-scorer`'])
  })

  it('that are injected but not there are told with the reason', () => {
    const without = SAMPLE_TYPES.filter(({ type }) => type !== 'token-producer')
    expect(errorsOf('', { pluginTypes: without, knownTypes: ['token-producer'] })).toEqual([
      'config-plugin-not-built: plugin type `token-producer` is known from llm-d but not built (added: `approx-prefix-cache-producer` requires TokenizedPrompt/token-producer)',
    ])
  })
})

describe('warnings', () => {
  it.each([
    ['the old apiVersion', 'apiVersion: inference.networking.x-k8s.io/v1alpha1\nkind: EndpointPickerConfig\n', 'apiVersion `inference.networking.x-k8s.io/v1alpha1` is deprecated; use `llm-d.ai/v1alpha1` (c.yaml:1:13)'],
    ['the old place of the detector', picker('saturationDetector: {pluginRef: utilization-detector}\n'), 'saturationDetector is deprecated; use flowControl.saturationDetector (c.yaml:3:21)'],
    ['the old place of the parser', picker('parser: {pluginRef: openai-parser}\n'), 'parser is deprecated; use requestHandler.parsers (c.yaml:3:9)'],
    ['flow control that is off', picker('flowControl: {maxRequests: 5k, enableEviction: true}\n'), 'flowControl has no effect but for its saturationDetector while the feature gate `flowControl` is off (given: maxRequests, enableEviction) (c.yaml:3:14)'],
    ['a weight without effect', picker(`${PLUGINS}schedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: decode-filter\n        weight: 2\n`), 'the weight of `decode-filter` has no effect: it is no scorer (c.yaml:11:17)'],
    ['no data source', picker('dataLayer: {injectDefaults: false}\nplugins:\n  - type: decode-filter\n'), 'there is no data source: endpoints have no metrics unless something reports them'],
    ['a producer that nobody reads', picker('plugins:\n  - name: mine\n    type: approx-prefix-cache-producer\n  - type: prefix-cache-scorer\n'), '`prefix-cache-scorer` does not read `mine` but the producer `approx-prefix-cache-producer`, which is added: name the producer in its parameters, if it should (c.yaml:6:5)'],
  ])('%s', (_, text, warning) => {
    expect(warningsOf(text)).toEqual([warning])
  })

  it('none for a detector while flow control is off', () => {
    expect(warningsOf(picker('flowControl:\n  saturationDetector: {pluginRef: utilization-detector}\n'))).toEqual([])
  })
})
