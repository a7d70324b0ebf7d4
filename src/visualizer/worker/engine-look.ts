import type { Engine } from '../../engine/engine.ts'
import { sentence } from '../../replay/sentence.ts'
import { ENDPOINT_FIELDS, readProbe } from '../../replay/travel/probe.ts'
import type { Travel } from '../../replay/travel/travel.ts'
import type { Input } from '../../wire/input.ts'
import type { Decided, EndpointRow, Look, RequestRow } from './messages.ts'

/** Live requests listed; all are counted. */
const REQUESTS_LISTED_MAX = 200
/** Bytes fields are told by their length; long lists by their first values. */
const LIST_SHOWN_MAX = 12

/** The engine after a record, and the record. */
export const engineLook = (travel: Travel, position: number): Look => {
  const engine = travel.seek(position)
  const at = engine.position
  const record = at > travel.start.position ? travel.record(at) : undefined
  return {
    known: true,
    position: at,
    atUs: engine.at,
    kind: record?.input?.input?.kind ?? 'start',
    input: inputText(record?.input, false),
    decided: receiptsOf(engine, at),
    endpoints: engine.view.fleet.actors().map(({ endpoint }) => endpointRow(engine, endpoint.id)),
    requests: requestRows(engine),
    liveRequests: engine.view.requests.size,
    timers: engine.view.timers.all().slice(0, REQUESTS_LISTED_MAX).map(({ owner, key, name, deadline }) => ({ owner, key, name, inMs: (deadline - engine.at) / 1000 })),
  }
}

/** Decisions of a record, with their receipts. */
export const decidedAt = (travel: Travel, position: number): Decided[] => receiptsOf(travel.seek(position), position)

const receiptsOf = (engine: Engine, position: number): Decided[] =>
  engine.receipts(position).map((receipt) => ({ receipt, sentence: sentence(receipt), recordedOnly: false }))

const endpointRow = (engine: Engine, id: string): EndpointRow => ({
  id,
  values: Object.fromEntries(ENDPOINT_FIELDS.map((field) => [field, readProbe(engine, { of: 'endpoint', id, field }) ?? ''])),
})

const requestRows = (engine: Engine): RequestRow[] =>
  [...engine.view.requests.values()].slice(-REQUESTS_LISTED_MAX).map((request) => ({
    key: request.key,
    id: request.id,
    machine: engine.view.requestMachine.states[request.state] ?? '',
    attempt: request.attempt,
    endpoint: String(readProbe(engine, { of: 'request', key: request.key, field: 'endpoint' }) ?? ''),
    timer: request.timer === undefined ? undefined : { name: request.timer.name, inMs: (request.timer.deadline - engine.at) / 1000 },
  }))

/** An input as text: whole, or on one line with only what tells its story. */
export const inputText = (input: Input | undefined, short: boolean): string => {
  const content = input?.input
  if (content === undefined) return ''
  if (!short) return JSON.stringify(content.value, shown, 2)
  const fields = content.value as unknown as Readonly<Record<string, unknown>>
  return ['requestId', 'model', 'attempt', 'endpoint', 'status', 'cause', 'tokens'].flatMap((name) => (fields[name] === undefined || fields[name] === '' ? [] : [`${name} ${String(fields[name])}`])).join(', ')
}

const shown = (key: string, value: unknown): unknown => {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return `${value.length} bytes`
  if (Array.isArray(value) && value.length > LIST_SHOWN_MAX) return [...value.slice(0, LIST_SHOWN_MAX), `and ${value.length - LIST_SHOWN_MAX} more`]
  if (key === 'configuration' && typeof value === 'string') return `${value.length} characters (see Fork)`
  return value
}
