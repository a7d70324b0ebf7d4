import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../../../src/adapters/prometheus/index.ts'
import type { EngineMetrics, LiveSources, MeasuredEffect } from '../../../../src/adapters/prometheus/index.ts'
import { DEFAULT_ENGINE_SETTINGS } from '../../../../src/core/configuration.ts'
import type { CompletedConfiguration } from '../../../../src/core/configuration.ts'
import { Engine } from '../../../../src/engine/engine.ts'
import { engineOptions } from '../../../../src/replay/index.ts'
import { emptyDecision, emptyEndpointInfo, emptyEngineStarted, emptyRequestReceived } from '../../../../src/wire/index.ts'
import type { Decision, Input, RequestReceived } from '../../../../src/wire/index.ts'

const given = (configuredModels: readonly string[] = []): EngineMetrics => createMetrics({ version: { commit: 'abc', buildRef: 'v1' }, configuredModels, ofProcess: false })

/** The samples of one metric, as they are exposed. */
const samples = async (metrics: EngineMetrics, name: string): Promise<string[]> => (await metrics.text()).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))

const started = (): { turn(atUs: number, input: Input['input'], more?: { decisions?: Decision[]; effects?: MeasuredEffect[] }): number; readonly metrics: EngineMetrics } => {
  const metrics = given()
  let position = 0
  return {
    metrics,
    turn: (atUs, input, { decisions = [], effects = [] } = {}) => {
      position += 1
      metrics.turn({ record: { position, atUs, input: { input }, decisions }, effects }, 20)
      return position
    },
  }
}

const arrival = (more: Partial<RequestReceived> = {}): Input['input'] => ({ kind: 'requestReceived', value: { ...emptyRequestReceived(), model: 'm', streaming: true, bodyBytes: 100, ...more } })
const routed = (request: number): MeasuredEffect => ({ kind: 'routed', request, attempt: 1, targetModel: 'm', endpoint: { id: 'default/a', hostPort: '10.0.0.1:8000' } })
const usage = { promptTokens: 40, completionTokens: 11, totalTokens: 51, cachedTokens: 30, reasoningTokens: 0 }
const CONFIGURATION: CompletedConfiguration = {
  featureGates: {},
  plugins: ['max-score-picker', 'single-profile-handler', 'concurrency-detector'].map((type) => ({ name: type, type })),
  profiles: [{ name: 'default', filters: [], scorers: [], picker: 'max-score-picker' }],
  dataLayer: { sources: [] },
  parsers: [],
  saturationDetector: 'concurrency-detector',
  producers: [],
  profileHandler: 'single-profile-handler',
  flowControl: undefined,
  engine: DEFAULT_ENGINE_SETTINGS,
}
const SERIES = 'model_name="m",target_model_name="m",fairness_id="",priority="0"'

describe('a request', () => {
  it('that is served is counted under the names of llm-d', async () => {
    const { metrics, turn } = started()
    const request = turn(1_000_000, arrival(), { decisions: [{ ...emptyDecision(), request: 1, outcome: 'routed', primaryProfile: 'decode' }], effects: [routed(1)] })
    turn(1_000_100, { kind: 'requestSent', value: { request, attempt: 1 } })
    expect(await samples(metrics, 'llm_d_epp_request_running')).toEqual([`llm_d_epp_request_running{${SERIES}} 1`])
    turn(1_500_000, { kind: 'responseStarted', value: { request, attempt: 1, status: 200, streaming: true } })
    turn(2_500_000, { kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', usage, status: 200, bodyBytes: 900 } }, { effects: [{ kind: 'closed', request, outcome: 'completed', cause: 'natural', usage, receivedAt: 1_000_000 }] })
    const text = await metrics.text()
    for (const line of [
      `llm_d_epp_request_total{${SERIES}} 1`,
      `llm_d_epp_request_running{${SERIES}} 0`,
      `llm_d_epp_request_duration_seconds_bucket{${SERIES},le="1.5"} 1`,
      `llm_d_epp_request_duration_seconds_bucket{${SERIES},le="1.25"} 0`,
      `llm_d_epp_request_duration_seconds_sum{${SERIES}} 1.5`,
      `llm_d_epp_request_size_bytes_sum{${SERIES}} 100`,
      `llm_d_epp_response_size_bytes_sum{${SERIES}} 900`,
      `llm_d_epp_request_input_tokens_sum{${SERIES}} 40`,
      `llm_d_epp_request_cached_tokens_sum{${SERIES}} 30`,
      `llm_d_epp_request_output_tokens_sum{${SERIES}} 11`,
      `llm_d_epp_request_ttft_seconds_sum{${SERIES},streaming="true"} 0.5`,
      `llm_d_epp_request_streaming_tpot_seconds_sum{${SERIES}} 0.1`,
      'llm_d_epp_scheduler_attempts_total{status="success",target_model_name="m",endpoint_name="a",namespace="default",port="8000"} 1',
      'llm_d_epp_scheduler_e2e_duration_seconds_count 1',
      'signalbox_records_total{input="request-received"} 1',
      'signalbox_decisions_total{profile="decode",outcome="routed",reason=""} 1',
      'signalbox_requests_closed_total{outcome="completed",cause="natural"} 1',
      'signalbox_turn_duration_seconds_bucket{le="0.00002"} 4',
      'llm_d_epp_info{commit="abc",build_ref="v1"} 1',
    ]) expect(text.split('\n')).toContain(line)
  })

  it('that is rejected counts as an error with its code, and nowhere else', async () => {
    const { metrics, turn } = started()
    turn(0, arrival(), {
      decisions: [{ ...emptyDecision(), request: 1, outcome: 'rejected', rejection: { status: 429, reason: 'rejected-saturated', message: '', code: 'ResourceExhausted' } }],
      effects: [{ kind: 'rejected', request: 1, denial: { code: 'ResourceExhausted' } }, { kind: 'closed', request: 1, outcome: 'rejected', cause: 'unspecified', usage: undefined, receivedAt: 0 }],
    })
    expect(await samples(metrics, 'llm_d_epp_request_error_total')).toEqual([`llm_d_epp_request_error_total{${SERIES},error_code="ResourceExhausted"} 1`])
    expect(await samples(metrics, 'llm_d_epp_request_total')).toEqual([`llm_d_epp_request_total{${SERIES}} 0`])
    expect(await samples(metrics, 'signalbox_decisions_total')).toEqual(['signalbox_decisions_total{profile="",outcome="rejected",reason="rejected-saturated"} 1'])
    expect(await samples(metrics, 'llm_d_epp_scheduler_attempts_total')).toEqual(['llm_d_epp_scheduler_attempts_total{status="failure",target_model_name="",endpoint_name="",namespace="",port=""} 1'])
  })

  it('that the endpoint answers with an error counts as the model server\'s', async () => {
    const { metrics, turn } = started()
    const request = turn(0, arrival(), { effects: [routed(1)] })
    turn(10, { kind: 'responseStarted', value: { request, attempt: 1, status: 500, streaming: false } })
    turn(20, { kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', usage: undefined, status: 500, bodyBytes: 10 } }, { effects: [{ kind: 'closed', request, outcome: 'completed', cause: 'natural', usage: undefined, receivedAt: 0 }] })
    expect(await samples(metrics, 'llm_d_epp_request_error_total')).toEqual([`llm_d_epp_request_error_total{${SERIES},error_code="ModelServerError"} 1`])
    expect(await samples(metrics, 'llm_d_epp_request_duration_seconds_count')).toEqual([])
    expect(await samples(metrics, 'llm_d_epp_request_running')).toEqual([`llm_d_epp_request_running{${SERIES}} 0`])
  })

  it('counts once however often it is routed anew, and is running once', async () => {
    const { metrics, turn } = started()
    const request = turn(0, arrival(), { effects: [routed(1)] })
    turn(1, { kind: 'requestSent', value: { request, attempt: 1 } })
    turn(2, { kind: 'requestAttemptFailed', value: { request, attempt: 1, endpoint: 'default/a', cause: 'reset', status: 0, retryable: true } }, { effects: [routed(request)] })
    turn(3, { kind: 'requestSent', value: { request, attempt: 2 } })
    expect(await samples(metrics, 'llm_d_epp_request_total')).toEqual([`llm_d_epp_request_total{${SERIES}} 1`])
    expect(await samples(metrics, 'llm_d_epp_request_running')).toEqual([`llm_d_epp_request_running{${SERIES}} 1`])
    turn(4, { kind: 'requestAborted', value: { request, cause: 'client-disconnect' } }, { effects: [{ kind: 'closed', request, outcome: 'aborted', cause: 'client-disconnect', usage: undefined, receivedAt: 0 }] })
    expect(await samples(metrics, 'llm_d_epp_request_running')).toEqual([`llm_d_epp_request_running{${SERIES}} 0`])
  })

  it('of a run before this one, which nobody saw arrive, breaks nothing', async () => {
    const { metrics, turn } = started()
    turn(0, { kind: 'requestSent', value: { request: 99, attempt: 1 } })
    turn(1, { kind: 'timerFired', value: { deadlineUs: 1 } }, { effects: [{ kind: 'closed', request: 99, outcome: 'expired', cause: 'error', usage: undefined, receivedAt: 0 }, { kind: 'wake' }] })
    expect(await samples(metrics, 'signalbox_requests_closed_total')).toEqual(['signalbox_requests_closed_total{outcome="expired",cause="error"} 1'])
    expect(await samples(metrics, 'llm_d_epp_request_running')).toEqual([])
  })

  it('is measured from the turns of a real engine', async () => {
    const metrics = given()
    const engine = new Engine(engineOptions([], { observe: metrics.observe }))
    let at = 1_000_000
    const step = (input: Input['input']): number => {
      at += 1000
      const turn = engine.step({ input }, at)
      metrics.turn(turn, 10)
      return turn.record.position
    }
    step({ kind: 'engineStarted', value: { ...emptyEngineStarted(), configuration: JSON.stringify(CONFIGURATION) } })
    const rejected = step(arrival())
    step({ kind: 'endpointJoined', value: { endpoint: { ...emptyEndpointInfo(), id: 'default/a', address: '10.0.0.1', port: 8000 } } })
    const request = step(arrival({ targetModel: 'm' }))
    step({ kind: 'requestSent', value: { request, attempt: 1 } })
    step({ kind: 'responseStarted', value: { request, attempt: 1, status: 200, streaming: true } })
    step({ kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', usage, status: 200, bodyBytes: 900 } })
    expect(rejected).toBe(2)
    const text = (await metrics.text()).split('\n')
    for (const line of [
      `llm_d_epp_request_total{${SERIES}} 1`,
      `llm_d_epp_request_error_total{${SERIES},error_code="ServiceUnavailable"} 1`,
      `llm_d_epp_request_duration_seconds_count{${SERIES}} 1`,
      `llm_d_epp_request_running{${SERIES}} 0`,
      'llm_d_epp_scheduler_attempts_total{status="success",target_model_name="m",endpoint_name="a",namespace="default",port="8000"} 1',
      'signalbox_requests_closed_total{outcome="completed",cause="natural"} 1',
      'signalbox_requests_closed_total{outcome="rejected",cause="unspecified"} 1',
    ]) expect(text).toContain(line)
  })
})

describe('observations', () => {
  it('of decisions give the pairs of samples that llm-d gives', async () => {
    const file = JSON.parse(readFileSync(new URL('../../../conformance/vectors/disagg-metrics.json', import.meta.url), 'utf8')) as {
      readonly cases: readonly {
        readonly config: { readonly plugin_name: string; readonly plugin_type: string }
        readonly input: { readonly calls?: readonly (readonly [family: string, model: string, decision: string])[] }
        readonly expected: { readonly samples: readonly { readonly metric: string; readonly labels: Readonly<Record<string, string>>; readonly value: number }[] }
      }[]
    }
    const cases = file.cases.filter(({ input }) => input.calls !== undefined)
    expect(cases.length).toBeGreaterThan(0)
    for (const { config, input, expected } of cases) {
      const metrics = given()
      for (const [family, model, decision] of input.calls ?? []) {
        const labels = { model_name: model === '' ? 'unknown' : model, decision_type: decision }
        metrics.observe({ kind: 'counter', name: `llm_d_inference_scheduler_${family}_decision_total`, labels, value: 1 })
        metrics.observe({ kind: 'counter', name: `${family}_decision_total`, labels: { ...config, ...labels }, value: 1 })
      }
      for (const { metric, labels, value } of expected.samples) {
        const found = (await samples(metrics, metric)).filter((line) => Object.entries(labels).every(([name, text]) => line.includes(`${name}="${text}"`)))
        expect(found.map((line) => Number(line.split(' ').at(-1)))).toEqual([value])
      }
    }
  })

  it('are shown under an old name too, without labels, where they had one', async () => {
    const metrics = given()
    for (const plugin_name of ['a', 'b']) {
      const labels = { plugin_name, plugin_type: 't' }
      metrics.observe({ kind: 'gauge', name: 'prefix_indexer_size', labels, value: 5 })
      metrics.observe({ kind: 'histogram', name: 'prefix_indexer_hit_ratio', labels, value: 0.5 })
    }
    expect(await samples(metrics, 'llm_d_epp_prefix_indexer_size')).toHaveLength(2)
    expect(await samples(metrics, 'inference_extension_prefix_indexer_size')).toEqual(['inference_extension_prefix_indexer_size 10'])
    expect(await samples(metrics, 'inference_extension_prefix_indexer_hit_ratio_count')).toEqual(['inference_extension_prefix_indexer_hit_ratio_count 2'])
    expect(await metrics.text()).toContain('# HELP inference_extension_prefix_indexer_size [ALPHA] [Deprecated: Use llm_d_epp_prefix_indexer_size] ')
  })

  it('set gauges, add to counters, and leave out labels that are not shown', async () => {
    const metrics = given()
    for (const value of [3, 2]) metrics.observe({ kind: 'gauge', name: 'flow_control_stale_endpoints', labels: { detector: 'd' }, value })
    for (const error of ['x', 'y']) metrics.observe({ kind: 'counter', name: 'plugin_errors_total', labels: { plugin_name: 'p', extension_point: 'Score', error }, value: 1 })
    expect(await samples(metrics, 'llm_d_epp_flow_control_stale_endpoints')).toEqual(['llm_d_epp_flow_control_stale_endpoints{detector="d"} 2'])
    expect(await samples(metrics, 'llm_d_epp_plugin_errors_total')).toEqual(['llm_d_epp_plugin_errors_total{plugin_name="p",extension_point="Score"} 2'])
  })

  it('of a plugin that nobody knows make metrics of their own', async () => {
    const metrics = given()
    metrics.observe({ kind: 'counter', name: 'my_hits_total', labels: { tier: 'ram' }, value: 2 })
    metrics.observe({ kind: 'histogram', name: 'inference_my_seconds', labels: {}, value: 0.5 })
    expect(await samples(metrics, 'llm_d_epp_my_hits_total')).toEqual(['llm_d_epp_my_hits_total{tier="ram"} 2'])
    expect(await samples(metrics, 'inference_my_seconds_count')).toEqual(['inference_my_seconds_count 1'])
  })

  it('that cannot be counted are counted as such: wrong kinds, wrong names, names taken, too many', async () => {
    const metrics = given()
    metrics.observe({ kind: 'gauge', name: 'plugin_errors_total', labels: {}, value: 1 })
    metrics.observe({ kind: 'counter', name: 'not a name', labels: {}, value: 1 })
    metrics.observe({ kind: 'counter', name: 'fine_total', labels: { 'not-a-label': 'x' }, value: 1 })
    metrics.observe({ kind: 'counter', name: 'request_total', labels: {}, value: 1 })
    for (let index = 0; index < 300; index += 1) metrics.observe({ kind: 'counter', name: `m${index}_total`, labels: {}, value: 1 })
    expect(await samples(metrics, 'signalbox_metrics_dropped_total')).toEqual([`signalbox_metrics_dropped_total ${4 + 300 - 255}`])
  })
})

describe('gauges that are read when asked for', () => {
  const sources = (more: Partial<LiveSources> = {}): LiveSources => ({
    pool: 'epp',
    now: () => 10_000_000,
    staleAfter: () => 2_000_000,
    endpoints: () => [
      { id: 'default/a', waitingQueueSize: 1, runningRequestsSize: 4, kvCacheUsage: 0.5, heardAt: 9_000_000 },
      { id: 'default/b', waitingQueueSize: 4, runningRequestsSize: 4, kvCacheUsage: 0.25, heardAt: 8_000_000 },
      { id: 'default/stale', waitingQueueSize: 100, runningRequestsSize: 100, kvCacheUsage: 1, heardAt: 7_000_000 },
      { id: 'default/silent', waitingQueueSize: 0, runningRequestsSize: 0, kvCacheUsage: 0, heardAt: 0 },
    ],
    ...more,
  })

  it('are those of the pool, over fresh endpoints, rounded', async () => {
    const metrics = given()
    metrics.show(sources())
    const text = (await metrics.text()).split('\n')
    for (const line of [
      'llm_d_epp_average_kv_cache_utilization{name="epp"} 0.38',
      'llm_d_epp_std_dev_kv_cache_utilization{name="epp"} 0.18',
      'llm_d_epp_average_queue_size{name="epp"} 2.5',
      'llm_d_epp_std_dev_queue_size{name="epp"} 2.12',
      'llm_d_epp_average_running_requests{name="epp"} 4',
      'llm_d_epp_std_dev_running_requests{name="epp"} 0',
      'llm_d_epp_ready_endpoints{name="epp"} 4',
    ]) expect(text).toContain(line)
    expect(await samples(metrics, 'llm_d_epp_per_endpoint_queue_size')).toEqual([
      'llm_d_epp_per_endpoint_queue_size{name="epp",model_server_endpoint="a"} 1',
      'llm_d_epp_per_endpoint_queue_size{name="epp",model_server_endpoint="b"} 4',
    ])
  })

  it('are finite where there is no endpoint', async () => {
    const metrics = given()
    metrics.show(sources({ endpoints: () => [] }))
    expect(await samples(metrics, 'llm_d_epp_average_queue_size')).toEqual(['llm_d_epp_average_queue_size{name="epp"} 0'])
    expect(await samples(metrics, 'llm_d_epp_std_dev_queue_size')).toEqual(['llm_d_epp_std_dev_queue_size{name="epp"} 0'])
  })

  it('show engine, journal, telemetry and scraper as they are at the time', async () => {
    const metrics = given()
    let state = 'live'
    metrics.show(
      sources({
        inFlight: () => [{ endpoint: 'default/a', stage: 'decode', requests: 1 }, { endpoint: 'default/a', stage: 'decode', requests: 2 }],
        inboxDepth: () => 3,
        liveRequests: () => 4,
        receipts: () => 5,
        divergences: () => 6,
        journal: () => ({ state, lagRecords: 7, lagMs: 8 }),
        telemetry: () => ({ reports: 9, superseded: 10, outOfOrder: 11, otherLife: 12, refused: { negative: 13 } }),
        scraper: () => ({ endpoints: 14, polling: 1, waiting: 15, skipped: 16 }),
        door: () => ({ requests: 17, staleConnections: 18, broken: 19 }),
      }),
    )
    const text = (await metrics.text()).split('\n')
    for (const line of [
      'signalbox_inflight_requests{endpoint="default/a",stage="decode"} 3',
      'signalbox_inbox_depth 3',
      'signalbox_live_requests 4',
      'signalbox_receipts 5',
      'signalbox_divergences_total 6',
      'signalbox_journal_lag_records 7',
      'signalbox_journal_lag_seconds 0.008',
      'signalbox_journal_state{state="live"} 1',
      'signalbox_telemetry_reports_total 9',
      'signalbox_telemetry_superseded_total 10',
      'signalbox_telemetry_dropped_total{reason="out-of-order"} 11',
      'signalbox_telemetry_dropped_total{reason="other-life"} 12',
      'signalbox_telemetry_refused_values_total{reason="negative"} 13',
      'signalbox_scraped_endpoints 14',
      'signalbox_scrapes_waiting 15',
      'signalbox_scrapes_skipped_total 16',
      'signalbox_http_requests_total 17',
      'signalbox_http_stale_connections_total 18',
      'signalbox_http_broken_requests_total 19',
    ]) expect(text).toContain(line)
    state = 'spooling'
    expect(await samples(metrics, 'signalbox_journal_state')).toEqual(['signalbox_journal_state{state="spooling"} 1'])
  })

  it('stand beside those of the process when that is wanted', async () => {
    const metrics = createMetrics({ version: { commit: '', buildRef: '' }, ofProcess: true })
    expect(await samples(metrics, 'process_resident_memory_bytes')).toHaveLength(1)
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })
})

describe('bounds', () => {
  it('hold for whatever clients send, and every request is still counted somewhere', async () => {
    const { metrics, turn } = started()
    const requests = Array.from({ length: 2500 }, (_, index) => turn(index, arrival({ priority: index }), { effects: [routed(index + 1)] }))
    for (const request of requests) turn(20_000, { kind: 'requestSent', value: { request, attempt: 1 } })
    const running = await samples(metrics, 'llm_d_epp_request_running')
    const total = await samples(metrics, 'llm_d_epp_request_total')
    const sum = (lines: readonly string[]): number => lines.reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
    expect([running.length, total.length]).toEqual([2001, 2001])
    expect([sum(running), sum(total)]).toEqual([2500, 2500])
    expect(running).toContain('llm_d_epp_request_running{model_name="other",target_model_name="other",fairness_id="other",priority="other"} 500')
  })

  it('of gauges make room by dropping what is at 0', async () => {
    const metrics = given()
    const flow = (index: number) => ({ endpoint_name: `e${index}`, namespace: 'default', producer_name: 'p', fairness_id: '', priority: '0' })
    const first = flow(0)
    metrics.observe({ kind: 'gauge', name: 'inflight_requests', labels: first, value: 0 })
    for (let index = 1; index < 10_000; index += 1) metrics.observe({ kind: 'gauge', name: 'inflight_requests', labels: flow(index), value: index % 2 })
    metrics.observe({ kind: 'gauge', name: 'inflight_requests', labels: flow(10_000), value: 7 })
    expect(await samples(metrics, 'llm_d_epp_inflight_requests')).toHaveLength(5001)
    // Dropped while its observer holds on to its labels: it is shown again.
    metrics.observe({ kind: 'gauge', name: 'inflight_requests', labels: first, value: 3 })
    expect(await samples(metrics, 'llm_d_epp_inflight_requests')).toContain('llm_d_epp_inflight_requests{endpoint_name="e0",namespace="default",producer_name="p",fairness_id="",priority="0"} 3')
    expect(await samples(metrics, 'signalbox_metrics_dropped_total')).toEqual(['signalbox_metrics_dropped_total 0'])
  })
})
