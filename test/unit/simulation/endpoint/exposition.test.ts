import { describe, expect, it } from 'vitest'
import { ENGINES, exposition } from '../../../../src/simulation/endpoint/exposition.ts'
import type { Engine, Measurements } from '../../../../src/simulation/endpoint/exposition.ts'
import { Histogram } from '../../../../src/simulation/endpoint/histogram.ts'

const histogram = (): Histogram => new Histogram([0.1, 1])

function measured(change: Partial<Measurements> = {}): Measurements {
  return {
    model: 'm', running: 3, waiting: 5, kvUsage: 0.25, blockTokens: 16, blockCount: 4096, loraMax: 2,
    runningLoras: ['a', 'b'], waitingLoras: ['c'], nowSeconds: 1_700_000_000.5, promptTokens: 100, generationTokens: 200,
    cacheQueries: 90, cacheHits: 30, finished: 7, aborted: 1, executed: 11, prefillPrealloc: 2, decodePrealloc: 4, generationRate: 12.5,
    firstToken: histogram(), tokenInterval: histogram(), requestTime: histogram(), queueTime: histogram(), prefillTime: histogram(),
    ...change,
  }
}

interface Series {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/** A strict reader of the text format: every line is a comment or a sample, and every sample has a declared family. */
function parse(text: string): Series[] {
  expect(text.endsWith('\n')).toBe(true)
  const families = new Map<string, string>()
  const series: Series[] = []
  for (const line of text.slice(0, -1).split('\n')) {
    const type = /^# TYPE (\S+) (gauge|counter|histogram)$/.exec(line)
    if (type !== null) families.set(type[1] as string, type[2] as string)
    if (line.startsWith('#')) continue
    const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (sample === null) throw new Error(`no sample: ${line}`)
    const [, name = '', inside = '', value = ''] = sample
    const family = [name, name.replace(/_(total|bucket|sum|count)$/, '')].find((candidate) => families.has(candidate))
    expect(family, line).toBeDefined()
    const labels = Object.fromEntries([...inside.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map((match) => [match[1] as string, (match[2] as string).replace(/\\(["\\])/g, '$1')]))
    series.push({ name, labels, value: Number(value) })
  }
  return series
}

function valueOf(series: readonly Series[], name: string, labels: Readonly<Record<string, string>> = {}): number | undefined {
  return series.find((one) => one.name === name && Object.entries(labels).every(([label, value]) => one.labels[label] === value))?.value
}

/** Where each engine shows waiting, running, KV usage, tokens in a block and number of blocks. */
const NAMES: Readonly<Record<Engine, (series: Series[]) => (number | string | undefined)[]>> = {
  vllm: (s) => [valueOf(s, 'vllm:num_requests_waiting'), valueOf(s, 'vllm:num_requests_running'), valueOf(s, 'vllm:kv_cache_usage_perc'), ...labelsOf(s, 'vllm:cache_config_info', ['block_size', 'num_gpu_blocks'])],
  sglang: (s) => [valueOf(s, 'sglang:num_queue_reqs'), valueOf(s, 'sglang:num_running_reqs'), valueOf(s, 'sglang:token_usage'), ...labelsOf(s, 'sglang:cache_config_info', ['page_size', 'num_pages'])],
  'trtllm-serve': (s) => ['trtllm_num_requests_waiting', 'trtllm_num_requests_running', 'trtllm_kv_cache_utilization', 'trtllm_kv_cache_tokens_per_block', 'trtllm_kv_cache_max_blocks'].map((name) => valueOf(s, name)),
  'triton-tensorrt-llm': (s) => [
    valueOf(s, 'nv_trt_llm_request_metrics', { request_type: 'waiting' }), valueOf(s, 'nv_trt_llm_request_metrics', { request_type: 'scheduled' }),
    ...['fraction', 'tokens_per', 'max'].map((kind) => valueOf(s, 'nv_trt_llm_kv_cache_block_metrics', { kv_cache_block_type: kind })),
  ],
  triton: (s) => [valueOf(s, 'nv_inference_pending_request_count'), valueOf(s, 'nv_inference_exec_count')],
}

function labelsOf(series: readonly Series[], name: string, labels: readonly string[]): (string | undefined)[] {
  const found = series.find((one) => one.name === name)
  return labels.map((label) => found?.labels[label])
}

const EXPECTED: Readonly<Record<Engine, readonly (number | string)[]>> = {
  vllm: [5, 3, 0.25, '16', '4096'],
  sglang: [5, 3, 0.25, '16', '4096'],
  'trtllm-serve': [5, 3, 0.25, 16, 4096],
  'triton-tensorrt-llm': [5, 3, 0.25, 16, 4096],
  triton: [5, 11],
}

describe('exposition', () => {
  it.each(ENGINES)('reads back in the names of %s', (engine) => {
    expect(NAMES[engine](parse(exposition(engine, measured())))).toEqual(EXPECTED[engine])
  })

  it('shows adapters, prefix cache and token counters of vllm', () => {
    const series = parse(exposition('vllm', measured()))
    expect(labelsOf(series, 'vllm:lora_requests_info', ['max_lora', 'running_lora_adapters', 'waiting_lora_adapters'])).toEqual(['2', 'a,b', 'c'])
    expect(valueOf(series, 'vllm:lora_requests_info')).toBe(1_700_000_000.5)
    expect(valueOf(series, 'vllm:prefix_cache_queries_total')).toBe(90)
    expect(valueOf(series, 'vllm:prefix_cache_hits_total')).toBe(30)
    expect(valueOf(series, 'vllm:prompt_tokens_total')).toBe(100)
    expect(valueOf(series, 'vllm:generation_tokens_total')).toBe(200)
    expect(valueOf(series, 'vllm:request_success_total', { finished_reason: 'abort' })).toBe(1)
  })

  it('shows the queues for KV blocks of sglang', () => {
    const series = parse(exposition('sglang', measured()))
    expect(['prefill', 'decode'].map((side) => valueOf(series, `sglang:num_${side}_prealloc_queue_reqs`))).toEqual([2, 4])
  })

  it('escapes what label values may hold', () => {
    const series = parse(exposition('vllm', measured({ model: 'a"b\\c' })))
    expect(labelsOf(series, 'vllm:num_requests_running', ['model_name'])).toEqual(['a"b\\c'])
  })

  it('shows histograms as cumulative buckets', () => {
    const firstToken = histogram()
    for (const value of [0.05, 0.1, 0.5, 3]) firstToken.observe(value)
    const series = parse(exposition('vllm', measured({ firstToken })))
    const bucket = (le: string): number | undefined => valueOf(series, 'vllm:time_to_first_token_seconds_bucket', { le })
    expect([bucket('0.1'), bucket('1'), bucket('+Inf')]).toEqual([2, 3, 4])
    expect(valueOf(series, 'vllm:time_to_first_token_seconds_sum')).toBeCloseTo(3.65)
    expect(valueOf(series, 'vllm:time_to_first_token_seconds_count')).toBe(4)
  })
})
