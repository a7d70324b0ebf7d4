// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'
import { decodeEndpointInfo, decodeEndpointMetrics, encodeEndpointInfo, encodeEndpointMetrics } from './endpoint.ts'
import type { EndpointInfo, EndpointMetrics } from './endpoint.ts'
import { decodeEndCause, decodeFailureCause, encodeEndCause, encodeFailureCause } from './input.ts'
import type { EndCause, FailureCause } from './input.ts'
import { decodeHeader, decodeRequestReceived, decodeUsage, encodeHeader, encodeRequestReceived, encodeUsage } from './request.ts'
import type { Header, RequestReceived, Usage } from './request.ts'

/** What an agent says of its endpoint's metrics. Subject: telemetry.<endpoint>. */
export interface TelemetryReport {
  endpoint: string
  /** Of the life that the membership bucket names. */
  incarnation: string
  /** Rises within one life. */
  sequence: number
  metrics: EndpointMetrics | undefined
}

export function emptyTelemetryReport(): TelemetryReport {
  return {
    endpoint: '',
    incarnation: '',
    sequence: 0,
    metrics: undefined,
  }
}

export function encodeTelemetryReport(message: TelemetryReport, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  if (message.sequence !== 0) {
    writer.tag(24)
    writer.uint64(message.sequence)
  }
  if (message.metrics !== undefined) {
    writer.tag(34)
    const start = writer.open()
    encodeEndpointMetrics(message.metrics, writer)
    writer.close(start)
  }
  return writer
}

export function decodeTelemetryReport(reader: Reader, length?: number): TelemetryReport {
  const message = emptyTelemetryReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 18:
        message.incarnation = reader.string()
        break
      case 24:
        message.sequence = reader.uint64()
        break
      case 34:
        message.metrics = decodeEndpointMetrics(reader, reader.uint32())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export type Presence =
  | 'unspecified'
  | 'ready'
  | 'draining'

export function encodePresence(value: Presence): number {
  switch (value) {
    case 'unspecified': return 0
    case 'ready': return 1
    case 'draining': return 2
  }
}

/** A number that this schema does not know reads as 'unspecified'. */
export function decodePresence(number: number): Presence {
  switch (number) {
    case 1: return 'ready'
    case 2: return 'draining'
    default: return 'unspecified'
  }
}

/** An endpoint as its agent announces it: a value of the membership bucket. Each write is a heartbeat. */
export interface EndpointAnnouncement {
  endpoint: EndpointInfo | undefined
  presence: Presence
  /** Counts the writes of this life. */
  heartbeat: number
}

export function emptyEndpointAnnouncement(): EndpointAnnouncement {
  return {
    endpoint: undefined,
    presence: 'unspecified',
    heartbeat: 0,
  }
}

export function encodeEndpointAnnouncement(message: EndpointAnnouncement, writer: Writer): Writer {
  if (message.endpoint !== undefined) {
    writer.tag(10)
    const start = writer.open()
    encodeEndpointInfo(message.endpoint, writer)
    writer.close(start)
  }
  if (message.presence !== 'unspecified') {
    writer.tag(16)
    writer.int32(encodePresence(message.presence))
  }
  if (message.heartbeat !== 0) {
    writer.tag(24)
    writer.uint64(message.heartbeat)
  }
  return writer
}

export function decodeEndpointAnnouncement(reader: Reader, length?: number): EndpointAnnouncement {
  const message = emptyEndpointAnnouncement()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = decodeEndpointInfo(reader, reader.uint32())
        break
      case 16:
        message.presence = decodePresence(reader.enumeration())
        break
      case 24:
        message.heartbeat = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export type KvChangeKind =
  | 'unspecified'
  | 'stored'
  | 'removed'
  | 'cleared'

export function encodeKvChangeKind(value: KvChangeKind): number {
  switch (value) {
    case 'unspecified': return 0
    case 'stored': return 1
    case 'removed': return 2
    case 'cleared': return 3
  }
}

/** A number that this schema does not know reads as 'unspecified'. */
export function decodeKvChangeKind(number: number): KvChangeKind {
  switch (number) {
    case 1: return 'stored'
    case 2: return 'removed'
    case 3: return 'cleared'
    default: return 'unspecified'
  }
}

export interface KvChange {
  kind: KvChangeKind
  /** 8 bytes a key, little-endian; none where all is cleared. */
  keys: Uint8Array
  tier: string
}

export function emptyKvChange(): KvChange {
  return {
    kind: 'unspecified',
    keys: new Uint8Array(0),
    tier: '',
  }
}

export function encodeKvChange(message: KvChange, writer: Writer): Writer {
  if (message.kind !== 'unspecified') {
    writer.tag(8)
    writer.int32(encodeKvChangeKind(message.kind))
  }
  if (message.keys.length > 0) {
    writer.tag(18)
    writer.data(message.keys)
  }
  if (message.tier !== '') {
    writer.tag(26)
    writer.string(message.tier)
  }
  return writer
}

export function decodeKvChange(reader: Reader, length?: number): KvChange {
  const message = emptyKvChange()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.kind = decodeKvChangeKind(reader.enumeration())
        break
      case 18:
        message.keys = reader.data()
        break
      case 26:
        message.tier = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What an agent says of the prefix cache of its engine: what changed, or all that is held. Subject: kv.<endpoint>. */
export interface KvReport {
  endpoint: string
  /** Of the life that the membership bucket names. */
  incarnation: string
  /** Counts the changes of one life from 1. All that is held is told as of the last change, and bears its number. */
  sequence: number
  /** 0 for a change; else all that is held is told in `parts` messages, of which this is the one of this number, from 1. */
  part: number
  parts: number
  /** How the keys were made: "cbor-fnv" or "xxh64". */
  hash: string
  blockTokens: number
  /** The key of nothing under the agent's seed and secret: who has the same has the same keys. */
  root: Uint8Array
  changes: KvChange[]
}

export function emptyKvReport(): KvReport {
  return {
    endpoint: '',
    incarnation: '',
    sequence: 0,
    part: 0,
    parts: 0,
    hash: '',
    blockTokens: 0,
    root: new Uint8Array(0),
    changes: [],
  }
}

export function encodeKvReport(message: KvReport, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  if (message.sequence !== 0) {
    writer.tag(24)
    writer.uint64(message.sequence)
  }
  if (message.part !== 0) {
    writer.tag(32)
    writer.uint32(message.part)
  }
  if (message.parts !== 0) {
    writer.tag(40)
    writer.uint32(message.parts)
  }
  if (message.hash !== '') {
    writer.tag(50)
    writer.string(message.hash)
  }
  if (message.blockTokens !== 0) {
    writer.tag(56)
    writer.uint32(message.blockTokens)
  }
  if (message.root.length > 0) {
    writer.tag(66)
    writer.data(message.root)
  }
  for (const item of message.changes) {
    writer.tag(74)
    const start = writer.open()
    encodeKvChange(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeKvReport(reader: Reader, length?: number): KvReport {
  const message = emptyKvReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 18:
        message.incarnation = reader.string()
        break
      case 24:
        message.sequence = reader.uint64()
        break
      case 32:
        message.part = reader.uint32()
        break
      case 40:
        message.parts = reader.uint32()
        break
      case 50:
        message.hash = reader.string()
        break
      case 56:
        message.blockTokens = reader.uint32()
        break
      case 66:
        message.root = reader.data()
        break
      case 74:
        message.changes.push(decodeKvChange(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A scheduler misses something of an endpoint's cache: the agent is to tell all of it. Subject: kv-wanted.<endpoint>. */
export interface KvWanted {
  incarnation: string
  /** The last change that is known, for an agent that has told no more; 0 for none. */
  sequence: number
}

export function emptyKvWanted(): KvWanted {
  return {
    incarnation: '',
    sequence: 0,
  }
}

export function encodeKvWanted(message: KvWanted, writer: Writer): Writer {
  if (message.incarnation !== '') {
    writer.tag(10)
    writer.string(message.incarnation)
  }
  if (message.sequence !== 0) {
    writer.tag(16)
    writer.uint64(message.sequence)
  }
  return writer
}

export function decodeKvWanted(reader: Reader, length?: number): KvWanted {
  const message = emptyKvWanted()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.incarnation = reader.string()
        break
      case 16:
        message.sequence = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A replica as it announces itself: a value of the bucket of replicas. Each write is a heartbeat. */
export interface ReplicaAnnouncement {
  replica: string
  runId: string
  heartbeat: number
}

export function emptyReplicaAnnouncement(): ReplicaAnnouncement {
  return {
    replica: '',
    runId: '',
    heartbeat: 0,
  }
}

export function encodeReplicaAnnouncement(message: ReplicaAnnouncement, writer: Writer): Writer {
  if (message.replica !== '') {
    writer.tag(10)
    writer.string(message.replica)
  }
  if (message.runId !== '') {
    writer.tag(18)
    writer.string(message.runId)
  }
  if (message.heartbeat !== 0) {
    writer.tag(24)
    writer.uint64(message.heartbeat)
  }
  return writer
}

export function decodeReplicaAnnouncement(reader: Reader, length?: number): ReplicaAnnouncement {
  const message = emptyReplicaAnnouncement()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.replica = reader.string()
        break
      case 18:
        message.runId = reader.string()
        break
      case 24:
        message.heartbeat = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A request as a client has it, to be parsed and reduced to its shape by the scheduler. */
export interface RawRequest {
  /** Such as "/v1/chat/completions". */
  path: string
  headers: Header[]
  body: Uint8Array
}

export function emptyRawRequest(): RawRequest {
  return {
    path: '',
    headers: [],
    body: new Uint8Array(0),
  }
}

export function encodeRawRequest(message: RawRequest, writer: Writer): Writer {
  if (message.path !== '') {
    writer.tag(10)
    writer.string(message.path)
  }
  for (const item of message.headers) {
    writer.tag(18)
    const start = writer.open()
    encodeHeader(item, writer)
    writer.close(start)
  }
  if (message.body.length > 0) {
    writer.tag(26)
    writer.data(message.body)
  }
  return writer
}

export function decodeRawRequest(reader: Reader, length?: number): RawRequest {
  const message = emptyRawRequest()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.path = reader.string()
        break
      case 18:
        message.headers.push(decodeHeader(reader, reader.uint32()))
        break
      case 26:
        message.body = reader.data()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Asks for a route. Subject: schedule. */
export interface ScheduleRequest {
  request: 
    | { readonly kind: 'received', readonly value: RequestReceived }
    | { readonly kind: 'raw', readonly value: RawRequest }
    | undefined
  /** The client's label, for a raw request; drawn when empty. */
  requestId: string
}

export function emptyScheduleRequest(): ScheduleRequest {
  return {
    request: undefined,
    requestId: '',
  }
}

export function encodeScheduleRequest(message: ScheduleRequest, writer: Writer): Writer {
  if (message.request !== undefined) {
    switch (message.request.kind) {
      case 'received': {
        writer.tag(10)
        const start = writer.open()
        encodeRequestReceived(message.request.value, writer)
        writer.close(start)
        break
      }
      case 'raw': {
        writer.tag(18)
        const start = writer.open()
        encodeRawRequest(message.request.value, writer)
        writer.close(start)
        break
      }
    }
  }
  if (message.requestId !== '') {
    writer.tag(26)
    writer.string(message.requestId)
  }
  return writer
}

export function decodeScheduleRequest(reader: Reader, length?: number): ScheduleRequest {
  const message = emptyScheduleRequest()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.request = { kind: 'received', value: decodeRequestReceived(reader, reader.uint32()) }
        break
      case 18:
        message.request = { kind: 'raw', value: decodeRawRequest(reader, reader.uint32()) }
        break
      case 26:
        message.requestId = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RouteTarget {
  endpoint: string
  /** "address:port", an IPv6 address in brackets. */
  hostPort: string
}

export function emptyRouteTarget(): RouteTarget {
  return {
    endpoint: '',
    hostPort: '',
  }
}

export function encodeRouteTarget(message: RouteTarget, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.hostPort !== '') {
    writer.tag(18)
    writer.string(message.hostPort)
  }
  return writer
}

export function decodeRouteTarget(reader: Reader, length?: number): RouteTarget {
  const message = emptyRouteTarget()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 18:
        message.hostPort = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RouteStage {
  /** "decode", "encode" or "prefill". */
  stage: string
  endpoints: string[]
}

export function emptyRouteStage(): RouteStage {
  return {
    stage: '',
    endpoints: [],
  }
}

export function encodeRouteStage(message: RouteStage, writer: Writer): Writer {
  if (message.stage !== '') {
    writer.tag(10)
    writer.string(message.stage)
  }
  for (const item of message.endpoints) {
    writer.tag(18)
    writer.string(item)
  }
  return writer
}

export function decodeRouteStage(reader: Reader, length?: number): RouteStage {
  const message = emptyRouteStage()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.stage = reader.string()
        break
      case 18:
        message.endpoints.push(reader.string())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Send the request here. */
export interface Route {
  attempt: number
  target: RouteTarget | undefined
  /** Best first. */
  fallbacks: RouteTarget[]
  /** Headers for the endpoint; an empty value removes. */
  headers: Header[]
  /** Headers for the answer to the client. */
  responseHeaders: Header[]
  targetModel: string
  stages: RouteStage[]
}

export function emptyRoute(): Route {
  return {
    attempt: 0,
    target: undefined,
    fallbacks: [],
    headers: [],
    responseHeaders: [],
    targetModel: '',
    stages: [],
  }
}

export function encodeRoute(message: Route, writer: Writer): Writer {
  if (message.attempt !== 0) {
    writer.tag(8)
    writer.uint32(message.attempt)
  }
  if (message.target !== undefined) {
    writer.tag(18)
    const start = writer.open()
    encodeRouteTarget(message.target, writer)
    writer.close(start)
  }
  for (const item of message.fallbacks) {
    writer.tag(26)
    const start = writer.open()
    encodeRouteTarget(item, writer)
    writer.close(start)
  }
  for (const item of message.headers) {
    writer.tag(34)
    const start = writer.open()
    encodeHeader(item, writer)
    writer.close(start)
  }
  for (const item of message.responseHeaders) {
    writer.tag(42)
    const start = writer.open()
    encodeHeader(item, writer)
    writer.close(start)
  }
  if (message.targetModel !== '') {
    writer.tag(50)
    writer.string(message.targetModel)
  }
  for (const item of message.stages) {
    writer.tag(58)
    const start = writer.open()
    encodeRouteStage(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeRoute(reader: Reader, length?: number): Route {
  const message = emptyRoute()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.attempt = reader.uint32()
        break
      case 18:
        message.target = decodeRouteTarget(reader, reader.uint32())
        break
      case 26:
        message.fallbacks.push(decodeRouteTarget(reader, reader.uint32()))
        break
      case 34:
        message.headers.push(decodeHeader(reader, reader.uint32()))
        break
      case 42:
        message.responseHeaders.push(decodeHeader(reader, reader.uint32()))
        break
      case 50:
        message.targetModel = reader.string()
        break
      case 58:
        message.stages.push(decodeRouteStage(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Do not send it. */
export interface Refusal {
  /** HTTP status. */
  status: number
  /** "ResourceExhausted", "ServiceUnavailable", "BadRequest", ... */
  code: string
  reason: string
  message: string
}

export function emptyRefusal(): Refusal {
  return {
    status: 0,
    code: '',
    reason: '',
    message: '',
  }
}

export function encodeRefusal(message: Refusal, writer: Writer): Writer {
  if (message.status !== 0) {
    writer.tag(8)
    writer.uint32(message.status)
  }
  if (message.code !== '') {
    writer.tag(18)
    writer.string(message.code)
  }
  if (message.reason !== '') {
    writer.tag(26)
    writer.string(message.reason)
  }
  if (message.message !== '') {
    writer.tag(34)
    writer.string(message.message)
  }
  return writer
}

export function decodeRefusal(reader: Reader, length?: number): Refusal {
  const message = emptyRefusal()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.status = reader.uint32()
        break
      case 18:
        message.code = reader.string()
        break
      case 26:
        message.reason = reader.string()
        break
      case 34:
        message.message = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The answer to a ScheduleRequest, and to a failed attempt. */
export interface ScheduleReply {
  /** The engine's key of the request; 0 where there is none. */
  request: number
  requestId: string
  answer: 
    | { readonly kind: 'route', readonly value: Route }
    | { readonly kind: 'refusal', readonly value: Refusal }
    | undefined
  /** Where to tell what becomes of the request. */
  lifecycleSubject: string
}

export function emptyScheduleReply(): ScheduleReply {
  return {
    request: 0,
    requestId: '',
    answer: undefined,
    lifecycleSubject: '',
  }
}

export function encodeScheduleReply(message: ScheduleReply, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.requestId !== '') {
    writer.tag(18)
    writer.string(message.requestId)
  }
  if (message.answer !== undefined) {
    switch (message.answer.kind) {
      case 'route': {
        writer.tag(26)
        const start = writer.open()
        encodeRoute(message.answer.value, writer)
        writer.close(start)
        break
      }
      case 'refusal': {
        writer.tag(34)
        const start = writer.open()
        encodeRefusal(message.answer.value, writer)
        writer.close(start)
        break
      }
    }
  }
  if (message.lifecycleSubject !== '') {
    writer.tag(42)
    writer.string(message.lifecycleSubject)
  }
  return writer
}

export function decodeScheduleReply(reader: Reader, length?: number): ScheduleReply {
  const message = emptyScheduleReply()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.request = reader.uint64()
        break
      case 18:
        message.requestId = reader.string()
        break
      case 26:
        message.answer = { kind: 'route', value: decodeRoute(reader, reader.uint32()) }
        break
      case 34:
        message.answer = { kind: 'refusal', value: decodeRefusal(reader, reader.uint32()) }
        break
      case 42:
        message.lifecycleSubject = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface AttemptFailure {
  endpoint: string
  cause: FailureCause
  status: number
  retryable: boolean
  /** Where the next ScheduleReply goes. */
  replyTo: string
}

export function emptyAttemptFailure(): AttemptFailure {
  return {
    endpoint: '',
    cause: 'unspecified',
    status: 0,
    retryable: false,
    replyTo: '',
  }
}

export function encodeAttemptFailure(message: AttemptFailure, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.cause !== 'unspecified') {
    writer.tag(16)
    writer.int32(encodeFailureCause(message.cause))
  }
  if (message.status !== 0) {
    writer.tag(24)
    writer.uint32(message.status)
  }
  if (message.retryable) {
    writer.tag(32)
    writer.bool(message.retryable)
  }
  if (message.replyTo !== '') {
    writer.tag(42)
    writer.string(message.replyTo)
  }
  return writer
}

export function decodeAttemptFailure(reader: Reader, length?: number): AttemptFailure {
  const message = emptyAttemptFailure()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 16:
        message.cause = decodeFailureCause(reader.enumeration())
        break
      case 24:
        message.status = reader.uint32()
        break
      case 32:
        message.retryable = reader.bool()
        break
      case 42:
        message.replyTo = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface StartedReport {
  status: number
  streaming: boolean
}

export function emptyStartedReport(): StartedReport {
  return {
    status: 0,
    streaming: false,
  }
}

export function encodeStartedReport(message: StartedReport, writer: Writer): Writer {
  if (message.status !== 0) {
    writer.tag(8)
    writer.uint32(message.status)
  }
  if (message.streaming) {
    writer.tag(16)
    writer.bool(message.streaming)
  }
  return writer
}

export function decodeStartedReport(reader: Reader, length?: number): StartedReport {
  const message = emptyStartedReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.status = reader.uint32()
        break
      case 16:
        message.streaming = reader.bool()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface EndedReport {
  cause: EndCause
  usage: Usage | undefined
  status: number
  bodyBytes: number
}

export function emptyEndedReport(): EndedReport {
  return {
    cause: 'unspecified',
    usage: undefined,
    status: 0,
    bodyBytes: 0,
  }
}

export function encodeEndedReport(message: EndedReport, writer: Writer): Writer {
  if (message.cause !== 'unspecified') {
    writer.tag(8)
    writer.int32(encodeEndCause(message.cause))
  }
  if (message.usage !== undefined) {
    writer.tag(18)
    const start = writer.open()
    encodeUsage(message.usage, writer)
    writer.close(start)
  }
  if (message.status !== 0) {
    writer.tag(24)
    writer.uint32(message.status)
  }
  if (message.bodyBytes !== 0) {
    writer.tag(32)
    writer.uint64(message.bodyBytes)
  }
  return writer
}

export function decodeEndedReport(reader: Reader, length?: number): EndedReport {
  const message = emptyEndedReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.cause = decodeEndCause(reader.enumeration())
        break
      case 18:
        message.usage = decodeUsage(reader, reader.uint32())
        break
      case 24:
        message.status = reader.uint32()
        break
      case 32:
        message.bodyBytes = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface SentReport {
}

export function emptySentReport(): SentReport {
  return {
  }
}

export function encodeSentReport(_message: SentReport, writer: Writer): Writer {
  return writer
}

export function decodeSentReport(reader: Reader, length?: number): SentReport {
  const message = emptySentReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface ProgressedReport {
  tokens: number
}

export function emptyProgressedReport(): ProgressedReport {
  return {
    tokens: 0,
  }
}

export function encodeProgressedReport(message: ProgressedReport, writer: Writer): Writer {
  if (message.tokens !== 0) {
    writer.tag(8)
    writer.uint64(message.tokens)
  }
  return writer
}

export function decodeProgressedReport(reader: Reader, length?: number): ProgressedReport {
  const message = emptyProgressedReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.tokens = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface AbortedReport {
  cause: EndCause
}

export function emptyAbortedReport(): AbortedReport {
  return {
    cause: 'unspecified',
  }
}

export function encodeAbortedReport(message: AbortedReport, writer: Writer): Writer {
  if (message.cause !== 'unspecified') {
    writer.tag(8)
    writer.int32(encodeEndCause(message.cause))
  }
  return writer
}

export function decodeAbortedReport(reader: Reader, length?: number): AbortedReport {
  const message = emptyAbortedReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.cause = decodeEndCause(reader.enumeration())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What became of a request. Subject: request.<replica>.<request>. */
export interface LifecycleReport {
  request: number
  attempt: number
  /** As the reply has it: a report that came late, of a request of another journal, does not match and is not taken. */
  requestId: string
  report: 
    | { readonly kind: 'sent', readonly value: SentReport }
    | { readonly kind: 'started', readonly value: StartedReport }
    | { readonly kind: 'progressed', readonly value: ProgressedReport }
    | { readonly kind: 'ended', readonly value: EndedReport }
    | { readonly kind: 'failed', readonly value: AttemptFailure }
    | { readonly kind: 'aborted', readonly value: AbortedReport }
    | undefined
}

export function emptyLifecycleReport(): LifecycleReport {
  return {
    request: 0,
    attempt: 0,
    requestId: '',
    report: undefined,
  }
}

export function encodeLifecycleReport(message: LifecycleReport, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.requestId !== '') {
    writer.tag(26)
    writer.string(message.requestId)
  }
  if (message.report !== undefined) {
    switch (message.report.kind) {
      case 'sent': {
        writer.tag(34)
        const start = writer.open()
        encodeSentReport(message.report.value, writer)
        writer.close(start)
        break
      }
      case 'started': {
        writer.tag(42)
        const start = writer.open()
        encodeStartedReport(message.report.value, writer)
        writer.close(start)
        break
      }
      case 'progressed': {
        writer.tag(50)
        const start = writer.open()
        encodeProgressedReport(message.report.value, writer)
        writer.close(start)
        break
      }
      case 'ended': {
        writer.tag(58)
        const start = writer.open()
        encodeEndedReport(message.report.value, writer)
        writer.close(start)
        break
      }
      case 'failed': {
        writer.tag(66)
        const start = writer.open()
        encodeAttemptFailure(message.report.value, writer)
        writer.close(start)
        break
      }
      case 'aborted': {
        writer.tag(74)
        const start = writer.open()
        encodeAbortedReport(message.report.value, writer)
        writer.close(start)
        break
      }
    }
  }
  return writer
}

export function decodeLifecycleReport(reader: Reader, length?: number): LifecycleReport {
  const message = emptyLifecycleReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.request = reader.uint64()
        break
      case 16:
        message.attempt = reader.uint32()
        break
      case 26:
        message.requestId = reader.string()
        break
      case 34:
        message.report = { kind: 'sent', value: decodeSentReport(reader, reader.uint32()) }
        break
      case 42:
        message.report = { kind: 'started', value: decodeStartedReport(reader, reader.uint32()) }
        break
      case 50:
        message.report = { kind: 'progressed', value: decodeProgressedReport(reader, reader.uint32()) }
        break
      case 58:
        message.report = { kind: 'ended', value: decodeEndedReport(reader, reader.uint32()) }
        break
      case 66:
        message.report = { kind: 'failed', value: decodeAttemptFailure(reader, reader.uint32()) }
        break
      case 74:
        message.report = { kind: 'aborted', value: decodeAbortedReport(reader, reader.uint32()) }
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
