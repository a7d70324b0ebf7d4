import type { CompletedConfiguration } from '../../src/core/configuration.ts'
import type { EndCause, FailureCause, Input } from '../../src/wire/input.ts'
import { emptyEngineStarted } from '../../src/wire/input.ts'
import { emptyRequestReceived } from '../../src/wire/request.ts'
import type { PromptShape, RequestReceived } from '../../src/wire/request.ts'

type Content = NonNullable<Input['input']>
const input = (content: Content): Input => ({ input: content })

export const engineStarted = (configuration: CompletedConfiguration, seed = 7n): Input =>
  input({ kind: 'engineStarted', value: { ...emptyEngineStarted(), configuration: JSON.stringify(configuration), seed, version: '0.0.0', runId: 'run' } })

export const joined = (name: string, role = '', incarnation = '1'): Input =>
  input({ kind: 'endpointJoined', value: { endpoint: endpoint(name, role, incarnation) } })

const endpoint = (name: string, role: string, incarnation: string): { id: string; address: string; port: number; labels: { name: string; value: string }[]; annotations: never[]; incarnation: string; metricsHostPort: string } => ({
  id: `default/${name}`,
  address: '10.0.0.1',
  port: 8000,
  labels: role === '' ? [] : [{ name: 'llm-d.ai/role', value: role }],
  annotations: [],
  incarnation,
  metricsHostPort: '',
})

export const left = (name: string): Input => input({ kind: 'endpointLeft', value: { endpoint: `default/${name}`, incarnation: '', reason: 'test' } })
export const draining = (name: string): Input => input({ kind: 'endpointDraining', value: { endpoint: `default/${name}`, reason: 'operator' } })

/** A prompt of n tokens in blocks of 64 whose keys are the numbers given, then 1, 2, 3 ... from `unique`. */
export const prompt = (tokens: number, shared: readonly number[] = [], unique = 1_000_000): PromptShape => {
  const count = Math.ceil(tokens / 64)
  const keys = new BigUint64Array(count)
  for (let i = 0; i < count; i++) keys[i] = BigInt(shared[i] ?? unique + i)
  return { tokens, blocks: [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(keys.buffer) }], media: [] }
}

export const received = (requestId: string, more: Partial<RequestReceived> = {}): Input =>
  input({
    kind: 'requestReceived',
    value: {
      ...emptyRequestReceived(), requestId, frontDoor: 'http', proxied: true, api: 'chat', model: 'm', targetModel: 'm', streaming: true,
      shape: { tokenized: true, prompts: [prompt(256)], problem: '' }, ...more,
    },
  })

export const sent = (request: number, attempt = 1): Input => input({ kind: 'requestSent', value: { request, attempt } })
export const started = (request: number, attempt = 1, status = 200): Input => input({ kind: 'responseStarted', value: { request, attempt, status, streaming: true } })
export const progressed = (request: number, tokens: number): Input => input({ kind: 'requestProgressed', value: { request, tokens } })
export const ended = (request: number, attempt = 1, cause: EndCause = 'natural', status = 200): Input =>
  input({ kind: 'responseEnded', value: { request, attempt, cause, usage: undefined, status, bodyBytes: 100 } })
export const failed = (request: number, attempt: number, endpointName: string, cause: FailureCause = 'connect', retryable = true): Input =>
  input({ kind: 'requestAttemptFailed', value: { request, attempt, endpoint: `default/${endpointName}`, cause, status: 0, retryable } })
export const aborted = (request: number): Input => input({ kind: 'requestAborted', value: { request, cause: 'client-disconnect' } })
export const timerFired = (): Input => input({ kind: 'timerFired', value: { deadlineUs: 0 } })

/** One tick in which every slot given was heard, with a queue and a KV use each. */
export const telemetry = (slots: readonly { readonly slot: number; readonly waiting?: number; readonly kv?: number }[]): Input => {
  const sorted = [...slots].sort((a, b) => a.slot - b.slot)
  const heard = new Uint8Array(Math.ceil(((sorted.at(-1)?.slot ?? 0) + 1) / 8))
  for (const { slot } of sorted) heard[slot >> 3] = (heard[slot >> 3] ?? 0) | (1 << (slot & 7))
  const deltas = sorted.map(({ slot }, i) => slot - (i === 0 ? 0 : (sorted[i - 1]?.slot ?? 0)))
  return input({
    kind: 'telemetryTick',
    value: {
      heard,
      columns: [
        { metric: 'waiting_queue_size', custom: false, slotDeltas: deltas, whole: sorted.map(({ waiting }) => waiting ?? 0), real: [] },
        { metric: 'kv_cache_usage', custom: false, slotDeltas: deltas, whole: [], real: sorted.map(({ kv }) => kv ?? 0) },
      ],
      models: [],
      superseded: 0,
    },
  })
}
