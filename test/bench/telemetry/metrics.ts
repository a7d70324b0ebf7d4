/**
 * What counting costs a turn: the six turns of a request (arrival with decision, sent, started, progressed, ended, and a
 * telemetry tick), and one observation. `node test/bench/telemetry/metrics.ts` prints microseconds.
 */

import { createMetrics } from '../../../src/adapters/prometheus/index.ts'
import type { MeasuredTurn } from '../../../src/adapters/prometheus/index.ts'
import { emptyDecision, emptyRequestReceived, emptyTelemetryTick } from '../../../src/wire/index.ts'
import type { Input } from '../../../src/wire/index.ts'
import { microseconds, report } from '../harness.ts'

const TURNS = 120_000
const OBSERVATIONS = 200_000

const metrics = createMetrics({ version: { commit: '', buildRef: '' }, ofProcess: false })
const arrival = { ...emptyRequestReceived(), model: 'meta-llama/Llama-3.1-8B-Instruct', targetModel: 'meta-llama/Llama-3.1-8B-Instruct', streaming: true, bodyBytes: 2000 }
const decision = { ...emptyDecision(), outcome: 'routed' as const, primaryProfile: 'decode' }
const usage = { promptTokens: 4000, completionTokens: 200, totalTokens: 4200, cachedTokens: 3000, reasoningTokens: 0 }

/** Few enough to stay in the caches: what is measured is the counting, not the reading of what is counted. */
const DISTINCT = 500

const turnsOf = (request: number): MeasuredTurn[] => {
  const atUs = request * 1000
  const turn = (input: Input['input'], more: Partial<MeasuredTurn['record']> = {}, effects: MeasuredTurn['effects'] = []): MeasuredTurn => ({
    record: { position: request, atUs, input: { input }, decisions: [], ...more },
    effects,
  })
  return [
    turn({ kind: 'requestReceived', value: arrival }, { decisions: [{ ...decision, request }] }, [
      { kind: 'routed', request, attempt: 1, targetModel: arrival.targetModel, endpoint: { id: `default/endpoint-${request % 128}`, hostPort: '10.0.0.1:8000' } },
    ]),
    turn({ kind: 'requestSent', value: { request, attempt: 1 } }),
    turn({ kind: 'responseStarted', value: { request, attempt: 1, status: 200, streaming: true } }),
    turn({ kind: 'requestProgressed', value: { request, tokens: 10 } }),
    turn({ kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', usage, status: 200, bodyBytes: 9000 } }, {}, [
      { kind: 'closed', request, outcome: 'completed', cause: 'natural', usage, receivedAt: atUs },
    ]),
    turn({ kind: 'telemetryTick', value: emptyTelemetryTick() }),
  ]
}

const turns = Array.from({ length: DISTINCT }, (_, index) => turnsOf(index + 1)).flat()
const labels = { plugin_name: 'approx-prefix-cache-producer', plugin_type: 'approx-prefix-cache-producer' }
const perTurn = microseconds(TURNS, (index) => metrics.turn(turns[index % turns.length] as MeasuredTurn, 17))
const perObservation = microseconds(OBSERVATIONS, () => metrics.observe({ kind: 'histogram', name: 'prefix_indexer_hit_ratio', labels, value: 0.5 }))
report('Metrics', [
  { name: 'a turn', value: perTurn, unit: 'µs', goal: 1 },
  { name: 'an observation', value: perObservation, unit: 'µs' },
])
