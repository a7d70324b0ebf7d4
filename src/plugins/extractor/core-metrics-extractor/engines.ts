import type { Decoded, Field } from '../../../core/parameters.ts'
import { list, object, ParameterError, text } from '../../../core/parameters.ts'
import { parseMetricSpec, type MetricSpec } from './metric-spec.ts'

/** Where an engine says what; an absent one is not looked for. */
export interface EngineMapping {
  readonly waiting: MetricSpec | undefined
  readonly running: MetricSpec | undefined
  readonly kvUsage: MetricSpec | undefined
  readonly lora: MetricSpec | undefined
  /** Its labels `cacheBlockSizeLabel` and `cacheNumBlocksLabel` hold the numbers. */
  readonly cacheInfo: MetricSpec | undefined
  readonly cacheBlockSizeLabel: string
  readonly cacheNumBlocksLabel: string
  readonly cacheBlockSize: MetricSpec | undefined
  readonly cacheNumBlocks: MetricSpec | undefined
  readonly custom: readonly { readonly attributeKey: string; readonly spec: MetricSpec }[]
  /** As custom, but nothing is wrong where the engine does not tell them; sums and counts of histograms may be among them. */
  readonly added: readonly { readonly attributeKey: string; readonly spec: MetricSpec }[]
}

const ENGINE_FIELDS = {
  name: text(''),
  queuedRequestsSpec: text(''),
  runningRequestsSpec: text(''),
  kvUsageSpec: text(''),
  loraSpec: text(''),
  cacheInfoSpec: text(''),
  cacheBlockSizeLabelName: text(''),
  cacheNumBlocksLabelName: text(''),
  cacheBlockSizeSpec: text(''),
  cacheNumBlocksSpec: text(''),
  customMetrics: list(object({ attributeKey: text(''), metricSpec: text('') })),
}

export type EngineParameters = Decoded<typeof ENGINE_FIELDS>

/** The parameter `engineConfigs`. */
export const engineConfigs: Field<readonly EngineParameters[]> = list(object(ENGINE_FIELDS))

type Known = Partial<EngineParameters> & { readonly name: string }

/** The parameter `addedMetrics`: metrics of known engines besides the usual ones; an engine without one is not at fault. */
export const addedMetrics: Field<readonly AddedMetric[]> = list(object({ engine: text(''), attributeKey: text(''), metricSpec: text('') }))

/** One scalar more of an engine, published under `attributeKey`. */
export interface AddedMetric {
  readonly engine: string
  readonly attributeKey: string
  readonly metricSpec: string
}

/** The engines known without configuration. (llm-d: core-metrics-extractor) */
const KNOWN_ENGINES: readonly Known[] = [
  {
    name: 'vllm',
    queuedRequestsSpec: 'vllm:num_requests_waiting',
    runningRequestsSpec: 'vllm:num_requests_running',
    kvUsageSpec: 'vllm:kv_cache_usage_perc',
    loraSpec: 'vllm:lora_requests_info',
    cacheInfoSpec: 'vllm:cache_config_info',
  },
  {
    name: 'sglang',
    queuedRequestsSpec: 'sglang:num_queue_reqs',
    runningRequestsSpec: 'sglang:num_running_reqs',
    kvUsageSpec: 'sglang:token_usage',
    cacheInfoSpec: 'sglang:cache_config_info',
    cacheBlockSizeLabelName: 'page_size',
    cacheNumBlocksLabelName: 'num_pages',
  },
  {
    name: 'trtllm-serve',
    queuedRequestsSpec: 'trtllm_num_requests_waiting',
    runningRequestsSpec: 'trtllm_num_requests_running',
    kvUsageSpec: 'trtllm_kv_cache_utilization',
    cacheBlockSizeSpec: 'trtllm_kv_cache_tokens_per_block',
    cacheNumBlocksSpec: 'trtllm_kv_cache_max_blocks',
  },
  {
    name: 'triton-tensorrt-llm',
    queuedRequestsSpec: 'nv_trt_llm_request_metrics{request_type=waiting}',
    runningRequestsSpec: 'nv_trt_llm_request_metrics{request_type=scheduled}',
    kvUsageSpec: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=fraction}',
    cacheBlockSizeSpec: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=tokens_per}',
    cacheNumBlocksSpec: 'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type=max}',
  },
  {
    name: 'triton',
    queuedRequestsSpec: 'nv_inference_pending_request_count',
    runningRequestsSpec: 'nv_inference_exec_count',
  },
]

/** The name under which the default engine's mapping is also found; no engine may be called so. */
const RESERVED = 'default'

/** Mappings by engine name: the given ones, and the known ones that they do not replace. */
export const engineMappings = (given: readonly EngineParameters[], added: readonly AddedMetric[] = []): ReadonlyMap<string, EngineMapping> => {
  const mappings = new Map<string, EngineMapping>()
  given.forEach((engine, index) => {
    const path = ['engineConfigs', String(index)]
    if (engine.name === '') throw new ParameterError('engine config name cannot be empty', [...path, 'name'])
    if (engine.name === RESERVED) throw new ParameterError(`engine config name cannot be "${RESERVED}" (reserved)`, [...path, 'name'])
    if (mappings.has(engine.name)) throw new ParameterError(`engine "${engine.name}" is configured twice`, [...path, 'name'])
    mappings.set(engine.name, mappingOf(engine, path, added))
  })
  for (const engine of KNOWN_ENGINES) if (!mappings.has(engine.name)) mappings.set(engine.name, mappingOf(engine, [], added))
  return mappings
}

const mappingOf = (engine: Known, path: readonly string[], added: readonly AddedMetric[]): EngineMapping => {
  const spec = (field: keyof Known): MetricSpec | undefined => parseMetricSpec((engine[field] as string | undefined) ?? '', [...path, field])
  return {
    waiting: spec('queuedRequestsSpec'),
    running: spec('runningRequestsSpec'),
    kvUsage: spec('kvUsageSpec'),
    lora: spec('loraSpec'),
    cacheInfo: spec('cacheInfoSpec'),
    cacheBlockSizeLabel: engine.cacheBlockSizeLabelName || 'block_size',
    cacheNumBlocksLabel: engine.cacheNumBlocksLabelName || 'num_gpu_blocks',
    cacheBlockSize: spec('cacheBlockSizeSpec'),
    cacheNumBlocks: spec('cacheNumBlocksSpec'),
    custom: customOf(engine.customMetrics ?? [], [...path, 'customMetrics']),
    added: customOf(added.filter((metric) => metric.engine === engine.name), ['addedMetrics']),
  }
}

const customOf = (custom: readonly Pick<AddedMetric, 'attributeKey' | 'metricSpec'>[], path: readonly string[]): EngineMapping['custom'] =>
  custom.map(({ attributeKey, metricSpec }, index) => {
    const place = [...path, String(index)]
    const spec = parseMetricSpec(metricSpec, [...place, 'metricSpec'])
    if (attributeKey === '') throw new ParameterError('attributeKey cannot be empty', [...place, 'attributeKey'])
    if (spec === undefined) throw new ParameterError(`custom metric "${attributeKey}": metricSpec cannot be empty`, [...place, 'metricSpec'])
    return { attributeKey, spec }
  })
