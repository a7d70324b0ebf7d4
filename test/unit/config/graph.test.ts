import { describe, expect, it } from 'vitest'
import type { PluginType } from '../../../src/core/contract.ts'
import type { DataKey } from '../../../src/core/attribute.ts'
import { IN_FLIGHT_LOAD, UNCACHED_REQUEST_TOKENS } from '../../../src/core/attribute.ts'
import { graphText } from '../../../src/config/report/graph-text.ts'
import { errorsOf, load, picker } from './loading.ts'
import { SAMPLE_TYPES, sampleType } from './sample-types.ts'

const key = (dataType: string, producer: string, value?: unknown): DataKey<unknown> => ({ dataType, producer, ...(value === undefined ? {} : { value }) })
const withTypes = (...types: readonly PluginType[]): { pluginTypes: readonly PluginType[] } => ({ pluginTypes: [...SAMPLE_TYPES, ...types] })
const plugins = (...types: readonly string[]): string => picker(`plugins:\n${types.map((type) => `  - type: ${type}\n`).join('')}`)

describe('the data graph', () => {
  it('orders producers so that each comes after those whose data it requires, else as configured', () => {
    const types = withTypes(
      sampleType({ type: 'c', kinds: ['producer'], requires: [key('B', 'b')], produces: [key('C', '')] }),
      sampleType({ type: 'z', kinds: ['producer'], produces: [key('Z', '')] }),
      sampleType({ type: 'b', kinds: ['producer'], requires: [key('A', 'a')], produces: [key('B', '')] }),
      sampleType({ type: 'a', kinds: ['producer'], produces: [key('A', '')] }),
    )
    expect(load(plugins('c', 'z', 'b', 'a'), types).completed.producers).toEqual(['z', 'a', 'b', 'c'])
  })

  it('names the circle', () => {
    const types = withTypes(
      sampleType({ type: 'a', kinds: ['producer'], requires: [key('C', 'c')], produces: [key('A', '')] }),
      sampleType({ type: 'b', kinds: ['producer'], requires: [key('A', 'a')], produces: [key('B', '')] }),
      sampleType({ type: 'c', kinds: ['producer'], requires: [key('B', 'b')], produces: [key('C', '')] }),
      sampleType({ type: 'd', kinds: ['scorer'], requires: [key('C', 'c')] }),
    )
    expect(errorsOf(plugins('d', 'a', 'b', 'c'), types)).toEqual(['config-graph: plugins require each other\'s data in a circle: `c` > `b` > `a` > `c` (c.yaml:7:5)'])
    const self = withTypes(sampleType({ type: 'a', kinds: ['producer'], requires: [key('A', 'a')], produces: [key('A', '')] }))
    expect(errorsOf(plugins('a'), self)).toEqual(['config-graph: plugins require each other\'s data in a circle: `a` > `a` (c.yaml:4:5)'])
  })

  it('does not go by optional data, which may go in a circle and may be missing', () => {
    const types = withTypes(
      sampleType({ type: 'a', kinds: ['producer'], wishes: [key('B', 'b'), key('C', 'c')], produces: [key('A', '')] }),
      sampleType({ type: 'b', kinds: ['producer'], requires: [key('A', 'a')], produces: [key('B', '')] }),
    )
    const { completed, graph, warnings } = load(plugins('b', 'a'), types)
    expect(completed.producers).toEqual(['a', 'b'])
    expect(graph.notes).toEqual(['`a` can use C/c, which no plugin produces'])
    expect(warnings).toEqual([])
  })

  it('refuses data that nobody produces and for which there is no default', () => {
    const types = withTypes(sampleType({ type: 'gpu-scorer', kinds: ['scorer'], requires: [key('GPUUtilization', 'dcgm-extractor'), key('Topology', 'topology-extractor')] }))
    expect(errorsOf(plugins('gpu-scorer'), types)).toEqual([
      'config-graph: `gpu-scorer` requires GPUUtilization/dcgm-extractor, which no plugin produces (c.yaml:4:5)',
      'config-graph: `gpu-scorer` requires Topology/topology-extractor, which no plugin produces (c.yaml:4:5)',
    ])
  })

  it('says what would help where data is looked for under a name that gives none', () => {
    const reader = (producer: string): PluginType => sampleType({ type: 'reader', kinds: ['scorer'], requires: [key('PrefixCacheMatchInfoDataKey', producer)] })
    expect(errorsOf(plugins('reader'), withTypes(reader('mine')))).toEqual([
      'config-graph: `reader` requires PrefixCacheMatchInfoDataKey/mine, which no plugin produces; a plugin of type approx-prefix-cache-producer named `mine` would (c.yaml:4:5)',
    ])
    expect(errorsOf(plugins('reader', 'approx-prefix-cache-producer'), withTypes(reader('mine')))).toEqual([
      'config-graph: `reader` requires PrefixCacheMatchInfoDataKey/mine, which no plugin produces; `approx-prefix-cache-producer` produces data of this kind: name it in the parameters of `reader` (c.yaml:4:5)',
    ])
    expect(errorsOf(plugins('reader'), withTypes(reader('utilization-detector')))[0]).toMatch(/`utilization-detector` is a utilization-detector/)
  })

  it('adds one producer for two kinds of data, found by the kind that has a default', () => {
    const producer = sampleType({ type: 'inflight-load-producer', kinds: ['producer'], produces: [IN_FLIGHT_LOAD, UNCACHED_REQUEST_TOKENS] })
    const both = sampleType({ type: 'token-load-scorer', kinds: ['scorer'], requires: [IN_FLIGHT_LOAD, UNCACHED_REQUEST_TOKENS] })
    const onlyTokens = sampleType({ type: 'tokens-scorer', kinds: ['scorer'], requires: [UNCACHED_REQUEST_TOKENS] })
    expect(load(plugins('token-load-scorer'), withTypes(producer, both)).completed.producers).toEqual(['inflight-load-producer'])
    expect(errorsOf(plugins('tokens-scorer'), withTypes(producer, onlyTokens))).toEqual([
      'config-graph: `tokens-scorer` requires UncachedRequestTokensDataKey/inflight-load-producer, which no plugin produces (c.yaml:4:5)',
    ])
  })

  it('keeps a plugin that stands under the default producer\'s name', () => {
    const other = sampleType({ type: 'other-producer', kinds: ['producer'], produces: [key('PrefixCacheMatchInfoDataKey', '')] })
    const { completed } = load(picker('plugins:\n  - type: prefix-cache-scorer\n  - {name: approx-prefix-cache-producer, type: other-producer}\n'), withTypes(other))
    expect(completed.producers).toEqual(['approx-prefix-cache-producer'])
  })

  it('refuses a consumer that acts before its producer', () => {
    const types = withTypes(
      sampleType({ type: 'late', kinds: ['filter'], produces: [key('L', '')] }),
      sampleType({ type: 'early', kinds: ['producer'], requires: [key('L', 'late')] }),
      sampleType({ type: 'policy', kinds: ['flow-control'], requires: [key('P', 'late-producer')] }),
      sampleType({ type: 'late-producer', kinds: ['producer'], produces: [key('P', '')] }),
    )
    expect(errorsOf(plugins('late', 'early'), types)).toEqual(['config-graph: `early` requires L/late before `late` can have produced it (c.yaml:5:5)'])
    expect(errorsOf(plugins('policy', 'late-producer'), types)).toEqual(['config-graph: `policy` requires P/late-producer before `late-producer` can have produced it (c.yaml:4:5)'])
    expect(errorsOf(plugins('utilization-detector', 'late'), types)).toEqual([])
  })

  it('refuses data read as what it is not, where both sides show a sample', () => {
    const writer = sampleType({ type: 'writer', kinds: ['producer'], produces: [key('L', '', { tokens: 0, requests: 0 })] })
    const reader = (value: unknown): PluginType => sampleType({ type: 'reader', kinds: ['scorer'], requires: [key('L', 'writer', value)] })
    expect(errorsOf(plugins('writer', 'reader'), withTypes(writer, reader({ requests: 1, tokens: 1 })))).toEqual([])
    expect(errorsOf(plugins('writer', 'reader'), withTypes(writer, reader(3)))).toEqual(['config-graph: `reader` reads L/writer as number, `writer` writes it as {requests, tokens} (c.yaml:5:5)'])
  })

  it('shows who produces what for whom', () => {
    expect(graphText(load(picker('plugins:\n  - type: queue-scorer\n  - type: prefix-cache-scorer\n'))).split('\n')).toEqual([
      'data: who produces what for whom',
      '├─ core-metrics-extractor',
      '│  └─ WaitingQueueSize/core-metrics-extractor > queue-scorer',
      '├─ token-producer',
      '│  └─ TokenizedPrompt/token-producer > approx-prefix-cache-producer',
      '└─ approx-prefix-cache-producer',
      '   └─ PrefixCacheMatchInfoDataKey/approx-prefix-cache-producer > prefix-cache-scorer',
      'producers run in this order: token-producer, approx-prefix-cache-producer',
    ])
    expect(graphText(load(picker('plugins:\n  - type: random-picker\n')))).toBe('data: who produces what for whom\nproducers run in this order: there are none')
  })
})
