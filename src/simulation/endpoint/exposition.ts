import type { Histogram } from './histogram.ts'

/** The engines whose exposition an endpoint can show. */
export const ENGINES = ['vllm', 'sglang', 'trtllm-serve', 'triton-tensorrt-llm', 'triton'] as const
export type Engine = (typeof ENGINES)[number]

/** What an endpoint measures of itself; times are seconds of the wall clock. */
export interface Measurements {
  readonly model: string
  readonly running: number
  readonly waiting: number
  /** Share of KV blocks in use, 0 to 1. */
  readonly kvUsage: number
  readonly blockTokens: number
  readonly blockCount: number
  readonly loraMax: number
  readonly runningLoras: readonly string[]
  readonly waitingLoras: readonly string[]
  /** Seconds since 1970, the value of the LoRA series. */
  readonly nowSeconds: number
  readonly promptTokens: number
  readonly generationTokens: number
  /** Prompt tokens looked up in the prefix cache, and found there. */
  readonly cacheQueries: number
  readonly cacheHits: number
  readonly finished: number
  readonly aborted: number
  readonly executed: number
  /** Requests that wait for KV blocks before their prefill, and before their decode takes over from a prefill elsewhere. */
  readonly prefillPrealloc: number
  readonly decodePrealloc: number
  /** Tokens per second over the last few seconds. */
  readonly generationRate: number
  readonly firstToken: Histogram
  readonly tokenInterval: Histogram
  readonly requestTime: Histogram
  readonly queueTime: Histogram
  readonly prefillTime: Histogram
}

/** The text of `/metrics` in the names of an engine. */
export function exposition(engine: Engine, values: Measurements): string {
  switch (engine) {
    case 'vllm':
      return vllm(values)
    case 'sglang':
      return sglang(values)
    case 'trtllm-serve':
      return trtllm(values)
    case 'triton-tensorrt-llm':
      return tritonTrtllm(values)
    case 'triton':
      return triton(values)
  }
}

class Families {
  readonly #lines: string[] = []

  add(type: 'gauge' | 'counter', name: string, value: number, labels = '', family: string = name): this {
    this.header(type, family)
    return this.sample(name, value, labels)
  }

  header(type: 'gauge' | 'counter' | 'histogram', family: string): this {
    this.#lines.push(`# HELP ${family} ${family.replace(/[:_]/g, ' ')}`, `# TYPE ${family} ${type}`)
    return this
  }

  sample(name: string, value: number, labels = ''): this {
    this.#lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
    return this
  }

  histogram(name: string, histogram: Histogram, labels = ''): this {
    this.header('histogram', name)
    this.#lines.push(...histogram.lines(name, labels))
    return this
  }

  text(): string {
    return this.#lines.join('\n') + '\n'
  }
}

function vllm(v: Measurements): string {
  const labels = `engine="0",model_name="${escapeLabel(v.model)}"`
  const loras = `max_lora="${v.loraMax}",running_lora_adapters="${list(v.runningLoras)}",waiting_lora_adapters="${list(v.waitingLoras)}"`
  return new Families()
    .add('gauge', 'vllm:num_requests_running', v.running, labels)
    .add('gauge', 'vllm:num_requests_waiting', v.waiting, labels)
    .add('gauge', 'vllm:kv_cache_usage_perc', v.kvUsage, labels)
    .add('gauge', 'vllm:cache_config_info', 1, `block_size="${v.blockTokens}",enable_prefix_caching="True",engine="0",num_gpu_blocks="${v.blockCount}"`)
    .add('gauge', 'vllm:lora_requests_info', v.nowSeconds, loras)
    .add('counter', 'vllm:num_preemptions_total', 0, labels, 'vllm:num_preemptions')
    .add('counter', 'vllm:prefix_cache_queries_total', v.cacheQueries, labels, 'vllm:prefix_cache_queries')
    .add('counter', 'vllm:prefix_cache_hits_total', v.cacheHits, labels, 'vllm:prefix_cache_hits')
    .add('counter', 'vllm:prompt_tokens_total', v.promptTokens, labels, 'vllm:prompt_tokens')
    .add('counter', 'vllm:generation_tokens_total', v.generationTokens, labels, 'vllm:generation_tokens')
    .add('gauge', 'vllm:avg_generation_throughput_toks_per_s', v.generationRate, labels)
    .header('counter', 'vllm:request_success')
    .sample('vllm:request_success_total', v.finished, `${labels},finished_reason="length"`)
    .sample('vllm:request_success_total', v.aborted, `${labels},finished_reason="abort"`)
    .histogram('vllm:time_to_first_token_seconds', v.firstToken, labels)
    .histogram('vllm:inter_token_latency_seconds', v.tokenInterval, labels)
    .histogram('vllm:e2e_request_latency_seconds', v.requestTime, labels)
    .histogram('vllm:request_queue_time_seconds', v.queueTime, labels)
    .histogram('vllm:request_prefill_time_seconds', v.prefillTime, labels)
    .text()
}

function sglang(v: Measurements): string {
  const labels = `model_name="${escapeLabel(v.model)}"`
  return new Families()
    .add('gauge', 'sglang:num_queue_reqs', v.waiting, labels)
    .add('gauge', 'sglang:num_running_reqs', v.running, labels)
    .add('gauge', 'sglang:token_usage', v.kvUsage, labels)
    .add('gauge', 'sglang:cache_config_info', 1, `page_size="${v.blockTokens}",num_pages="${v.blockCount}"`)
    .add('gauge', 'sglang:gen_throughput', v.generationRate, labels)
    .add('gauge', 'sglang:num_prefill_prealloc_queue_reqs', v.prefillPrealloc, labels)
    .add('gauge', 'sglang:num_decode_prealloc_queue_reqs', v.decodePrealloc, labels)
    .add('counter', 'sglang:prompt_tokens_total', v.promptTokens, labels)
    .add('counter', 'sglang:generation_tokens_total', v.generationTokens, labels)
    .add('counter', 'sglang:num_requests_total', v.finished, labels)
    .histogram('sglang:time_to_first_token_seconds', v.firstToken, labels)
    .text()
}

function trtllm(v: Measurements): string {
  const labels = `model_name="${escapeLabel(v.model)}",engine_type="trtllm"`
  return new Families()
    .add('gauge', 'trtllm_num_requests_waiting', v.waiting, labels)
    .add('gauge', 'trtllm_num_requests_running', v.running, labels)
    .add('gauge', 'trtllm_kv_cache_utilization', v.kvUsage, labels)
    .add('gauge', 'trtllm_kv_cache_tokens_per_block', v.blockTokens, labels)
    .add('gauge', 'trtllm_kv_cache_max_blocks', v.blockCount, labels)
    .add('counter', 'trtllm_request_success_total', v.finished, labels)
    .histogram('trtllm_time_to_first_token_seconds', v.firstToken, labels)
    .text()
}

function tritonTrtllm(v: Measurements): string {
  const labels = (kind: string, value: string): string => `model="tensorrt_llm",${kind}="${value}",version="1"`
  return new Families()
    .header('gauge', 'nv_trt_llm_request_metrics')
    .sample('nv_trt_llm_request_metrics', v.waiting, labels('request_type', 'waiting'))
    .sample('nv_trt_llm_request_metrics', v.running, labels('request_type', 'scheduled'))
    .sample('nv_trt_llm_request_metrics', v.running + v.waiting, labels('request_type', 'active'))
    .header('gauge', 'nv_trt_llm_kv_cache_block_metrics')
    .sample('nv_trt_llm_kv_cache_block_metrics', v.kvUsage, labels('kv_cache_block_type', 'fraction'))
    .sample('nv_trt_llm_kv_cache_block_metrics', v.blockTokens, labels('kv_cache_block_type', 'tokens_per'))
    .sample('nv_trt_llm_kv_cache_block_metrics', v.blockCount, labels('kv_cache_block_type', 'max'))
    .text()
}

function triton(v: Measurements): string {
  const labels = `model="${escapeLabel(v.model)}",version="1"`
  return new Families()
    .add('gauge', 'nv_inference_pending_request_count', v.waiting, labels)
    .add('counter', 'nv_inference_exec_count', v.executed, labels)
    .add('counter', 'nv_inference_request_success', v.finished, labels)
    .text()
}

function list(names: readonly string[]): string {
  return escapeLabel(names.join(','))
}

/** A label value as the text format wants it. */
function escapeLabel(value: string): string {
  return value.replace(/\\/g, '\\\\').replace(/"/g, '\\"').replace(/\n/g, '\\n')
}
