/** Every plugin type of llm-d's list, built here or not, by what it is. (llm-d: registered plugins) */
const TYPES_BY_GROUP = {
  requests: [
    'disaggregatedset-rollout-screener', 'latency-slo-admitter', 'probabilistic-admitter', 'agent-identity', 'request-attribute-reporter',
    'destination-endpoint-served-verifier',
  ],
  producers: [
    'token-producer', 'tokenizer', 'approx-prefix-cache-producer', 'precise-prefix-cache-producer', 'burst-prefix-cache-producer',
    'inflight-load-producer', 'predicted-latency-producer', 'mm-embeddings-cache-producer', 'session-id-producer', 'p2p-source-producer',
    'multicluster-approx-prefix-cache-producer',
  ],
  filters: [
    'label-selector-filter', 'by-label-selector', 'by-label', 'decode-filter', 'prefill-filter', 'encode-filter', 'session-affinity-filter',
    'multicluster-session-affinity-filter', 'endpoint-attribute-filter', 'topology-affinity-filter', 'utilization-filter',
    'prefix-cache-affinity-filter', 'slo-headroom-tier-filter', 'header-based-testing-filter', 'context-length-aware',
  ],
  'profile handlers and deciders': [
    'single-profile-handler', 'data-parallel-profile-handler', 'header-profile-handler', 'disagg-profile-handler', 'pd-profile-handler',
    'disagg-headers-handler', 'prefill-header-handler', 'always-disagg-pd-decider', 'prefix-based-pd-decider', 'always-disagg-multimodal-decider',
  ],
  scorers: [
    'queue-scorer', 'running-requests-size-scorer', 'kv-cache-utilization-scorer', 'load-aware-scorer', 'prefix-cache-scorer',
    'lora-affinity-scorer', 'active-request-scorer', 'token-load-scorer', 'no-hit-lru-scorer', 'session-affinity-scorer',
    'header-label-affinity-scorer', 'endpoint-attribute-scorer', 'topology-affinity-scorer', 'mm-embeddings-cache-scorer',
    'precise-prefix-cache-scorer', 'latency-scorer', 'multicluster-queue-scorer', 'multicluster-kv-cache-utilization-scorer',
    'multicluster-prefix-cache-scorer',
  ],
  pickers: ['max-score-picker', 'random-picker', 'weighted-random-picker'],
  'data layer': [
    'metrics-data-source', 'core-metrics-extractor', 'models-data-source', 'models-data-extractor', 'dcgm-data-source', 'dcgm-extractor',
    'topology-extractor', 'k8s-notification-source', 'endpoint-notification-source', 'multicluster-metrics-data-source',
    'multicluster-metrics-extractor', 'file-discovery', 'multicluster-file-discovery',
  ],
  'flow control': [
    'global-strict-fairness-policy', 'round-robin-fairness-policy', 'program-aware-fairness', 'fcfs-ordering-policy', 'edf-ordering-policy',
    'slo-deadline-ordering-policy', 'static-usage-limit-policy', 'priority-holdback-policy', 'soft-reflective-ceiling-policy',
    'sheddable-eviction-filter', 'priority-then-time-eviction-order-policy', 'utilization-detector', 'concurrency-detector',
  ],
  parsers: [
    'openai-parser', 'anthropic-parser', 'vllmhttp-parser', 'sglanghttp-parser', 'vllmgrpc-parser', 'vertexai-parser', 'passthrough-parser',
  ],
} as const

export const KNOWN_TYPES: readonly string[] = Object.values(TYPES_BY_GROUP).flat()
