import { HIT_BYTES, RATIO, TURN_SECONDS } from './buckets.ts'

/** A metric that plugins and adapters observe; names stand without the prefix `llm_d_epp_` where they have it. */
export interface CatalogueEntry {
  readonly kind: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  /** Labels that are shown; others that come with an observation are left out. */
  readonly labels: readonly string[]
  readonly bounds?: readonly number[]
  /** Series at most; what comes beyond is not counted. */
  readonly seriesMax?: number
  /** An old name under which it is shown too, without labels. */
  readonly twin?: string
}

const PLUGIN = ['plugin_name', 'plugin_type']
const DECISION = ['model_name', 'decision_type']
const SKIPPED = ['cache_kind', 'reason']
/** The kinds of cache are an engine's words. */
const SKIPPED_SERIES_MAX = 256
const FLOW = ['endpoint_name', 'namespace', 'producer_name', 'fairness_id', 'priority']

/** What is known by name. (llm-d: metrics of the plugins, and ours where llm-d has none) */
export const CATALOGUE: Readonly<Record<string, CatalogueEntry>> = {
  disagg_decision_total: { kind: 'counter', help: '[ALPHA] Decisions by the stages used.', labels: [...PLUGIN, ...DECISION] },
  pd_decision_total: { kind: 'counter', help: '[ALPHA] Decisions on prefill and decode by the stages used.', labels: [...PLUGIN, ...DECISION] },
  llm_d_inference_scheduler_disagg_decision_total: {
    kind: 'counter',
    help: '[ALPHA] [Deprecated: Use llm_d_epp_disagg_decision_total] Decisions by the stages used.',
    labels: DECISION,
  },
  llm_d_inference_scheduler_pd_decision_total: {
    kind: 'counter',
    help: '[ALPHA] [Deprecated: Use llm_d_epp_pd_decision_total] Decisions on prefill and decode by the stages used.',
    labels: DECISION,
  },
  prefix_indexer_size: { kind: 'gauge', help: '[ALPHA] Blocks in the prefix index.', labels: PLUGIN, twin: 'inference_extension_prefix_indexer_size' },
  prefix_indexer_hit_ratio: {
    kind: 'histogram',
    help: '[ALPHA] Share of a prompt found in the prefix index.',
    labels: PLUGIN,
    bounds: RATIO,
    twin: 'inference_extension_prefix_indexer_hit_ratio',
  },
  prefix_indexer_hit_bytes: {
    kind: 'histogram',
    help: '[ALPHA] Bytes of a prompt found in the prefix index.',
    labels: PLUGIN,
    bounds: HIT_BYTES,
    twin: 'inference_extension_prefix_indexer_hit_bytes',
  },
  kv_cache_index_admissions_total: { kind: 'counter', help: '[ALPHA] Blocks that engines told to be stored.', labels: [], twin: 'kvcache_index_admissions_total' },
  kv_cache_index_evictions_total: { kind: 'counter', help: '[ALPHA] Blocks that engines told to be removed, or that were lost to the bound of the index.', labels: [], twin: 'kvcache_index_evictions_total' },
  kv_cache_index_lookup_requests_total: { kind: 'counter', help: '[ALPHA] Requests whose blocks were looked up.', labels: [], twin: 'kvcache_index_lookup_requests_total' },
  kv_cache_index_lookup_hits_total: { kind: 'counter', help: '[ALPHA] Blocks that a lookup found at any endpoint.', labels: [], twin: 'kvcache_index_lookup_hits_total' },
  kv_cache_index_max_pod_hit_count_total: { kind: 'counter', help: '[ALPHA] Blocks that a lookup found at the endpoint that has most.', labels: [], twin: 'kvcache_index_max_pod_hit_count_total' },
  kv_cache_index_lookup_latency_seconds: { kind: 'histogram', help: '[ALPHA] Seconds of a lookup.', labels: [], bounds: TURN_SECONDS, twin: 'kvcache_index_lookup_latency_seconds' },
  kv_cache_events_dedup_removed_hashes_forwarded_total: {
    kind: 'counter', help: '[ALPHA] Removals of blocks from a tier that were the last of as many as there were stores.',
    labels: [], twin: 'kvcache_kvevents_dedup_removed_hashes_forwarded_total',
  },
  kv_cache_events_dedup_removed_hashes_suppressed_total: {
    kind: 'counter', help: '[ALPHA] Removals of blocks from a tier in which they had been stored more often than removed.',
    labels: [], twin: 'kvcache_kvevents_dedup_removed_hashes_suppressed_total',
  },
  kv_cache_events_stores_skipped_total: { kind: 'counter', help: '[ALPHA] Events of stored blocks of which nothing was taken, by kind of cache and reason.', labels: SKIPPED, seriesMax: SKIPPED_SERIES_MAX },
  kv_cache_events_removals_skipped_total: { kind: 'counter', help: '[ALPHA] Events of removed blocks of which nothing was taken, by kind of cache and reason.', labels: SKIPPED, seriesMax: SKIPPED_SERIES_MAX },
  inflight_requests: { kind: 'gauge', help: '[ALPHA] Requests assigned to an endpoint and not released.', labels: FLOW },
  inflight_tokens: { kind: 'gauge', help: '[ALPHA] Tokens of the requests assigned to an endpoint.', labels: FLOW },
  inflight_unmatched_releases_total: { kind: 'counter', help: '[ALPHA] Releases of what was not assigned; nothing was changed by them.', labels: ['producer_name'] },
  missing_prefix_match_info_total: { kind: 'counter', help: '[ALPHA] Endpoints scored without what a prefix producer should have told.', labels: PLUGIN },
  flow_control_stale_endpoints: { kind: 'gauge', help: '[ALPHA] Endpoints whose metrics were too old for the detector.', labels: ['detector'] },
  plugin_errors_total: { kind: 'counter', help: '[ALPHA] Errors thrown by plugins.', labels: ['plugin_name', 'extension_point'] },
  datalayer_poll_errors_total: { kind: 'counter', help: '[ALPHA] Polls of endpoints that failed.', labels: ['source_type'] },
  datalayer_extract_errors_total: { kind: 'counter', help: '[ALPHA] Polls whose answer lacked something wanted.', labels: ['source_type', 'extractor_type'] },
}

/** Where no other bounds are known. */
export const DEFAULT_BOUNDS: readonly number[] = [0.001, 0.01, 0.1, 1, 10, 100, 1000, 10_000]
