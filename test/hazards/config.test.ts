import { describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../src/config/load.ts'
import type { LoadedConfiguration } from '../../src/config/load.ts'
import { AggregateConfigurationError } from '../../src/config/problems.ts'
import type { Plugin, ProfileHandler } from '../../src/core/contract.ts'
import type { ProfileResults } from '../../src/core/request.ts'
import { pluginTypes } from '../../src/plugins/index.ts'
import { joined, received, telemetry } from '../story/inputs.ts'
import { target, types, World } from '../story/world.ts'
import { request } from '../unit/plugins/given.ts'
import hazards from './cases/config.json' with { type: 'json' }

const picker = (body: string): string => `apiVersion: llm-d.ai/v1alpha1\nkind: EndpointPickerConfig\n${body}`
const load = (body: string): LoadedConfiguration => loadConfiguration({ texts: [{ file: 'c.yaml', text: picker(body) }], pluginTypes })
const messagesOf = (body: string): readonly string[] => {
  try {
    load(body)
  } catch (error) {
    if (error instanceof AggregateConfigurationError) return error.errors.map(({ message }) => message)
    throw error
  }
  return []
}
const make = (type: string, parameters?: unknown): Plugin => {
  const found = types.get(type)
  if (found === undefined) throw new Error(`no type ${type}`)
  return found.create({ name: type, parameters, plugin: () => make('always-disagg-pd-decider'), warn: () => undefined })
}

const SCORERS = 'plugins:\n  - type: queue-scorer\n  - type: kv-cache-utilization-scorer\n'
const QUEUE_BUSY = 'a'
const CACHE_FULL = 'b'

/** Where a request goes when `a` has the longer queue and `b` the fuller cache. */
const chosenWith = (queueWeight: string, cacheWeight: string): string => {
  const { completed } = load(`${SCORERS}schedulingProfiles:\n  - name: default\n    plugins:\n      - {pluginRef: queue-scorer${queueWeight}}\n      - {pluginRef: kv-cache-utilization-scorer${cacheWeight}}\n`)
  const world = new World(completed).take(joined(QUEUE_BUSY), joined(CACHE_FULL), telemetry([{ slot: 0, waiting: 9, kv: 0.1 }, { slot: 1, waiting: 0, kv: 0.9 }]))
  return target(world.request(received('r')).decision)
}

/** What each case demands, by its id. */
const checks: ReadonlyMap<string, () => void> = new Map([
  ['BUG-213', () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      ['plugins:\n  - name: nameless\n', /`nameless` has no type/],
      ['plugins:\n  - type: quue-scorer\n', /unknown plugin type `quue-scorer`; did you mean `queue-scorer`/],
      ['plugins:\n  - {name: x, type: queue-scorer}\n  - {name: x, type: random-picker}\n', /two plugins `x`/],
      ['plugins:\n  - type: load-aware-scorer\n    parameters: {threshold: many}\n', /`load-aware-scorer`.*threshold/],
      [`${SCORERS}schedulingProfiles:\n  - plugins: [{pluginRef: queue-scorer}]\n`, /schedulingProfiles\[0\] has no name/],
      [`${SCORERS}schedulingProfiles:\n  - name: p\n    plugins: [{weight: 1}]\n`, /profile `p` has no pluginRef/],
      [`${SCORERS}schedulingProfiles:\n  - name: p\n    plugins: [{pluginRef: nobody}]\n`, /unknown plugin `nobody`/],
      [`${SCORERS}schedulingProfiles:\n  - name: p\n  - name: p\n`, /two profiles `p`/],
      ['plugins:\n  - type: random-picker\n  - type: max-score-picker\nschedulingProfiles:\n  - name: p\n    plugins: [{pluginRef: random-picker}, {pluginRef: max-score-picker}]\n', /`max-score-picker` is a second picker in the profile `p`/],
      ['plugins:\n  - type: single-profile-handler\n  - {name: other, type: single-profile-handler}\n', /`other` is a second profile handler/],
      [`${SCORERS}schedulingProfiles:\n  - name: p\n  - name: q\n`, /no profile handler, and 2 profiles/],
      ['plugins:\n  - type: single-profile-handler\nschedulingProfiles:\n  - name: p\n  - name: q\n', /`single-profile-handler` takes one profile, there are 2: `p`, `q`/],
      ['featureGates: [turbo]\n', /unknown feature gate `turbo`/],
      ['plugins:\n  - {name: a, type: disagg-profile-handler, parameters: {deciders: {prefill: b}}}\n  - {name: b, type: disagg-profile-handler, parameters: {deciders: {prefill: a}}}\n', /circle: `a` > `b` > `a`/],
    ]
    expect(cases).toHaveLength(14)
    for (const [body, told] of cases) expect(messagesOf(body)).toEqual([expect.stringMatching(told)])
  }],
  ['BUG-215', () => {
    const profiles = 'schedulingProfiles:\n  - name: decode\n  - name: prefill\n'
    const { completed } = load(`plugins:\n  - type: disagg-profile-handler\n    parameters: {deciders: {prefill: d}}\n  - name: d\n    type: prefix-based-pd-decider\n${profiles}`)
    expect(completed.plugins.slice(0, 2).map(({ name }) => name)).toEqual(['d', 'disagg-profile-handler'])
    new World(completed)
    expect(messagesOf('plugins:\n  - {name: a, type: disagg-profile-handler, parameters: {deciders: {prefill: a}}}\n')).toEqual([expect.stringMatching(/circle: `a` > `a`/)])
  }],
  ['BUG-216', () => {
    // Without a weight both count the same, and the queue scorer, which goes to its bounds, decides.
    expect(chosenWith('', '')).toBe(CACHE_FULL)
    expect(chosenWith(', weight: 0', ', weight: 1')).toBe(QUEUE_BUSY)
    // A negative weight is taken as it is, as llm-d does: it prefers what the scorer rates low.
    expect(chosenWith(', weight: 0', ', weight: -1')).toBe(CACHE_FULL)
    expect(load(`${SCORERS}schedulingProfiles:\n  - name: p\n    plugins: [{pluginRef: queue-scorer}]\n`).completed.profiles[0]?.scorers).toEqual([{ plugin: 'queue-scorer', weight: 1 }])
  }],
  ['BUG-218', () => {
    const pair = (port: number): string => `plugins:\n  - type: prefix-based-pd-decider\n  - type: pd-profile-handler\n    parameters: {primaryPort: ${String(port)}}\nschedulingProfiles:\n  - name: decode\n  - name: prefill\n`
    expect([0, 1, 65_535].flatMap((port) => messagesOf(pair(port)))).toEqual([])
    for (const port of [-1, 65_536]) expect(messagesOf(pair(port))).toEqual([expect.stringMatching(`primaryPort.*${String(port)}`)])
    expect(messagesOf('plugins:\n  - {type: prefix-based-pd-decider, parameters: {nonCachedTokens: -1}}\n')).toEqual([expect.stringMatching(/nonCachedTokens/)])
    expect(messagesOf('plugins:\n  - {type: approx-prefix-cache-producer, parameters: {autoTune: false, blockSizeTokens: 0}}\n')).toEqual([expect.stringMatching(/BlockSizeTokens must be > 0/)])
  }],
  ['BUG-220', () => {
    expect(messagesOf('plugins:\n  - type: data-parallel-profile-handler\nschedulingProfiles:\n  - name: p\n  - name: q\n')).toEqual([expect.stringMatching(/takes one profile, there are 2: `p`, `q`/)])
    expect((make('data-parallel-profile-handler') as ProfileHandler).pick(request(), [], new Map())).toEqual([])
  }],
  ['BUG-221', () => {
    const names = ['decode', 'prefill', 'encode']
    const handler = make('disagg-profile-handler', { deciders: { prefill: 'd', encode: 'd' } }) as ProfileHandler
    for (const failing of [[], ['decode'], ['prefill'], ['encode'], names]) {
      const results: ProfileResults = new Map()
      let rounds = 0
      for (let next = handler.pick(request(), names, results); next.length > 0; next = handler.pick(request(), names, results)) {
        for (const name of next) results.set(name, failing.includes(name) ? null : { endpoints: [] })
        if (++rounds > names.length) break
      }
      expect(rounds).toBeLessThanOrEqual(names.length)
      expect(handler.pick(request(), names, results)).toEqual([])
    }
  }],
  ['BUG-223', () => {
    const read = (interval: string): LoadedConfiguration =>
      loadConfiguration({ texts: [], pluginTypes, flags: new Map([['refresh-metrics-interval', interval]]) })
    const loaded = ['0s', '1ms', '50ms', '200ms'].map(read)
    expect(loaded.map(({ settings }) => settings.refreshMetricsIntervalMs)).toEqual([50, 50, 50, 200])
    expect(loaded.map(({ warnings }) => warnings.length)).toEqual([1, 1, 0, 0])
  }],
])

describe('hazards of configuration', () => {
  it.each(hazards.cases)('$id: $symptom', ({ id }) => {
    const check = checks.get(id)
    expect(check).toBeDefined()
    check?.()
  })
})
