import type { CatalogueEntry } from './catalogue.ts'

const POD = ['engine_type', 'gateway_pod', 'model', 'namespace', 'pod', 'role', 'role_replica_index', 'roleset']
const REQUEST = ['gateway_pod', 'model', 'status', 'status_code']
const PHASES = ['routing_time_taken', 'prefill_time_taken', 'kv_transfer_time_taken', 'ttft', 'decode_time_taken']

const buckets = (what: string): CatalogueEntry => ({ kind: 'counter', help: `[ALPHA] Requests by ${what}.`, labels: ['bucket', ...POD] })

/** A series for each slow request: enough to look at, few enough to scrape. */
const SLOW_MAX = 1000

/** What AIBrix's router counts; shown from the first observation on. (AIBrix: gateway metrics) */
export const AIBRIX_CATALOGUE: Readonly<Record<string, CatalogueEntry>> = {
  gateway_prefill_request_success_total: { kind: 'counter', help: '[ALPHA] Prefills that the front door ran and that went well.', labels: REQUEST },
  gateway_prefill_request_fail_total: { kind: 'counter', help: '[ALPHA] Prefills that failed, by what failed: the choice of a pair, the call, the request.', labels: REQUEST },
  gateway_prefill_outstanding_requests: { kind: 'gauge', help: '[ALPHA] Prefills that the front door waits for.', labels: ['gateway_pod'] },
  pd_selected_prefill_pod_total: { kind: 'counter', help: '[ALPHA] Choices of an endpoint for prefill.', labels: POD },
  pd_selected_decode_pod_total: { kind: 'counter', help: '[ALPHA] Choices of an endpoint for decode.', labels: POD },
  gateway_routing_time_bucket_total: buckets('the time from arrival to the start of the prefill'),
  gateway_prefill_time_bucket_total: buckets('the time of the prefill'),
  gateway_kv_transfer_time_bucket_total: buckets('the time from the end of the prefill to the first token'),
  gateway_decode_time_bucket_total: buckets('the time from the first token to the end'),
  gateway_ttft_bucket_total: buckets('the time to the first token of the stream'),
  gateway_tpot_bucket_total: buckets('the time a token after the first'),
  gateway_total_time_bucket_total: buckets('the time from arrival to the end'),
  gateway_first_token_delay_over_1s_total: { kind: 'counter', help: '[ALPHA] Requests whose first token came late, with the time of each phase.', labels: ['gateway_pod', 'model', 'request_id', 'p_bucket', 'c_bucket', ...PHASES], seriesMax: SLOW_MAX },
}
