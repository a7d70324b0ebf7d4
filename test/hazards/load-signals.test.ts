import { expect } from 'vitest'
import { loadConfiguration } from '../../src/config/load.ts'
import { IN_FLIGHT_LOAD, PREFIX_CACHE_MATCH_INFO, UNCACHED_REQUEST_TOKENS } from '../../src/core/attribute.ts'
import type { CompletedConfiguration } from '../../src/core/configuration.ts'
import type { Filter, Picker, Scorer } from '../../src/core/contract.ts'
import { SeededStream } from '../../src/core/random.ts'
import { concurrencyDetector, type ConcurrencyDetector } from '../../src/plugins/detector/concurrency-detector/index.ts'
import { prefixCacheAffinityFilter } from '../../src/plugins/filter/prefix-cache-affinity-filter/index.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import { maxScorePicker } from '../../src/plugins/picker/max-score-picker/index.ts'
import { weightedRandomPicker } from '../../src/plugins/picker/weighted-random-picker/index.ts'
import { loadAwareScorer, type LoadAwareScorer } from '../../src/plugins/scorer/load-aware-scorer/index.ts'
import { tokenLoadScorer } from '../../src/plugins/scorer/token-load-scorer/index.ts'
import { joined, prompt, received } from '../story/inputs.ts'
import { stages, target, World } from '../story/world.ts'
import { Desk, endpoint, make, request, scores, ScriptedDie } from '../unit/plugins/given.ts'
import hazards from './cases/load-signals.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const configured = (body: string): CompletedConfiguration =>
  loadConfiguration({ texts: [{ file: 'c.yaml', text: `apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n${body}` }], pluginTypes }).completed

const ACTIVE = 'plugins:\n  - type: active-request-scorer\n'

const DISAGGREGATED = `${ACTIVE}  - type: decode-filter
  - type: prefill-filter
  - type: always-disagg-pd-decider
  - type: disagg-profile-handler
    parameters: {deciders: {prefill: always-disagg-pd-decider}}
schedulingProfiles:
  - name: decode
    plugins: [{pluginRef: decode-filter}, {pluginRef: active-request-scorer}]
  - name: prefill
    plugins: [{pluginRef: prefill-filter}, {pluginRef: active-request-scorer}]
`

const counts = (names: readonly string[]): number[] => [...new Set(names)].map((name) => names.filter((one) => one === name).length)

const sticky = (loads: readonly (number | undefined)[], matches: readonly number[]): number[] => {
  const desk = new Desk()
  const filter = make<Filter>(prefixCacheAffinityFilter, { affinityThreshold: 0.8, maxTTFTPenaltyMs: 18_000, peakPrefillThroughput: 15_928 }, desk)
  const candidates = loads.map((tokens, index) => {
    const e = endpoint('e')
    if (tokens !== undefined) desk.writer(IN_FLIGHT_LOAD).put(e, { requests: 1, tokens })
    desk.writer(PREFIX_CACHE_MATCH_INFO).put(e, { matchBlocks: matches[index] ?? 0, totalBlocks: 10, blockSizeTokens: 64, cachedBlockCount: 0 })
    return e
  })
  return filter.filter(request(), candidates).map((e) => candidates.indexOf(e))
}

checkHazards('hazards of load signals', hazards.cases, {
  'BUG-036': () => {
    const world = new World(configured(ACTIVE))
    for (let i = 0; i < 8; i++) world.take(joined(`e${i}`))
    const targets = Array.from({ length: 8 }, (_, i) => target(world.request(received(`r${i}`)).decision))
    expect(new Set(targets).size).toBe(8)
  },
  'BUG-040': () => {
    // Nobody has the prompt, so nobody is sticky and the filter leaves both: load decides.
    expect(sticky([50, 0], [0, 0])).toEqual([0, 1])
    const world = new World(configured(`${ACTIVE}  - type: prefix-cache-affinity-filter\n  - type: prefix-cache-scorer\n`)).take(joined('a'))
    for (let i = 0; i < 50; i++) world.request(received(`r${i}`, { shape: { tokenized: true, prompts: [prompt(64, [], 7)], problem: '' } }))
    world.take(joined('b'))
    expect(target(world.request(received('r', { shape: { tokenized: true, prompts: [prompt(640, [], 99)], problem: '' } })).decision)).toBe('b')
  },
  'BUG-049': () => {
    const saturation = (...loads: readonly (readonly [number, number])[]): number => {
      const desk = new Desk()
      const detector = make<ConcurrencyDetector>(concurrencyDetector, { concurrencyMode: 'hybrid', maxConcurrency: 10, maxTokenConcurrency: 100 }, desk)
      return detector.saturation(loads.map(([requests, tokens]) => {
        const e = endpoint('e')
        desk.writer(IN_FLIGHT_LOAD).put(e, { requests, tokens })
        return e
      }))
    }
    expect([saturation([2, 80]), saturation([9, 10]), saturation([10, 0], [0, 100]), saturation([10, 0], [0, 0])]).toEqual([0.8, 0.9, 1, 0.5])
  },
  'BUG-052': () => {
    for (const threshold of [0, -5]) expect(make<LoadAwareScorer>(loadAwareScorer, { threshold }).threshold).toBe(128)
    for (const queueThresholdTokens of [0, -1]) {
      const desk = new Desk()
      const scorer = make<Scorer>(tokenLoadScorer, { queueThresholdTokens }, desk)
      const loads = [2_097_152, 0, 4_194_304, 9_000_000].map((tokens) => {
        const e = endpoint('e')
        desk.writer(IN_FLIGHT_LOAD).put(e, { requests: 1, tokens })
        desk.writer(UNCACHED_REQUEST_TOKENS).put(e, { tokens: 0 })
        return e
      })
      expect(scores(scorer, loads)).toEqual([0.5, 1, 0, 0])
    }
  },
  'BUG-053': () => {
    expect(sticky([undefined, 10_000_000], [9, 0])).toEqual([0])
    expect(sticky([10_000_000, undefined], [9, 0])).toEqual([0, 1])
  },
  'BUG-057': () => {
    const world = new World(configured(DISAGGREGATED))
    for (const name of ['d0', 'd1', 'd2', 'd3']) world.take(joined(name, 'decode'))
    for (const name of ['p0', 'p1', 'p2', 'p3']) world.take(joined(name, 'prefill'))
    const picked = Array.from({ length: 40 }, (_, i) => stages(world.request(received(`r${i}`)).decision))
    for (const stage of ['decode', 'prefill']) expect(counts(picked.map((one) => one[stage]?.[0] ?? ''))).toEqual([10, 10, 10, 10])
  },
  'BUG-059': () => {
    const endpoints = [endpoint('a'), endpoint('b')]
    const totals = new Float64Array([20, 80])
    const picker = make<Picker>(weightedRandomPicker)
    const highest = 1 - 2 ** -32
    for (const draw of [0, highest]) expect(picker.pick(request(), { endpoints, totals }, new ScriptedDie(draw))).toHaveLength(1)
    const stream = new SeededStream([])
    for (let position = 0; position < 10_000; position++) {
      const picks = picker.pick(request(), { endpoints, totals }, stream.begin(1, 2, position, 1, 'default', 'picker'))
      expect(picks.length === 1 && endpoints.includes(picks[0] ?? endpoint('none'))).toBe(true)
    }
  },
  'BUG-060': () => {
    const endpoints = ['a', 'b', 'c', 'd'].map((name) => endpoint(name))
    const totals = new Float64Array(4).fill(1)
    const picker = make<Picker>(maxScorePicker)
    const thousand = (): string[] => {
      const stream = new SeededStream([])
      return Array.from({ length: 1000 }, (_, position) => picker.pick(request(), { endpoints, totals }, stream.begin(5, 6, position, 1, 'default', 'picker'))[0]?.id ?? '')
    }
    const first = thousand()
    for (const count of counts(first)) expect(Math.abs(count - 250)).toBeLessThanOrEqual(60)
    expect(thousand()).toEqual(first)
  },
})
