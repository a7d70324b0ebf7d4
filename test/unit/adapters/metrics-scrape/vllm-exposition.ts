/** What vLLM shows under /metrics, in its names and about its size: 300 lines, most of them histogram buckets. */
export const vllmExposition = ({ waiting = 3, running = 7, kvUsage = 0.1234 }: { waiting?: number; running?: number; kvUsage?: number } = {}): string => {
  const labels = 'engine="0",model_name="meta-llama/Llama-3.1-8B-Instruct"'
  const lines: string[] = []
  const head = (name: string, kind: string): void => void lines.push(`# HELP ${name} ${name.replace(/[:_]/g, ' ')}, as measured by the engine.`, `# TYPE ${name} ${kind}`)
  const one = (kind: 'gauge' | 'counter', name: string, value: number, own = labels): void => {
    head(name, kind)
    lines.push(`${name}{${own}} ${value}`)
  }
  const histogram = (name: string, bounds: readonly number[]): void => {
    head(name, 'histogram')
    bounds.forEach((bound, index) => lines.push(`${name}_bucket{${labels},le="${bound}"} ${index * 11}.0`))
    lines.push(`${name}_bucket{${labels},le="+Inf"} 400.0`, `${name}_count{${labels}} 400.0`, `${name}_sum{${labels}} 187.02934`)
  }
  for (const generation of [0, 1, 2]) one('counter', `python_gc_objects_collected_total_${generation}`, 1234, `generation="${generation}"`)
  one('gauge', 'process_resident_memory_bytes', 6.44530176e9, 'pid="1"')
  one('gauge', 'vllm:num_requests_running', running)
  one('gauge', 'vllm:num_requests_waiting', waiting)
  one('gauge', 'vllm:kv_cache_usage_perc', kvUsage)
  for (const name of ['prefix_cache_queries', 'prefix_cache_hits', 'num_preemptions', 'prompt_tokens', 'generation_tokens']) one('counter', `vllm:${name}_total`, 123456)
  one('gauge', 'vllm:lora_requests_info', 1763900000.5, 'max_lora="4",running_lora_adapters="sql-lora,chat-lora",waiting_lora_adapters="sql-lora"')
  one(
    'gauge',
    'vllm:cache_config_info',
    1,
    'block_size="16",cache_dtype="auto",calculate_kv_scales="False",cpu_kvcache_space_bytes="None",cpu_offload_gb="0",enable_prefix_caching="True",engine="0",gpu_memory_utilization="0.9",is_attention_free="False",num_cpu_blocks="None",num_gpu_blocks="27123",num_gpu_blocks_override="None",prefix_caching_hash_algo="sha256",sliding_window="None",swap_space="4",swap_space_bytes="4294967296"',
  )
  const times = [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560]
  const names = ['time_to_first_token_seconds', 'time_per_output_token_seconds', 'e2e_request_latency_seconds', 'request_queue_time_seconds', 'request_inference_time_seconds']
  for (const name of [...names, 'request_prefill_time_seconds', 'request_decode_time_seconds', 'request_prompt_tokens', 'request_generation_tokens']) histogram(`vllm:${name}`, times)
  return `${lines.join('\n')}\n`
}
