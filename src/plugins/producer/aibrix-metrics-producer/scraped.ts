/** Names under which the extractor publishes what it reads of these engines, for this producer. */
export const CUSTOM_METRICS = {
  /** Tokens generated a second, as the engine itself says. */
  throughput: 'aibrix_generation_throughput',
  /** Tokens generated so far. */
  generationTokens: 'aibrix_generation_tokens',
  /** Requests completed so far. */
  completed: 'aibrix_completed_requests',
  prefillSeconds: 'aibrix_prefill_seconds_sum',
  prefills: 'aibrix_prefill_seconds_count',
  prefillPrealloc: 'aibrix_prefill_prealloc_queue',
  decodePrealloc: 'aibrix_decode_prealloc_queue',
} as const

/** Where each engine says it. */
export const ENGINE_METRICS: Readonly<Record<string, Readonly<Partial<Record<keyof typeof CUSTOM_METRICS, string>>>>> = {
  vllm: {
    throughput: 'vllm:avg_generation_throughput_toks_per_s',
    generationTokens: 'vllm:generation_tokens_total',
    completed: 'vllm:request_success_total',
    prefillSeconds: 'vllm:request_prefill_time_seconds_sum',
    prefills: 'vllm:request_prefill_time_seconds_count',
  },
  sglang: {
    throughput: 'sglang:gen_throughput',
    generationTokens: 'sglang:generation_tokens_total',
    completed: 'sglang:num_requests_total',
    prefillPrealloc: 'sglang:num_prefill_prealloc_queue_reqs',
    decodePrealloc: 'sglang:num_decode_prealloc_queue_reqs',
  },
  'trtllm-serve': { completed: 'trtllm_request_success_total' },
}
