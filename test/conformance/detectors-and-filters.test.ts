import { expect } from 'vitest'
import { IN_FLIGHT_LOAD, keyText, LATENCY_PREDICTION_INFO, PREFIX_CACHE_MATCH_INFO } from '../../src/core/attribute.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import { concurrencyDetector, type ConcurrencyDetector } from '../../src/plugins/detector/concurrency-detector/index.ts'
import { PrefixCacheAffinityFilter, prefixCacheAffinityFilter, type AffinityFilterSettings } from '../../src/plugins/filter/prefix-cache-affinity-filter/index.ts'
import { Desk, endpoint, make, request, ScriptedDie } from '../unit/plugins/given.ts'
import { expectConfigured, matchInfo, parametersOf, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, type Case } from './runner.ts'

interface Loaded {
  readonly requests?: number
  readonly tokens?: number
  readonly noMetadata?: boolean
  readonly noAttribute?: boolean
}

const loaded = (given: readonly (Loaded | null)[], desk: Desk): (Endpoint | undefined)[] =>
  given.map((load) => {
    if (load === null) return undefined
    const made = endpoint('e')
    // Here every endpoint has metadata; one without stands for one that is not measured.
    if (load.noMetadata !== true && load.noAttribute !== true) desk.writer(IN_FLIGHT_LOAD).put(made, { requests: load.requests ?? 0, tokens: load.tokens ?? 0 })
    return made
  })

forEachCase('concurrency-detector.json', {
  config: (vector: Case<object, { rawJSON: string | null }, Configured>) =>
    expectConfigured(() => make<ConcurrencyDetector>(concurrencyDetector, parametersOf(vector.input)), vector.expected, (made, settings) => expectMatch(made.settings, settings)),
  typedName: (vector: Case<object, { instanceName: string }, object>) =>
    expectMatch(make<ConcurrencyDetector>(concurrencyDetector, undefined, new Desk(), [], vector.input.instanceName).typedName, vector.expected),
  saturation: (vector: Case<object, { endpoints: (Loaded | null)[] }, { saturation: number }>) => {
    const desk = new Desk()
    const detector = make<ConcurrencyDetector>(concurrencyDetector, vector.config, desk)
    expectMatch(detector.saturation(loaded(vector.input.endpoints, desk)), vector.expected.saturation, vector.tolerance)
  },
  saturationSteps: (vector: Case<object, { loadsOverTime?: number[]; tokensOverTime?: number[] }, { saturations: number[] }>) => {
    const desk = new Desk()
    const detector = make<ConcurrencyDetector>(concurrencyDetector, vector.config, desk)
    const one = endpoint('e')
    const { loadsOverTime = [], tokensOverTime = [] } = vector.input
    const loads = [...loadsOverTime.map((requests) => ({ requests, tokens: 0 })), ...tokensOverTime.map((tokens) => ({ requests: 1, tokens }))]
    const saturations = loads.map((load) => {
      desk.writer(IN_FLIGHT_LOAD).put(one, load)
      return detector.saturation([one])
    })
    expectMatch(saturations, vector.expected.saturations, vector.tolerance)
  },
  filter: (vector: Case<object, { endpoints: (Loaded | null)[] }, { kept: number[] }>) => {
    const desk = new Desk()
    const detector = make<ConcurrencyDetector>(concurrencyDetector, vector.config, desk)
    const candidates = loaded(vector.input.endpoints, desk)
    expect(detector.filter(request(), candidates).map((kept) => candidates.indexOf(kept))).toEqual(vector.expected.kept)
  },
})

interface Sticky {
  readonly match?: readonly [number, number]
  readonly predictedTtftMs?: number
  readonly inFlightTokens?: number
}

const NO_NAMES = { prefixMatchInfoProducerName: '', latencyPredictionInfoProducerName: '', inFlightLoadProducerName: '' }

forEachCase('prefix-cache-affinity-filter.json', {
  filter: (vector: Case<Omit<AffinityFilterSettings, keyof typeof NO_NAMES>, { endpoints: Sticky[]; randomDraw?: number }, { kept: number[] }>) => {
    const desk = new Desk()
    if (vector.input.randomDraw !== undefined) desk.random = new ScriptedDie(vector.input.randomDraw)
    const filter = new PrefixCacheAffinityFilter('it', { ...vector.config, ...NO_NAMES })
    filter.setup(desk)
    const candidates = vector.input.endpoints.map(({ match, predictedTtftMs, inFlightTokens }) => {
      const made = endpoint('e')
      const info = match === undefined ? undefined : matchInfo([...match, 16])
      if (info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(made, info)
      if (predictedTtftMs !== undefined) desk.writer(LATENCY_PREDICTION_INFO).put(made, { ttftMs: predictedTtftMs, tpotMs: 0 })
      if (inFlightTokens !== undefined) desk.writer(IN_FLIGHT_LOAD).put(made, { requests: 1, tokens: inFlightTokens })
      return made
    })
    expect(filter.filter(request(), candidates).map((kept) => candidates.indexOf(kept))).toEqual(vector.expected.kept)
  },
  consumes: (vector: Case<object, unknown, { requiredContains?: string[]; requiredLacks?: string[] }>) => {
    const keys = make<PrefixCacheAffinityFilter>(prefixCacheAffinityFilter, vector.config).consumes().required.map(keyText)
    expect(keys).toEqual(expect.arrayContaining(vector.expected.requiredContains ?? []))
    for (const lacking of vector.expected.requiredLacks ?? []) expect(keys).not.toContain(lacking)
  },
  config: (vector: Case<object, { rawJSON: string | null }, Configured>) =>
    expectConfigured(() => make<PrefixCacheAffinityFilter>(prefixCacheAffinityFilter, parametersOf(vector.input)), vector.expected, (made, settings) => expectMatch(made.settings, settings)),
})
