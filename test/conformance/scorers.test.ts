import { expect } from 'vitest'
import { IN_FLIGHT_LOAD, keyText, PREFIX_CACHE_MATCH_INFO, UNCACHED_REQUEST_TOKENS } from '../../src/core/attribute.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { Plugin, PluginType, Scorer } from '../../src/core/contract.ts'
import type { InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { inflightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { activeRequestScorer } from '../../src/plugins/scorer/active-request-scorer/index.ts'
import { kvCacheUtilizationScorer } from '../../src/plugins/scorer/kv-cache-utilization-scorer/index.ts'
import { loadAwareScorer } from '../../src/plugins/scorer/load-aware-scorer/index.ts'
import { multiclusterPrefixCacheScorer, prefixCacheScorer, type PrefixCacheScorer } from '../../src/plugins/scorer/prefix-cache-scorer/index.ts'
import { queueScorer } from '../../src/plugins/scorer/queue-scorer/index.ts'
import { runningRequestsSizeScorer } from '../../src/plugins/scorer/running-requests-size-scorer/index.ts'
import { tokenLoadScorer } from '../../src/plugins/scorer/token-load-scorer/index.ts'
import { Desk, endpoint, make, request, scores, step } from '../unit/plugins/given.ts'
import { expectConfigured, matchInfo, parametersOf, type Attribute, type Configured } from './plugin-cases.ts'
import { expectMatch, forEachCase, type Case, type Handler } from './runner.ts'

type Scored = { readonly scores: readonly (number | null)[]; readonly tolerance?: number }

const reported = (type: PluginType, candidates: (input: never) => Endpoint[]): Handler => (vector: Case<unknown, never, Scored>) =>
  expectMatch(scores(make<Scorer>(type, vector.config), candidates(vector.input)), vector.expected.scores, vector.tolerance)

forEachCase('queue-scorer.json', {
  case: reported(queueScorer, ({ waitingQueueSizes }: { waitingQueueSizes: number[] }) =>
    waitingQueueSizes.map((waitingQueueSize) => endpoint('e', { waitingQueueSize }))),
})

forEachCase('running-requests-size-scorer.json', {
  case: reported(runningRequestsSizeScorer, ({ runningRequestsSizes }: { runningRequestsSizes: number[] }) =>
    runningRequestsSizes.map((runningRequestsSize) => endpoint('e', { runningRequestsSize }))),
})

forEachCase('kv-cache-utilization-scorer.json', {
  case: reported(kvCacheUtilizationScorer, ({ endpoints }: { endpoints: { kvCacheUsagePercent: number }[] }) =>
    endpoints.map(({ kvCacheUsagePercent }) => endpoint('e', { kvCacheUsage: kvCacheUsagePercent }))),
})

forEachCase('load-aware-scorer.json', {
  case: reported(loadAwareScorer, ({ waitingQueueSizes }: { waitingQueueSizes: number[] }) =>
    waitingQueueSizes.map((waitingQueueSize) => endpoint('e', { waitingQueueSize }))),
})

type Tokens = number | 'null' | undefined

forEachCase('token-load-scorer.json', {
  case: (vector: Case<object, { endpoints: { inFlightTokens?: Tokens; uncachedRequestTokens?: Tokens }[] }, Scored>) => {
    const desk = new Desk()
    const candidates = vector.input.endpoints.map(({ inFlightTokens, uncachedRequestTokens }) => {
      const made = endpoint('e')
      if (typeof inFlightTokens === 'number') desk.writer(IN_FLIGHT_LOAD).put(made, { requests: 1, tokens: inFlightTokens })
      if (typeof uncachedRequestTokens === 'number') desk.writer(UNCACHED_REQUEST_TOKENS).put(made, { tokens: uncachedRequestTokens })
      return made
    })
    expectMatch(scores(make<Scorer>(tokenLoadScorer, vector.config, desk), candidates), vector.expected.scores, vector.tolerance)
  },
})

forEachCase('active-request-scorer.json', {
  score: (vector: Case<object, { requests: (number | null)[] }, Scored>) => {
    const desk = new Desk()
    const candidates = vector.input.requests.map((requests) => {
      const made = endpoint('e')
      if (requests !== null) desk.writer(IN_FLIGHT_LOAD).put(made, { requests, tokens: 0 })
      return made
    })
    expectMatch(scores(make<Scorer>(activeRequestScorer, vector.config, desk), candidates), vector.expected.scores, vector.tolerance)
  },
  withProducer: (vector: Case<object, { steps: { op: string; endpoint?: string; endOfStream?: boolean }[] }, { afterStep: { requests: Record<string, number>; scores: Record<string, number> }[] }>) => {
    const desk = new Desk()
    const producer = make<InFlightLoadProducer>(inflightLoadProducer, { release: 'llm-d' }, desk)
    const scorer = make<Scorer>(activeRequestScorer, vector.config, desk)
    const endpoints = ['pod-a', 'pod-b'].map((name) => endpoint(name))
    const one = request({ tokens: 4 })
    vector.input.steps.forEach(({ op, endpoint: name, endOfStream }, index) => {
      if (op === 'preRequest') {
        const target = endpoints.filter(({ id }) => id === `default/${name ?? ''}`)
        producer.preRequest(one, { primary: 'default', results: new Map([['default', { endpoints: target }]]) })
      } else producer.responseBody(one, step(false, endOfStream === true))
      const after = vector.expected.afterStep[index]
      const given = scores(scorer, endpoints)
      expectMatch(Object.fromEntries(['pod-a', 'pod-b'].map((pod, at) => [pod, given[at]])), after?.scores)
      expectMatch(Object.fromEntries(['pod-a', 'pod-b'].map((pod) => [pod, producer.requestsOn(`default/${pod}`)])), after?.requests)
    })
  },
  config: (vector: Case<object>) => expect(make<Scorer>(activeRequestScorer, vector.config).typedName.type).toBe('active-request-scorer'),
  typedName: (vector: Case<{ instanceName: string | null }, unknown, object>) =>
    expectMatch(make<Scorer>(activeRequestScorer, undefined, new Desk(), [], vector.config.instanceName ?? undefined).typedName, vector.expected),
  consumes: (vector: Case<object, unknown, { required: string[] }>) =>
    expect(make<Scorer>(activeRequestScorer).consumes?.().required.map(keyText)).toEqual(vector.expected.required),
})

forEachCase('prefix-cache-scorer.json', {
  score: (vector: Case<object, { endpoints: Attribute[] }, Scored & { infoRecords?: number; countLogged?: number }>) => {
    const desk = new Desk()
    const candidates = vector.input.endpoints.map((attribute) => {
      const made = endpoint('e')
      const info = matchInfo(attribute)
      if (info !== undefined) desk.writer(PREFIX_CACHE_MATCH_INFO).put(made, info)
      return made
    })
    expectMatch(scores(make<Scorer>(prefixCacheScorer, vector.config, desk), candidates), vector.expected.scores, vector.tolerance)
    const { infoRecords, countLogged } = vector.expected
    if (infoRecords !== undefined) expect(desk.observations).toHaveLength(infoRecords)
    if (countLogged !== undefined) expect(desk.observations[0]?.value).toBe(countLogged)
  },
  config: (vector: Case<object, { rawJSON: string | null }, Configured>) =>
    expectConfigured(() => make<PrefixCacheScorer>(prefixCacheScorer, parametersOf(vector.input)), vector.expected, (made, settings) => expectMatch(made.settings, settings)),
  consumes: (vector: Case<object, unknown, { required: string[] }>) =>
    expect(make<Scorer>(prefixCacheScorer, vector.config).consumes?.().required.map(keyText)).toEqual(vector.expected.required),
  typedName: (vector: Case<{ factory: string; instanceName: string }, unknown, object>) => {
    const type = [prefixCacheScorer, multiclusterPrefixCacheScorer].find((one) => one.type === vector.config.factory)
    expectMatch(make<Plugin>(type as PluginType, undefined, new Desk(), [], vector.config.instanceName).typedName, vector.expected)
  },
})
