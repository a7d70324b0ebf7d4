import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AggregateConfigurationError } from '../../../src/config/problems.ts'
import { load } from './loading.ts'

const GOOD = `apiVersion: llm-d.ai/v1alpha1
kind: EndpointPickerConfig
featureGates: [haPopulateNonLeaderDatastore=true]
plugins:
  - type: pair-handler
    parameters: {deciders: {prefill: d}}
  - {name: d, type: always-decider}
  - type: prefix-cache-scorer
    parameters: &shared {size: 3}
schedulingProfiles:
  - name: decode
    plugins: [{pluginRef: prefix-cache-scorer, weight: 2}]
dataLayer: {injectDefaults: true}
flowControl: {maxBytes: 1Gi, priorityBands: [{priority: 1}]}
requestHandler: {parsers: [{pluginRef: openai-parser}]}
---
apiVersion: signalbox/v1
kind: SignalboxConfig
listen: :0
objectives: [{name: a, priority: 1}]
`

/** Loads, or is refused with errors that have a message and, where the text has one, a place in it. */
const answers = (text: string): void => {
  const lines = text.split('\n').length
  try {
    load(text)
  } catch (error) {
    if (!(error instanceof AggregateConfigurationError)) throw error
    for (const { message, place } of error.errors) {
      expect(message).not.toBe('')
      if (place?.line !== undefined) expect(place.line).toBeLessThanOrEqual(lines)
    }
  }
}

const json = fc.jsonValue({ maxDepth: 3 })
const FIELDS = ['featureGates', 'plugins', 'schedulingProfiles', 'dataLayer', 'flowControl', 'requestHandler', 'saturationDetector', 'parser', 'name', 'type', 'parameters', 'pluginRef', 'weight', 'sources', 'extractors', 'discovery', 'parsers', 'priorityBands']
const { shaped } = fc.letrec<{ shaped: unknown }>((tie) => ({
  shaped: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    json, fc.constantFrom('queue-scorer', 'pair-handler', 'd', '', null, 0, true),
    fc.array(tie('shaped'), { maxLength: 3 }), fc.dictionary(fc.constantFrom(...FIELDS), tie('shaped'), { maxKeys: 4 }),
  ),
}))

describe('any text at all', () => {
  it('that is a good one loads', () => {
    expect(load(GOOD).completed.profiles).toHaveLength(1)
  })

  it('that is a good one with parts cut out, doubled or replaced is loaded or refused', () => {
    const edit = fc.tuple(fc.nat({ max: GOOD.length }), fc.nat({ max: 12 }), fc.oneof(fc.constant(''), fc.string({ maxLength: 4, unit: 'binary' }), fc.constantFrom('- ', ': ', '\n', '{', '[', '*shared', '&a ', '!x ', '"', '#', '<<: ', '? ', '|\n', '%', '\t')))
    fc.assert(fc.property(fc.array(edit, { minLength: 1, maxLength: 4 }), (edits) => {
      answers(edits.reduce((text, [at, cut, put]) => text.slice(0, at) + put + text.slice(at + cut), GOOD))
    }), { numRuns: 300 })
  })

  it('that is JSON of any shape is loaded or refused', () => {
    fc.assert(fc.property(fc.dictionary(fc.constantFrom(...FIELDS), shaped), (body) => {
      answers(JSON.stringify({ apiVersion: 'llm-d.ai/v1alpha1', kind: 'EndpointPickerConfig', ...body }))
    }), { numRuns: 300 })
  })

  it('whatever it is, is loaded or refused', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), answers), { numRuns: 200 })
  })
})
