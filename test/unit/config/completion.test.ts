import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { endpointPickerDocument } from '../../../src/config/endpoint-picker/written.ts'
import { completedYaml } from '../../../src/config/report/completed-yaml.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import { load, picker } from './loading.ts'
import { SAMPLE_TYPES, sampleType } from './sample-types.ts'

const TYPES = { pluginTypes: [...SAMPLE_TYPES, sampleType({ type: 'both', kinds: ['filter', 'scorer'] }), sampleType({ type: 'fcfs-ordering-policy', kinds: ['flow-control'] })] }
const CHOICE = ['queue-scorer', 'kv-cache-utilization-scorer', 'prefix-cache-scorer', 'decode-filter', 'both', 'approx-prefix-cache-producer', 'token-producer', 'always-decider', 'openai-parser', 'metrics-data-source']

interface Case {
  readonly plugins: readonly { readonly name: string; readonly type: string }[]
  readonly handler: boolean
  readonly pickers: readonly string[]
  readonly profiles: readonly { readonly name: string; readonly entries: readonly { readonly at: number; readonly weight: number | undefined }[] }[]
  readonly injectDefaults: boolean
}

const cases: fc.Arbitrary<Case> = fc.record({
  plugins: fc.uniqueArray(fc.record({ name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), type: fc.constantFrom(...CHOICE) }), { selector: ({ name }) => name }),
  handler: fc.boolean(),
  pickers: fc.subarray(['max-score-picker', 'random-picker']),
  profiles: fc.uniqueArray(
    fc.record({ name: fc.constantFrom('decode', 'prefill', 'encode'), entries: fc.array(fc.record({ at: fc.nat({ max: 7 }), weight: fc.option(fc.constantFrom(0, -1, 2.5, 3), { nil: undefined }) })) }),
    { selector: ({ name }) => name, maxLength: 3 },
  ),
  injectDefaults: fc.boolean(),
})

/** Valid: several profiles have a handler, no profile has two pickers, names are unique. */
const documentOf = (given: Case): unknown => {
  const plugins = [...given.plugins.map(({ name, type }) => ({ name, type })), ...given.pickers.slice(0, given.profiles.length === 0 ? 1 : 2).map((type) => ({ type }))]
  const names = given.plugins.map(({ name }) => name)
  const profiles = given.profiles.map(({ name, entries }, index) => ({
    name,
    plugins: [
      ...entries.flatMap(({ at, weight }) => (names[at] === undefined ? [] : [{ pluginRef: names[at], ...(weight === undefined ? {} : { weight }) }])),
      ...(index === 0 && given.pickers[0] !== undefined ? [{ pluginRef: given.pickers[0] }] : []),
    ],
  }))
  const handler = given.handler || profiles.length > 1 ? [{ type: 'pair-handler', parameters: { deciders: {} } }] : []
  return {
    apiVersion: 'llm-d.ai/v1alpha1',
    kind: 'EndpointPickerConfig',
    plugins: [...handler, ...plugins],
    ...(profiles.length === 0 ? {} : { schedulingProfiles: profiles }),
    dataLayer: { injectDefaults: given.injectDefaults || plugins.some(({ type }) => type.startsWith('queue') || type.startsWith('kv')) },
  }
}

const asWritten = (completed: CompletedConfiguration): CompletedConfiguration => ({
  ...completed,
  plugins: completed.plugins.map(({ name, type, parameters }) => ({ name, type, ...(parameters === undefined ? {} : { parameters }) })),
})

describe('a completed configuration', () => {
  it('completes to itself', () => {
    fc.assert(fc.property(cases, (given) => {
      const first = load(stringify(documentOf(given)), TYPES)
      const again = load(completedYaml(first), TYPES)
      expect(again.completed).toEqual(asWritten(first.completed))
      expect([...again.injections]).toEqual([])
      expect(load(stringify(endpointPickerDocument(again.completed)), TYPES).completed).toEqual(again.completed)
    }), { numRuns: 60 })
  })

  it('is the same from YAML and from JSON', () => {
    fc.assert(fc.property(cases, (given) => {
      const document = documentOf(given)
      const fromYaml = load(stringify(document), TYPES)
      const fromJson = load(JSON.stringify(document, undefined, 2), TYPES)
      expect(fromJson.completed).toEqual(fromYaml.completed)
      expect(fromJson.graph).toEqual(fromYaml.graph)
    }), { numRuns: 30 })
  })

  it('is JSON all through', () => {
    fc.assert(fc.property(cases, (given) => {
      const { completed } = load(stringify(documentOf(given)), TYPES)
      expect(JSON.parse(JSON.stringify(completed))).toEqual(completed)
    }), { numRuns: 30 })
  })

  it('says in comments what was added, and nothing where nothing was', () => {
    const first = load(picker('plugins:\n  - type: queue-scorer\n'), TYPES)
    const text = completedYaml(first)
    expect(text).toContain('  - type: max-score-picker # added: no picker\n')
    expect(text).toContain('  - name: default # added: no profile was configured: every filter, scorer and picker is in this one\n')
    expect(text).toContain('      - pluginRef: max-score-picker # added: the profile had no picker\n')
    expect(text).toContain('    - pluginRef: metrics-data-source # added: metrics are read by default\n')
    expect(text).toContain('    pluginRef: utilization-detector # added: the default detector\n')
    expect(text).toContain('    - pluginRef: openai-parser # added: default parser\n')
    expect(completedYaml(load(text, TYPES))).not.toContain('#')
  })

  it('stands a plugin that is filter and scorer once in its profile', () => {
    const { completed } = load(picker('plugins:\n  - type: both\n  - type: decode-filter\n  - type: queue-scorer\nschedulingProfiles:\n  - name: a\n    plugins:\n      - pluginRef: decode-filter\n      - {pluginRef: both, weight: 2}\n      - pluginRef: queue-scorer\n'), TYPES)
    const { schedulingProfiles } = parse(stringify(endpointPickerDocument(completed))) as { schedulingProfiles: { plugins: unknown }[] }
    expect(schedulingProfiles[0]?.plugins).toEqual([{ pluginRef: 'decode-filter' }, { pluginRef: 'both', weight: 2 }, { pluginRef: 'queue-scorer', weight: 1 }, { pluginRef: 'max-score-picker' }])
  })
})
