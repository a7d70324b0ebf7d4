import { randomUUID } from 'node:crypto'
import { decodeScheduleRequest, emptyScheduleReply, encodeScheduleReply, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { RawRequest, Refusal, ScheduleReply, ScheduleRequest } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { isObject, jsonObject, textOf } from './json-fields.ts'
import { headerOf, wholeNumber } from './message-fields.ts'
import { MicroService } from './micro-service.ts'
import type { MicroRequest } from './micro-service.ts'
import type { Names } from './names.ts'
import { isJson } from './telemetry.ts'

/** All replicas of a pool share the requests. */
const QUEUE_GROUP = 'schedulers'
/** Milliseconds that the caller waits for the answer, counted from when the request comes in: clocks may differ. */
const DEADLINE_HEADER = 'Signalbox-Deadline-Ms'
/** An hour: who waits for longer waits as if there were no deadline; and timers cannot be set for much more than 24 days. */
const DEADLINE_MAX_MS = 3_600_000
const JSON_TYPE = 'application/json'

/** Decides; see `ScheduleServiceOptions`. */
export interface Scheduling {
  /** Never rejects. `expired` resolves when nobody waits any more. */
  schedule(request: ScheduleRequest, expired: Promise<void> | undefined): Promise<ScheduleReply>
}

export interface ScheduleServiceOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly version: string
  readonly scheduling: Scheduling
}

/** The scheduling service: requests for a route, answered in the form in which they came. */
export const startScheduleService = ({ link, names, replica, version, scheduling }: ScheduleServiceOptions): MicroService =>
  new MicroService(link.connection, {
    name: 'signalbox',
    version,
    description: 'schedules LLM inference requests',
    metadata: { pool: names.pool, replica },
    endpoint: { name: 'schedule', subject: names.schedule },
    queueGroup: QUEUE_GROUP,
    handle: (request) => void answer(scheduling, request),
  })

const answer = async (scheduling: Scheduling, request: MicroRequest): Promise<void> => {
  const asJson = isJson(request.message)
  const asked = asJson ? readJson(request.message.data) : readRequest(request.message.data)
  if (asked === undefined) return refuse(request, asJson, { ...emptyScheduleReply(), answer: { kind: 'refusal', value: MALFORMED } }, MALFORMED)
  if (asked.requestId === '') asked.requestId = randomUUID()
  const deadline = deadlineOf(request)
  const reply = await scheduling.schedule(asked, deadline?.passed)
  deadline?.stop()
  if (reply.answer?.kind === 'refusal') refuse(request, asJson, reply, reply.answer.value)
  else request.answer(encoded(reply, asJson), typeOf(asJson))
}

const MALFORMED: Refusal = { status: 400, code: 'BadRequest', reason: '', message: 'the message is no ScheduleRequest' }

const refuse = (request: MicroRequest, asJson: boolean, reply: ScheduleReply, { status, code, message }: Refusal): void =>
  request.fail(status, `${code}: ${message}`, encoded(reply, asJson), typeOf(asJson))

const deadlineOf = ({ message }: MicroRequest): { readonly passed: Promise<void>; stop(): void } | undefined => {
  const ms = wholeNumber(headerOf(message.headers, DEADLINE_HEADER), DEADLINE_MAX_MS)
  if (ms === undefined || ms === 0) return undefined
  let timer: NodeJS.Timeout | undefined
  const passed = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  return { passed, stop: () => clearTimeout(timer) }
}

const readRequest = (data: Uint8Array): ScheduleRequest | undefined => {
  try {
    const request = fromBytes(decodeScheduleRequest, data)
    return request.request === undefined ? undefined : request
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

/** {"path": "/v1/chat/completions", "headers": {...}, "body": {...}, "requestId": "..."} */
const readJson = (data: Uint8Array): ScheduleRequest | undefined => {
  const given = jsonObject(data)
  const path = textOf(given?.['path'])
  const requestId = textOf(given?.['requestId'])
  const headers = given?.['headers'] ?? {}
  if (given === undefined || path === undefined || requestId === undefined || !isObject(headers) || !isObject(given['body'])) return undefined
  const raw: RawRequest = {
    path: path === '' ? '/v1/chat/completions' : path,
    headers: Object.entries(headers).map(([name, value]) => ({ name: name.toLowerCase(), value: String(value) })),
    body: new TextEncoder().encode(JSON.stringify(given['body'])),
  }
  return { requestId, request: { kind: 'raw', value: raw } }
}

/** Protobuf needs no header. */
const typeOf = (asJson: boolean): string | undefined => (asJson ? JSON_TYPE : undefined)

/** The reply's bytes. */
export const encoded = (reply: ScheduleReply, asJson: boolean): Uint8Array => {
  if (!asJson) return toBytes(encodeScheduleReply, reply)
  const { request, requestId, answer: { kind, value } = NO_ANSWER, lifecycleSubject } = reply
  return new TextEncoder().encode(JSON.stringify({ request, requestId, [kind]: value, lifecycleSubject }))
}

const NO_ANSWER = { kind: 'refusal', value: MALFORMED } as const
