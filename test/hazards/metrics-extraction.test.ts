import { expect } from 'vitest'
import type { Picker, Scorer } from '../../src/core/contract.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import type { MetricFamilies } from '../../src/core/exposition.ts'
import { clamp01, descending } from '../../src/core/numeric.ts'
import { coreMetricsExtractor, type CoreMetricsExtractor } from '../../src/plugins/extractor/core-metrics-extractor/index.ts'
import { maxScorePicker } from '../../src/plugins/picker/max-score-picker/index.ts'
import { kvCacheUtilizationScorer } from '../../src/plugins/scorer/kv-cache-utilization-scorer/index.ts'
import { Chance } from '../../src/scheduling/chance.ts'
import { runProfile } from '../../src/scheduling/run-profile.ts'
import { SlabRing } from '../../src/scheduling/slab.ts'
import { endpoint, make, request } from '../unit/plugins/given.ts'
import hazards from './cases/metrics-extraction.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length <= 1 ? [[...items]] : items.flatMap((item, index) => permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]))

type Series = readonly [name: string, value: number, labels?: Readonly<Record<string, string>>]

const scrape = (...series: readonly Series[]): MetricFamilies => {
  const families = new Map<string, { name: string; kind: 'gauge'; samples: { name: string; labels: ReadonlyMap<string, string>; value: number }[] }>()
  for (const [name, value, labels = {}] of series) {
    const family = families.get(name) ?? { name, kind: 'gauge' as const, samples: [] }
    family.samples.push({ name, labels: new Map(Object.entries(labels)), value })
    families.set(name, family)
  }
  return families
}

const extractor = (parameters: unknown = undefined): CoreMetricsExtractor => make(coreMetricsExtractor, parameters)

const NO_LABELS: ReadonlyMap<string, string> = new Map()

const picked = (candidates: readonly Endpoint[]): Endpoint | undefined => {
  const profile = { name: 'default', filters: [], scorers: [{ scorer: make<Scorer>(kvCacheUtilizationScorer), weight: 1 }], picker: make<Picker>(maxScorePicker) }
  return runProfile(profile, 'decode', request(), candidates, { slabs: new SlabRing(1), chance: new Chance(), now: () => 0 }).picks[0]
}

checkHazards('hazards of metrics', hazards.cases, {
  'BUG-061': () => {
    const usages = [NaN, 0.5, 0.1].map((kvCacheUsage, index) => endpoint(`e${index}`, { kvCacheUsage }))
    for (const order of permutations(usages)) expect(picked(order)?.kvCacheUsage).toBe(0.1)
    expect([-1, 2, Infinity].map((usage) => clamp01(1 - usage))).toEqual([1, 0, 0])
  },
  'BUG-062': () => {
    for (const order of permutations([1, NaN, 3, 2])) expect(order.sort(descending)).toEqual([3, 2, 1, NaN])
  },
  'BUG-063': () => {
    const { fields, problems } = extractor().extract(scrape(['vllm:kv_cache_usage_perc', NaN], ['vllm:num_requests_waiting', 2]), NO_LABELS)
    expect(fields).toEqual({ waitingQueueSize: 2 })
    expect(problems).toContain('metric "vllm:kv_cache_usage_perc" is NaN')
  },
  'BUG-070': () => {
    const customMetrics = ['a', 'b'].flatMap((model) => ['running', 'waiting'].map((kind) => ({ attributeKey: `${kind}/${model}`, metricSpec: `${kind}{model_name="${model}"}` })))
    const own = extractor({ engineConfigs: [{ name: 'vllm', customMetrics }] })
    const read = (waitingOfA: number) =>
      own.extract(scrape(['running', 3, { model_name: 'a' }], ['running', 5, { model_name: 'b' }], ['waiting', waitingOfA, { model_name: 'a' }], ['waiting', 7, { model_name: 'b' }]), NO_LABELS).fields.custom
    expect(read(1)).toEqual(new Map([['running/a', 3], ['waiting/a', 1], ['running/b', 5], ['waiting/b', 7]]))
    expect(read(NaN)).toEqual(new Map([['running/a', 3], ['running/b', 5], ['waiting/b', 7]]))
  },
  'BUG-073': () => {
    const blocks = (labels: Readonly<Record<string, string>>) => {
      const { cacheNumBlocks, cacheBlockSize } = extractor().extract(scrape(['vllm:cache_config_info', 1, labels]), NO_LABELS).fields
      return [cacheNumBlocks, cacheBlockSize]
    }
    for (const num_gpu_blocks of ['0', 'None', '', '-1']) expect(blocks({ num_gpu_blocks, block_size: '4' })).toEqual([0, 4])
    expect(blocks({ block_size: 'None' })).toEqual([0, 0])
  },
  'BUG-082': () => {
    // One time for all fields, as llm-d has it; what a scrape lacks it does not renew, and tells.
    const own = extractor()
    expect(own.extract(scrape(['vllm:num_requests_waiting', 4], ['vllm:kv_cache_usage_perc', 0.2]), NO_LABELS).fields).toEqual({ waitingQueueSize: 4, kvCacheUsage: 0.2 })
    const second = own.extract(scrape(['vllm:num_requests_running', 1], ['vllm:cache_config_info', 1, { num_gpu_blocks: 'None' }]), NO_LABELS)
    expect(second.fields).toEqual({ runningRequestsSize: 1, cacheBlockSize: 0, cacheNumBlocks: 0 })
    expect(second.problems).toContain('label num_gpu_blocks is "None", not a number')
  },
})
