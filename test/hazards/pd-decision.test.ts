import { expect } from 'vitest'
import { fromProducer, PREFIX_CACHE_MATCH_INFO, UNCACHED_REQUEST_TOKENS, type PrefixCacheMatchInfo } from '../../src/core/attribute.ts'
import type { Filter } from '../../src/core/contract.ts'
import { byLabel } from '../../src/plugins/filter/by-label/index.ts'
import { decodeFilter } from '../../src/plugins/filter/decode-filter/index.ts'
import { prefillFilter } from '../../src/plugins/filter/prefill-filter/index.ts'
import { prefixCacheAffinityFilter } from '../../src/plugins/filter/prefix-cache-affinity-filter/index.ts'
import { labelSelectorFilter } from '../../src/plugins/filter/label-selector-filter/index.ts'
import { prefixBasedPdDecider, type PrefixBasedPdDecider } from '../../src/plugins/decider/prefix-based-pd-decider/index.ts'
import { inflightLoadProducer, type InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { disaggregated } from '../story/configuration.ts'
import { joined, received } from '../story/inputs.ts'
import { World } from '../story/world.ts'
import { Desk, endpoint, make, request } from '../unit/plugins/given.ts'
import hazards from './cases/pd-decision.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const info = (matchBlocks: number, totalBlocks: number, blockSizeTokens: number): PrefixCacheMatchInfo => ({ matchBlocks, totalBlocks, blockSizeTokens, cachedBlockCount: matchBlocks })

checkHazards('hazards of the prefill decision', hazards.cases, {
  'BUG-085': () => {
    const desk = new Desk()
    const decider = make<PrefixBasedPdDecider>(prefixBasedPdDecider, { promptTokens: 100, nonCachedTokens: 10 }, desk)
    const e = endpoint('e')
    desk.writer(PREFIX_CACHE_MATCH_INFO).put(e, info(0, 2, 64))
    expect([99, 100].map((tokens) => decider.runs(request({ tokens }), e))).toEqual([false, true])
    expect(decider.explain(request({ tokens: 99 }), e)).toBe('99 tokens < 100 (promptTokens)')
    expect(decider.explain(request({ tokens: 100 }), e)).toBe('100 tokens, 0 cached, 100 left >= 10')
  },
  'BUG-087': () => {
    const empty = new World(disaggregated())
    const { decision } = empty.request(received('r'))
    expect(decision.rejection?.status).toBe(503)
    const onlyPrefill = new World(disaggregated()).take(joined('p', 'prefill'))
    const { decision: refused } = onlyPrefill.request(received('r'))
    expect(refused.rejection?.message).toContain('failed to find available decode workers')
    expect(refused.rejection?.status).toBe(429)
    expect(onlyPrefill.inFlight()).toEqual({})
  },
  'BUG-100': () => {
    const uncached = (tokens: number, given: PrefixCacheMatchInfo | undefined, key = 'precise'): number | undefined => {
      const desk = new Desk()
      const one = make<InFlightLoadProducer>(inflightLoadProducer, { prefixMatchInfoProducerName: 'precise' }, desk)
      const e = endpoint('e')
      if (given !== undefined) desk.writer(fromProducer(PREFIX_CACHE_MATCH_INFO, key)).put(e, given)
      one.produce(request({ tokens }), [e])
      return desk.reader(UNCACHED_REQUEST_TOKENS).get(e)?.tokens
    }
    expect(uncached(5, info(1, 2, 4))).toBe(4)
    expect(uncached(5, info(1, 2, 4), 'another')).toBe(5)
    expect(uncached(20, info(1, 2, 4))).toBe(16)
    expect(uncached(5, info(1, 2, 0))).toBe(5)
    expect(uncached(8, info(3, 2, 4))).toBe(0)
  },
  'BUG-110': () => {
    const [head, worker, unlabelled] = [
      endpoint('head', { labels: new Map([['pod-group-index', '0'], ['llm-d.ai/role', 'decode']]) }),
      endpoint('worker', { labels: new Map([['pod-group-index', '1'], ['llm-d.ai/role', 'decode']]) }),
      endpoint('unlabelled'),
    ]
    const all = [head, worker, unlabelled]
    const kept = (filter: Filter) => filter.filter(request(), all)
    expect(kept(make(labelSelectorFilter, { matchLabels: { 'pod-group-index': '0' } }))).toEqual([head])
    expect(kept(make(decodeFilter))).toEqual(all)
    expect(kept(make(prefillFilter))).toEqual([])
    expect(kept(make(byLabel, { label: 'llm-d.ai/role', validValues: ['decode'] }))).toEqual([head, worker])
    expect(kept(make(byLabel, { label: 'llm-d.ai/role', validValues: ['decode'], allowsNoLabel: true }))).toEqual(all)
  },
  'BUG-115': () => {
    const kept = (affinityThreshold: number, ...matches: readonly (readonly [number, number])[]): number[] => {
      const desk = new Desk()
      const filter = make<Filter>(prefixCacheAffinityFilter, { affinityThreshold, maxTTFTPenaltyMs: 0 }, desk)
      const candidates = matches.map(([match, total]) => {
        const e = endpoint('e')
        desk.writer(PREFIX_CACHE_MATCH_INFO).put(e, info(match, total, 64))
        return e
      })
      return filter.filter(request(), candidates).map((e) => candidates.indexOf(e))
    }
    expect(kept(0.8, [0, 0], [4, 5])).toEqual([1])
    expect(kept(0.8, [8, 10], [0, 10])).toEqual([0])
    expect(kept(0.8, [0, 0])).toEqual([0])
    expect(kept(0, [0, 0], [5, 5])).toEqual([0, 1])
  },
})
