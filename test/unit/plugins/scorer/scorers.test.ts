import { describe, expect, it } from 'vitest'
import { PREFIX_CACHE_MATCH_INFO } from '../../../../src/core/attribute.ts'
import type { Filter, PluginType, Scorer } from '../../../../src/core/contract.ts'
import type { Endpoint } from '../../../../src/core/endpoint.ts'
import { contextLengthAware } from '../../../../src/plugins/scorer/context-length-aware/index.ts'
import { kvCacheUtilizationScorer } from '../../../../src/plugins/scorer/kv-cache-utilization-scorer/index.ts'
import { loraAffinityScorer } from '../../../../src/plugins/scorer/lora-affinity-scorer/index.ts'
import { noHitLruScorer, type NoHitLruScorer } from '../../../../src/plugins/scorer/no-hit-lru-scorer/index.ts'
import { queueScorer } from '../../../../src/plugins/scorer/queue-scorer/index.ts'
import { runningRequestsSizeScorer } from '../../../../src/plugins/scorer/running-requests-size-scorer/index.ts'
import { context, Desk, endpoint, make, request, scores } from '../given.ts'

describe('scorers that read what endpoints report', () => {
  it('take parameters and ignore them, saying so', () => {
    for (const type of [kvCacheUtilizationScorer, queueScorer, runningRequestsSizeScorer]) {
      const given = context({ threshold: 1 })
      type.create(given)
      expect(given.warnings).toEqual([`${type.type} takes no parameters: those given have no effect`])
    }
  })

  it('require the data that they read', () => {
    const keys = (type: PluginType) => make<Scorer>(type).consumes?.().required.map(({ dataType }) => dataType)
    expect([kvCacheUtilizationScorer, queueScorer, runningRequestsSizeScorer].map(keys)).toEqual([['KVCacheUsagePercent'], ['WaitingQueueSize'], ['RunningRequestsSize']])
  })

  it('write no further than the candidates', () => {
    const out = new Float64Array(3).fill(7)
    make<Scorer>(queueScorer).score(request(), [endpoint('a', { waitingQueueSize: 1 }), endpoint('b', { waitingQueueSize: 3 })], out)
    expect([...out]).toEqual([1, 0, 7])
  })
})

describe('lora-affinity-scorer', () => {
  const models = (...names: string[]): ReadonlyMap<string, number> => new Map(names.map((name) => [name, 1]))

  it('prefers loaded, then room, then loading', () => {
    const candidates = [
      endpoint('loaded', { activeModels: models('x'), maxActiveModels: 1 }),
      endpoint('room', { activeModels: models('y'), waitingModels: models('z'), maxActiveModels: 3 }),
      endpoint('loading', { activeModels: models('y'), waitingModels: models('x'), maxActiveModels: 2 }),
      endpoint('full', { activeModels: models('y', 'z'), maxActiveModels: 2 }),
    ]
    expect(scores(make<Scorer>(loraAffinityScorer), candidates, request({ targetModel: 'x' }))).toEqual([1, 0.8, 0.6, 0])
  })
})

describe('context-length-aware', () => {
  const RANGES = ['0-2048', '2048-8192', '1000-1000', 'x-1', '9-1', undefined]
  const CANDIDATES = RANGES.map((range, index) => endpoint(`e${index}`, { labels: new Map(range === undefined ? [] : [['llm-d.ai/context-length-range', range]]) }))

  it('scores by fit, width and room', () => {
    const given = scores(make<Scorer>(contextLengthAware), CANDIDATES, request({ tokens: 1000 }))
    const inside = 0.3 + 0.7 * (0.7 / (1 + 2048 / 10_000) + (0.3 * 1048) / 2048)
    expect(given).toEqual([inside, 0.3 / (1 + 1048 / 1000), 1, 0, 0, 0.5].map((score) => expect.closeTo(score, 12)))
  })

  it('filters only when told to', () => {
    const kept = (parameters: unknown) => make<Filter>(contextLengthAware, parameters).filter(request({ tokens: 1000 }), CANDIDATES).map((e) => CANDIDATES.indexOf(e))
    expect(kept(undefined)).toEqual([0, 1, 2, 3, 4, 5])
    expect(kept({ enableFiltering: true })).toEqual([0, 2, 5])
  })

  it('needs a label', () => expect(() => make(contextLengthAware, { label: '' })).toThrow("'label' must be specified"))
})

describe('no-hit-lru-scorer', () => {
  const ENDPOINTS = ['a', 'b', 'c'].map((name) => endpoint(name))

  const scorer = (parameters: unknown = undefined): { readonly one: NoHitLruScorer; readonly desk: Desk } => {
    const desk = new Desk()
    return { one: make(noHitLruScorer, parameters, desk), desk }
  }

  const serve = (one: NoHitLruScorer, target: Endpoint, prefill?: Endpoint): number[] => {
    const r = request()
    const given = scores(one, ENDPOINTS, r)
    one.preRequest(r, { primary: 'default', results: new Map([['default', { endpoints: [target] }], ...(prefill === undefined ? [] : [['prefill', { endpoints: [prefill] }] as const])]) })
    return given
  }

  it('ranks never used ones first, then those used longest ago', () => {
    const { one } = scorer()
    const [a, b, c] = ENDPOINTS as [Endpoint, Endpoint, Endpoint]
    expect(serve(one, b)).toEqual([1, 0.5, 0])
    expect(serve(one, a)).toEqual([1, 0, 0.5])
    expect(serve(one, c)).toEqual([0, 0.5, 1])
    expect(serve(one, b, a)).toEqual([0.5, 1, 0])
    expect(serve(one, c)).toEqual([0, 0.5, 1])
  })

  it('is neutral where somebody has the prompt, and does not count such a request', () => {
    const { one, desk } = scorer()
    desk.writer(PREFIX_CACHE_MATCH_INFO).put(ENDPOINTS[1] as Endpoint, { matchBlocks: 1, totalBlocks: 2, blockSizeTokens: 64, cachedBlockCount: 1 })
    expect(serve(one, ENDPOINTS[0] as Endpoint)).toEqual([0.5, 0.5, 0.5])
    expect(new TextDecoder().decode(one.save())).toBe('[]')
  })

  it('gives 1 to the only one', () => expect(scores(scorer().one, [ENDPOINTS[0] as Endpoint])).toEqual([1]))

  it('remembers so many, over a restart too', () => {
    const { one } = scorer({ lruSize: 2 })
    for (const target of ENDPOINTS) serve(one, target)
    const other = scorer({ lruSize: 2 }).one
    other.load(one.save())
    expect(new TextDecoder().decode(other.save())).toBe('["default/b","default/c"]')
    expect(scores(other, ENDPOINTS)).toEqual([1, 0.5, 0])
    expect(() => { other.load(new TextEncoder().encode('{}')) }).toThrow('cannot be read')
  })

  it('warns of what has no effect', () => {
    const given = context({ prefixPluginName: 'x', lruSize: -1 })
    noHitLruScorer.create(given)
    expect(given.warnings).toHaveLength(2)
  })
})
