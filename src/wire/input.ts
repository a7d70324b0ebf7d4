// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'
import { decodeEndpointInfo, decodeModelCount, encodeEndpointInfo, encodeModelCount } from './endpoint.ts'
import type { EndpointInfo, ModelCount } from './endpoint.ts'
import { decodeBlockKeys, decodeRequestReceived, decodeRequestShape, decodeUsage, encodeBlockKeys, encodeRequestReceived, encodeRequestShape, encodeUsage } from './request.ts'
import type { BlockKeys, RequestReceived, RequestShape, Usage } from './request.ts'

/** One plugin of the running set. */
export interface PluginIdentity {
  name: string
  type: string
  /** Hash of the code where the plugin is not one of the built-in ones; else empty. */
  contentHash: string
}

export function emptyPluginIdentity(): PluginIdentity {
  return {
    name: '',
    type: '',
    contentHash: '',
  }
}

export function encodePluginIdentity(message: PluginIdentity, writer: Writer): Writer {
  if (message.name !== '') {
    writer.tag(10)
    writer.string(message.name)
  }
  if (message.type !== '') {
    writer.tag(18)
    writer.string(message.type)
  }
  if (message.contentHash !== '') {
    writer.tag(26)
    writer.string(message.contentHash)
  }
  return writer
}

export function decodePluginIdentity(reader: Reader, length?: number): PluginIdentity {
  const message = emptyPluginIdentity()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.name = reader.string()
        break
      case 18:
        message.type = reader.string()
        break
      case 26:
        message.contentHash = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The engine began a run. The configuration is complete: environment, defaults and injections resolved, secrets removed. */
export interface EngineStarted {
  /** JSON of the completed configuration. */
  configuration: string
  plugins: PluginIdentity[]
  seed: bigint
  /** The version of signalbox. */
  version: string
  wallTimeUs: number
  /** One run of one process. */
  runId: string
  pool: string
  replica: string
}

export function emptyEngineStarted(): EngineStarted {
  return {
    configuration: '',
    plugins: [],
    seed: 0n,
    version: '',
    wallTimeUs: 0,
    runId: '',
    pool: '',
    replica: '',
  }
}

export function encodeEngineStarted(message: EngineStarted, writer: Writer): Writer {
  if (message.configuration !== '') {
    writer.tag(10)
    writer.string(message.configuration)
  }
  for (const item of message.plugins) {
    writer.tag(18)
    const start = writer.open()
    encodePluginIdentity(item, writer)
    writer.close(start)
  }
  if (message.seed !== 0n) {
    writer.tag(25)
    writer.fixed64(message.seed)
  }
  if (message.version !== '') {
    writer.tag(34)
    writer.string(message.version)
  }
  if (message.wallTimeUs !== 0) {
    writer.tag(40)
    writer.uint64(message.wallTimeUs)
  }
  if (message.runId !== '') {
    writer.tag(50)
    writer.string(message.runId)
  }
  if (message.pool !== '') {
    writer.tag(58)
    writer.string(message.pool)
  }
  if (message.replica !== '') {
    writer.tag(66)
    writer.string(message.replica)
  }
  return writer
}

export function decodeEngineStarted(reader: Reader, length?: number): EngineStarted {
  const message = emptyEngineStarted()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.configuration = reader.string()
        break
      case 18:
        message.plugins.push(decodePluginIdentity(reader, reader.uint32()))
        break
      case 25:
        message.seed = reader.fixed64()
        break
      case 34:
        message.version = reader.string()
        break
      case 40:
        message.wallTimeUs = reader.uint64()
        break
      case 50:
        message.runId = reader.string()
        break
      case 58:
        message.pool = reader.string()
        break
      case 66:
        message.replica = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface EndpointJoined {
  endpoint: EndpointInfo | undefined
}

export function emptyEndpointJoined(): EndpointJoined {
  return {
    endpoint: undefined,
  }
}

export function encodeEndpointJoined(message: EndpointJoined, writer: Writer): Writer {
  if (message.endpoint !== undefined) {
    writer.tag(10)
    const start = writer.open()
    encodeEndpointInfo(message.endpoint, writer)
    writer.close(start)
  }
  return writer
}

export function decodeEndpointJoined(reader: Reader, length?: number): EndpointJoined {
  const message = emptyEndpointJoined()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = decodeEndpointInfo(reader, reader.uint32())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface EndpointUpdated {
  endpoint: EndpointInfo | undefined
}

export function emptyEndpointUpdated(): EndpointUpdated {
  return {
    endpoint: undefined,
  }
}

export function encodeEndpointUpdated(message: EndpointUpdated, writer: Writer): Writer {
  if (message.endpoint !== undefined) {
    writer.tag(10)
    const start = writer.open()
    encodeEndpointInfo(message.endpoint, writer)
    writer.close(start)
  }
  return writer
}

export function decodeEndpointUpdated(reader: Reader, length?: number): EndpointUpdated {
  const message = emptyEndpointUpdated()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = decodeEndpointInfo(reader, reader.uint32())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface EndpointDraining {
  endpoint: string
  /** Why, in words: "operator", "announced". */
  reason: string
}

export function emptyEndpointDraining(): EndpointDraining {
  return {
    endpoint: '',
    reason: '',
  }
}

export function encodeEndpointDraining(message: EndpointDraining, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.reason !== '') {
    writer.tag(18)
    writer.string(message.reason)
  }
  return writer
}

export function decodeEndpointDraining(reader: Reader, length?: number): EndpointDraining {
  const message = emptyEndpointDraining()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 18:
        message.reason = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface EndpointLeft {
  endpoint: string
  /** Only this life of it; empty means whichever is there. */
  incarnation: string
  reason: string
}

export function emptyEndpointLeft(): EndpointLeft {
  return {
    endpoint: '',
    incarnation: '',
    reason: '',
  }
}

export function encodeEndpointLeft(message: EndpointLeft, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  if (message.reason !== '') {
    writer.tag(26)
    writer.string(message.reason)
  }
  return writer
}

export function decodeEndpointLeft(reader: Reader, length?: number): EndpointLeft {
  const message = emptyEndpointLeft()
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
      case 26:
        message.reason = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/**
 * One metric of several endpoints: slot numbers as differences to the one before, values in the same order.
 * Either `whole` or `real` holds the values; `whole` is the shorter form when all are whole and not negative.
 */
export interface MetricColumn {
  /** Name of the field of EndpointMetrics in snake case, or a custom metric's name. */
  metric: string
  custom: boolean
  slotDeltas: number[]
  whole: number[]
  real: number[]
}

export function emptyMetricColumn(): MetricColumn {
  return {
    metric: '',
    custom: false,
    slotDeltas: [],
    whole: [],
    real: [],
  }
}

export function encodeMetricColumn(message: MetricColumn, writer: Writer): Writer {
  if (message.metric !== '') {
    writer.tag(10)
    writer.string(message.metric)
  }
  if (message.custom) {
    writer.tag(16)
    writer.bool(message.custom)
  }
  if (message.slotDeltas.length > 0) {
    writer.tag(26)
    const start = writer.open()
    for (const item of message.slotDeltas) writer.uint32(item)
    writer.close(start)
  }
  if (message.whole.length > 0) {
    writer.tag(34)
    const start = writer.open()
    for (const item of message.whole) writer.uint64(item)
    writer.close(start)
  }
  if (message.real.length > 0) {
    writer.tag(42)
    const start = writer.open()
    for (const item of message.real) writer.double(item)
    writer.close(start)
  }
  return writer
}

export function decodeMetricColumn(reader: Reader, length?: number): MetricColumn {
  const message = emptyMetricColumn()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.metric = reader.string()
        break
      case 16:
        message.custom = reader.bool()
        break
      case 26: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.slotDeltas.push(reader.uint32())
        reader.finish(end)
        break
      }
      case 24:
        message.slotDeltas.push(reader.uint32())
        break
      case 34: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.whole.push(reader.uint64())
        reader.finish(end)
        break
      }
      case 32:
        message.whole.push(reader.uint64())
        break
      case 42: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.real.push(reader.double())
        reader.finish(end)
        break
      }
      case 41:
        message.real.push(reader.double())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface ModelReport {
  slot: number
  active: ModelCount[]
  waiting: ModelCount[]
}

export function emptyModelReport(): ModelReport {
  return {
    slot: 0,
    active: [],
    waiting: [],
  }
}

export function encodeModelReport(message: ModelReport, writer: Writer): Writer {
  if (message.slot !== 0) {
    writer.tag(8)
    writer.uint32(message.slot)
  }
  for (const item of message.active) {
    writer.tag(18)
    const start = writer.open()
    encodeModelCount(item, writer)
    writer.close(start)
  }
  for (const item of message.waiting) {
    writer.tag(26)
    const start = writer.open()
    encodeModelCount(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeModelReport(reader: Reader, length?: number): ModelReport {
  const message = emptyModelReport()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.slot = reader.uint32()
        break
      case 18:
        message.active.push(decodeModelCount(reader, reader.uint32()))
        break
      case 26:
        message.waiting.push(decodeModelCount(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What arrived since the last tick: the changed values, and who was heard from at all. */
export interface TelemetryTick {
  /** One bit a slot, slot 0 is the lowest bit of the first byte. */
  heard: Uint8Array
  columns: MetricColumn[]
  models: ModelReport[]
  /** Reports that newer ones replaced before this tick took them. */
  superseded: number
}

export function emptyTelemetryTick(): TelemetryTick {
  return {
    heard: new Uint8Array(0),
    columns: [],
    models: [],
    superseded: 0,
  }
}

export function encodeTelemetryTick(message: TelemetryTick, writer: Writer): Writer {
  if (message.heard.length > 0) {
    writer.tag(10)
    writer.data(message.heard)
  }
  for (const item of message.columns) {
    writer.tag(18)
    const start = writer.open()
    encodeMetricColumn(item, writer)
    writer.close(start)
  }
  for (const item of message.models) {
    writer.tag(26)
    const start = writer.open()
    encodeModelReport(item, writer)
    writer.close(start)
  }
  if (message.superseded !== 0) {
    writer.tag(32)
    writer.uint64(message.superseded)
  }
  return writer
}

export function decodeTelemetryTick(reader: Reader, length?: number): TelemetryTick {
  const message = emptyTelemetryTick()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.heard = reader.data()
        break
      case 18:
        message.columns.push(decodeMetricColumn(reader, reader.uint32()))
        break
      case 26:
        message.models.push(decodeModelReport(reader, reader.uint32()))
        break
      case 32:
        message.superseded = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface KvBlocksStored {
  endpoint: string
  incarnation: string
  /** 8 bytes a key, little-endian. */
  keys: Uint8Array
  tier: string
  blockTokens: number
}

export function emptyKvBlocksStored(): KvBlocksStored {
  return {
    endpoint: '',
    incarnation: '',
    keys: new Uint8Array(0),
    tier: '',
    blockTokens: 0,
  }
}

export function encodeKvBlocksStored(message: KvBlocksStored, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  if (message.keys.length > 0) {
    writer.tag(26)
    writer.data(message.keys)
  }
  if (message.tier !== '') {
    writer.tag(34)
    writer.string(message.tier)
  }
  if (message.blockTokens !== 0) {
    writer.tag(40)
    writer.uint32(message.blockTokens)
  }
  return writer
}

export function decodeKvBlocksStored(reader: Reader, length?: number): KvBlocksStored {
  const message = emptyKvBlocksStored()
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
      case 26:
        message.keys = reader.data()
        break
      case 34:
        message.tier = reader.string()
        break
      case 40:
        message.blockTokens = reader.uint32()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface KvBlocksRemoved {
  endpoint: string
  incarnation: string
  keys: Uint8Array
  tier: string
}

export function emptyKvBlocksRemoved(): KvBlocksRemoved {
  return {
    endpoint: '',
    incarnation: '',
    keys: new Uint8Array(0),
    tier: '',
  }
}

export function encodeKvBlocksRemoved(message: KvBlocksRemoved, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  if (message.keys.length > 0) {
    writer.tag(26)
    writer.data(message.keys)
  }
  if (message.tier !== '') {
    writer.tag(34)
    writer.string(message.tier)
  }
  return writer
}

export function decodeKvBlocksRemoved(reader: Reader, length?: number): KvBlocksRemoved {
  const message = emptyKvBlocksRemoved()
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
      case 26:
        message.keys = reader.data()
        break
      case 34:
        message.tier = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface KvBlocksCleared {
  endpoint: string
  incarnation: string
}

export function emptyKvBlocksCleared(): KvBlocksCleared {
  return {
    endpoint: '',
    incarnation: '',
  }
}

export function encodeKvBlocksCleared(message: KvBlocksCleared, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(18)
    writer.string(message.incarnation)
  }
  return writer
}

export function decodeKvBlocksCleared(reader: Reader, length?: number): KvBlocksCleared {
  const message = emptyKvBlocksCleared()
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
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** An asynchronous producer's answer, or its error. */
export interface AttributesReported {
  request: number
  producer: string
  shape: RequestShape | undefined
  error: string
}

export function emptyAttributesReported(): AttributesReported {
  return {
    request: 0,
    producer: '',
    shape: undefined,
    error: '',
  }
}

export function encodeAttributesReported(message: AttributesReported, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.producer !== '') {
    writer.tag(18)
    writer.string(message.producer)
  }
  if (message.shape !== undefined) {
    writer.tag(26)
    const start = writer.open()
    encodeRequestShape(message.shape, writer)
    writer.close(start)
  }
  if (message.error !== '') {
    writer.tag(34)
    writer.string(message.error)
  }
  return writer
}

export function decodeAttributesReported(reader: Reader, length?: number): AttributesReported {
  const message = emptyAttributesReported()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.request = reader.uint64()
        break
      case 18:
        message.producer = reader.string()
        break
      case 26:
        message.shape = decodeRequestShape(reader, reader.uint32())
        break
      case 34:
        message.error = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The data plane took the request to the endpoints of this attempt. */
export interface RequestSent {
  request: number
  attempt: number
}

export function emptyRequestSent(): RequestSent {
  return {
    request: 0,
    attempt: 0,
  }
}

export function encodeRequestSent(message: RequestSent, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  return writer
}

export function decodeRequestSent(reader: Reader, length?: number): RequestSent {
  const message = emptyRequestSent()
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
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A stage is over before the response is: a prefill that runs beside its decode. */
export interface StageEnded {
  request: number
  attempt: number
  /** "prefill". */
  stage: string
  /** What the endpoint answered; 0 when it gave no answer. */
  status: number
}

export function emptyStageEnded(): StageEnded {
  return {
    request: 0,
    attempt: 0,
    stage: '',
    status: 0,
  }
}

export function encodeStageEnded(message: StageEnded, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.stage !== '') {
    writer.tag(26)
    writer.string(message.stage)
  }
  if (message.status !== 0) {
    writer.tag(32)
    writer.uint32(message.status)
  }
  return writer
}

export function decodeStageEnded(reader: Reader, length?: number): StageEnded {
  const message = emptyStageEnded()
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
        message.stage = reader.string()
        break
      case 32:
        message.status = reader.uint32()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** First byte of the response body (StartOfStream). */
export interface ResponseStarted {
  request: number
  attempt: number
  status: number
  streaming: boolean
}

export function emptyResponseStarted(): ResponseStarted {
  return {
    request: 0,
    attempt: 0,
    status: 0,
    streaming: false,
  }
}

export function encodeResponseStarted(message: ResponseStarted, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.status !== 0) {
    writer.tag(24)
    writer.uint32(message.status)
  }
  if (message.streaming) {
    writer.tag(32)
    writer.bool(message.streaming)
  }
  return writer
}

export function decodeResponseStarted(reader: Reader, length?: number): ResponseStarted {
  const message = emptyResponseStarted()
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
      case 24:
        message.status = reader.uint32()
        break
      case 32:
        message.streaming = reader.bool()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RequestProgressed {
  request: number
  tokens: number
}

export function emptyRequestProgressed(): RequestProgressed {
  return {
    request: 0,
    tokens: 0,
  }
}

export function encodeRequestProgressed(message: RequestProgressed, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.tokens !== 0) {
    writer.tag(16)
    writer.uint64(message.tokens)
  }
  return writer
}

export function decodeRequestProgressed(reader: Reader, length?: number): RequestProgressed {
  const message = emptyRequestProgressed()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.request = reader.uint64()
        break
      case 16:
        message.tokens = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export type EndCause =
  | 'unspecified'
  | 'natural'
  | 'client-disconnect'
  | 'evicted'
  | 'error'
  | 'scheduler-restarted'

export function encodeEndCause(value: EndCause): number {
  switch (value) {
    case 'unspecified': return 0
    case 'natural': return 1
    case 'client-disconnect': return 2
    case 'evicted': return 3
    case 'error': return 4
    case 'scheduler-restarted': return 5
  }
}

/** A number that this schema does not know reads as 'unspecified'. */
export function decodeEndCause(number: number): EndCause {
  switch (number) {
    case 1: return 'natural'
    case 2: return 'client-disconnect'
    case 3: return 'evicted'
    case 4: return 'error'
    case 5: return 'scheduler-restarted'
    default: return 'unspecified'
  }
}

/** Last byte of the response (EndOfStream). */
export interface ResponseEnded {
  request: number
  attempt: number
  cause: EndCause
  usage: Usage | undefined
  status: number
  /** Bytes of the response body. */
  bodyBytes: number
}

export function emptyResponseEnded(): ResponseEnded {
  return {
    request: 0,
    attempt: 0,
    cause: 'unspecified',
    usage: undefined,
    status: 0,
    bodyBytes: 0,
  }
}

export function encodeResponseEnded(message: ResponseEnded, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.cause !== 'unspecified') {
    writer.tag(24)
    writer.int32(encodeEndCause(message.cause))
  }
  if (message.usage !== undefined) {
    writer.tag(34)
    const start = writer.open()
    encodeUsage(message.usage, writer)
    writer.close(start)
  }
  if (message.status !== 0) {
    writer.tag(40)
    writer.uint32(message.status)
  }
  if (message.bodyBytes !== 0) {
    writer.tag(48)
    writer.uint64(message.bodyBytes)
  }
  return writer
}

export function decodeResponseEnded(reader: Reader, length?: number): ResponseEnded {
  const message = emptyResponseEnded()
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
      case 24:
        message.cause = decodeEndCause(reader.enumeration())
        break
      case 34:
        message.usage = decodeUsage(reader, reader.uint32())
        break
      case 40:
        message.status = reader.uint32()
        break
      case 48:
        message.bodyBytes = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export type FailureCause =
  | 'unspecified'
  | 'connect'
  | 'reset'
  | 'unavailable'
  | 'timeout'
  | 'malformed'
  | 'truncated'

export function encodeFailureCause(value: FailureCause): number {
  switch (value) {
    case 'unspecified': return 0
    case 'connect': return 1
    case 'reset': return 2
    case 'unavailable': return 3
    case 'timeout': return 4
    case 'malformed': return 5
    case 'truncated': return 6
  }
}

/** A number that this schema does not know reads as 'unspecified'. */
export function decodeFailureCause(number: number): FailureCause {
  switch (number) {
    case 1: return 'connect'
    case 2: return 'reset'
    case 3: return 'unavailable'
    case 4: return 'timeout'
    case 5: return 'malformed'
    case 6: return 'truncated'
    default: return 'unspecified'
  }
}

export interface RequestAttemptFailed {
  request: number
  attempt: number
  endpoint: string
  cause: FailureCause
  status: number
  /** True when no byte of a response had come, so another endpoint may be tried. */
  retryable: boolean
}

export function emptyRequestAttemptFailed(): RequestAttemptFailed {
  return {
    request: 0,
    attempt: 0,
    endpoint: '',
    cause: 'unspecified',
    status: 0,
    retryable: false,
  }
}

export function encodeRequestAttemptFailed(message: RequestAttemptFailed, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.endpoint !== '') {
    writer.tag(26)
    writer.string(message.endpoint)
  }
  if (message.cause !== 'unspecified') {
    writer.tag(32)
    writer.int32(encodeFailureCause(message.cause))
  }
  if (message.status !== 0) {
    writer.tag(40)
    writer.uint32(message.status)
  }
  if (message.retryable) {
    writer.tag(48)
    writer.bool(message.retryable)
  }
  return writer
}

export function decodeRequestAttemptFailed(reader: Reader, length?: number): RequestAttemptFailed {
  const message = emptyRequestAttemptFailed()
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
        message.endpoint = reader.string()
        break
      case 32:
        message.cause = decodeFailureCause(reader.enumeration())
        break
      case 40:
        message.status = reader.uint32()
        break
      case 48:
        message.retryable = reader.bool()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RequestAborted {
  request: number
  cause: EndCause
}

export function emptyRequestAborted(): RequestAborted {
  return {
    request: 0,
    cause: 'unspecified',
  }
}

export function encodeRequestAborted(message: RequestAborted, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.cause !== 'unspecified') {
    writer.tag(16)
    writer.int32(encodeEndCause(message.cause))
  }
  return writer
}

export function decodeRequestAborted(reader: Reader, length?: number): RequestAborted {
  const message = emptyRequestAborted()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.request = reader.uint64()
        break
      case 16:
        message.cause = decodeEndCause(reader.enumeration())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The wake-up asked for came: every timer due at the record's time fires, by (deadline, key). */
export interface TimerFired {
  deadlineUs: number
}

export function emptyTimerFired(): TimerFired {
  return {
    deadlineUs: 0,
  }
}

export function encodeTimerFired(message: TimerFired, writer: Writer): Writer {
  if (message.deadlineUs !== 0) {
    writer.tag(8)
    writer.uint64(message.deadlineUs)
  }
  return writer
}

export function decodeTimerFired(reader: Reader, length?: number): TimerFired {
  const message = emptyTimerFired()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.deadlineUs = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface LoadAssigned {
  request: number
  attempt: number
  profile: string
  endpoint: string
  incarnation: string
  promptTokens: number
  outputTokens: number
  /**
   * What the endpoint has in its cache from now on, one list a prompt; told once. Masked under the pool's secret where
   * there is one, as in every other place.
   */
  blocks: BlockKeys[]
}

export function emptyLoadAssigned(): LoadAssigned {
  return {
    request: 0,
    attempt: 0,
    profile: '',
    endpoint: '',
    incarnation: '',
    promptTokens: 0,
    outputTokens: 0,
    blocks: [],
  }
}

export function encodeLoadAssigned(message: LoadAssigned, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.profile !== '') {
    writer.tag(26)
    writer.string(message.profile)
  }
  if (message.endpoint !== '') {
    writer.tag(34)
    writer.string(message.endpoint)
  }
  if (message.incarnation !== '') {
    writer.tag(42)
    writer.string(message.incarnation)
  }
  if (message.promptTokens !== 0) {
    writer.tag(48)
    writer.uint64(message.promptTokens)
  }
  if (message.outputTokens !== 0) {
    writer.tag(56)
    writer.uint64(message.outputTokens)
  }
  for (const item of message.blocks) {
    writer.tag(66)
    const start = writer.open()
    encodeBlockKeys(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeLoadAssigned(reader: Reader, length?: number): LoadAssigned {
  const message = emptyLoadAssigned()
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
        message.profile = reader.string()
        break
      case 34:
        message.endpoint = reader.string()
        break
      case 42:
        message.incarnation = reader.string()
        break
      case 48:
        message.promptTokens = reader.uint64()
        break
      case 56:
        message.outputTokens = reader.uint64()
        break
      case 66:
        message.blocks.push(decodeBlockKeys(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface LoadReleased {
  request: number
  attempt: number
  profile: string
}

export function emptyLoadReleased(): LoadReleased {
  return {
    request: 0,
    attempt: 0,
    profile: '',
  }
}

export function encodeLoadReleased(message: LoadReleased, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.profile !== '') {
    writer.tag(26)
    writer.string(message.profile)
  }
  return writer
}

export function decodeLoadReleased(reader: Reader, length?: number): LoadReleased {
  const message = emptyLoadReleased()
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
        message.profile = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A peer replica told of its load. `open` replaces all that was held for the replica. */
export interface PeerLoadReported {
  replica: string
  runId: string
  sequence: number
  opens: boolean
  assigned: LoadAssigned[]
  released: LoadReleased[]
}

export function emptyPeerLoadReported(): PeerLoadReported {
  return {
    replica: '',
    runId: '',
    sequence: 0,
    opens: false,
    assigned: [],
    released: [],
  }
}

export function encodePeerLoadReported(message: PeerLoadReported, writer: Writer): Writer {
  if (message.replica !== '') {
    writer.tag(10)
    writer.string(message.replica)
  }
  if (message.runId !== '') {
    writer.tag(18)
    writer.string(message.runId)
  }
  if (message.sequence !== 0) {
    writer.tag(24)
    writer.uint64(message.sequence)
  }
  if (message.opens) {
    writer.tag(32)
    writer.bool(message.opens)
  }
  for (const item of message.assigned) {
    writer.tag(42)
    const start = writer.open()
    encodeLoadAssigned(item, writer)
    writer.close(start)
  }
  for (const item of message.released) {
    writer.tag(50)
    const start = writer.open()
    encodeLoadReleased(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodePeerLoadReported(reader: Reader, length?: number): PeerLoadReported {
  const message = emptyPeerLoadReported()
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
        message.sequence = reader.uint64()
        break
      case 32:
        message.opens = reader.bool()
        break
      case 42:
        message.assigned.push(decodeLoadAssigned(reader, reader.uint32()))
        break
      case 50:
        message.released.push(decodeLoadReleased(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface ReplicaLeaseEnded {
  replica: string
  runId: string
}

export function emptyReplicaLeaseEnded(): ReplicaLeaseEnded {
  return {
    replica: '',
    runId: '',
  }
}

export function encodeReplicaLeaseEnded(message: ReplicaLeaseEnded, writer: Writer): Writer {
  if (message.replica !== '') {
    writer.tag(10)
    writer.string(message.replica)
  }
  if (message.runId !== '') {
    writer.tag(18)
    writer.string(message.runId)
  }
  return writer
}

export function decodeReplicaLeaseEnded(reader: Reader, length?: number): ReplicaLeaseEnded {
  const message = emptyReplicaLeaseEnded()
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
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** One thing that happened to the engine, in the order in which it took it. */
export interface Input {
  input: 
    | { readonly kind: 'engineStarted', readonly value: EngineStarted }
    | { readonly kind: 'endpointJoined', readonly value: EndpointJoined }
    | { readonly kind: 'endpointUpdated', readonly value: EndpointUpdated }
    | { readonly kind: 'endpointDraining', readonly value: EndpointDraining }
    | { readonly kind: 'endpointLeft', readonly value: EndpointLeft }
    | { readonly kind: 'telemetryTick', readonly value: TelemetryTick }
    | { readonly kind: 'kvBlocksStored', readonly value: KvBlocksStored }
    | { readonly kind: 'kvBlocksRemoved', readonly value: KvBlocksRemoved }
    | { readonly kind: 'kvBlocksCleared', readonly value: KvBlocksCleared }
    | { readonly kind: 'attributesReported', readonly value: AttributesReported }
    | { readonly kind: 'requestReceived', readonly value: RequestReceived }
    | { readonly kind: 'requestSent', readonly value: RequestSent }
    | { readonly kind: 'responseStarted', readonly value: ResponseStarted }
    | { readonly kind: 'requestProgressed', readonly value: RequestProgressed }
    | { readonly kind: 'responseEnded', readonly value: ResponseEnded }
    | { readonly kind: 'requestAttemptFailed', readonly value: RequestAttemptFailed }
    | { readonly kind: 'requestAborted', readonly value: RequestAborted }
    | { readonly kind: 'timerFired', readonly value: TimerFired }
    | { readonly kind: 'peerLoadReported', readonly value: PeerLoadReported }
    | { readonly kind: 'replicaLeaseEnded', readonly value: ReplicaLeaseEnded }
    | { readonly kind: 'stageEnded', readonly value: StageEnded }
    | undefined
}

export function emptyInput(): Input {
  return {
    input: undefined,
  }
}

export function encodeInput(message: Input, writer: Writer): Writer {
  if (message.input !== undefined) {
    switch (message.input.kind) {
      case 'engineStarted': {
        writer.tag(10)
        const start = writer.open()
        encodeEngineStarted(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'endpointJoined': {
        writer.tag(18)
        const start = writer.open()
        encodeEndpointJoined(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'endpointUpdated': {
        writer.tag(26)
        const start = writer.open()
        encodeEndpointUpdated(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'endpointDraining': {
        writer.tag(34)
        const start = writer.open()
        encodeEndpointDraining(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'endpointLeft': {
        writer.tag(42)
        const start = writer.open()
        encodeEndpointLeft(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'telemetryTick': {
        writer.tag(50)
        const start = writer.open()
        encodeTelemetryTick(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'kvBlocksStored': {
        writer.tag(58)
        const start = writer.open()
        encodeKvBlocksStored(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'kvBlocksRemoved': {
        writer.tag(66)
        const start = writer.open()
        encodeKvBlocksRemoved(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'kvBlocksCleared': {
        writer.tag(74)
        const start = writer.open()
        encodeKvBlocksCleared(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'attributesReported': {
        writer.tag(82)
        const start = writer.open()
        encodeAttributesReported(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'requestReceived': {
        writer.tag(90)
        const start = writer.open()
        encodeRequestReceived(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'requestSent': {
        writer.tag(98)
        const start = writer.open()
        encodeRequestSent(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'responseStarted': {
        writer.tag(106)
        const start = writer.open()
        encodeResponseStarted(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'requestProgressed': {
        writer.tag(114)
        const start = writer.open()
        encodeRequestProgressed(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'responseEnded': {
        writer.tag(122)
        const start = writer.open()
        encodeResponseEnded(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'requestAttemptFailed': {
        writer.tag(130)
        const start = writer.open()
        encodeRequestAttemptFailed(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'requestAborted': {
        writer.tag(138)
        const start = writer.open()
        encodeRequestAborted(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'timerFired': {
        writer.tag(146)
        const start = writer.open()
        encodeTimerFired(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'peerLoadReported': {
        writer.tag(154)
        const start = writer.open()
        encodePeerLoadReported(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'replicaLeaseEnded': {
        writer.tag(162)
        const start = writer.open()
        encodeReplicaLeaseEnded(message.input.value, writer)
        writer.close(start)
        break
      }
      case 'stageEnded': {
        writer.tag(170)
        const start = writer.open()
        encodeStageEnded(message.input.value, writer)
        writer.close(start)
        break
      }
    }
  }
  return writer
}

export function decodeInput(reader: Reader, length?: number): Input {
  const message = emptyInput()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.input = { kind: 'engineStarted', value: decodeEngineStarted(reader, reader.uint32()) }
        break
      case 18:
        message.input = { kind: 'endpointJoined', value: decodeEndpointJoined(reader, reader.uint32()) }
        break
      case 26:
        message.input = { kind: 'endpointUpdated', value: decodeEndpointUpdated(reader, reader.uint32()) }
        break
      case 34:
        message.input = { kind: 'endpointDraining', value: decodeEndpointDraining(reader, reader.uint32()) }
        break
      case 42:
        message.input = { kind: 'endpointLeft', value: decodeEndpointLeft(reader, reader.uint32()) }
        break
      case 50:
        message.input = { kind: 'telemetryTick', value: decodeTelemetryTick(reader, reader.uint32()) }
        break
      case 58:
        message.input = { kind: 'kvBlocksStored', value: decodeKvBlocksStored(reader, reader.uint32()) }
        break
      case 66:
        message.input = { kind: 'kvBlocksRemoved', value: decodeKvBlocksRemoved(reader, reader.uint32()) }
        break
      case 74:
        message.input = { kind: 'kvBlocksCleared', value: decodeKvBlocksCleared(reader, reader.uint32()) }
        break
      case 82:
        message.input = { kind: 'attributesReported', value: decodeAttributesReported(reader, reader.uint32()) }
        break
      case 90:
        message.input = { kind: 'requestReceived', value: decodeRequestReceived(reader, reader.uint32()) }
        break
      case 98:
        message.input = { kind: 'requestSent', value: decodeRequestSent(reader, reader.uint32()) }
        break
      case 106:
        message.input = { kind: 'responseStarted', value: decodeResponseStarted(reader, reader.uint32()) }
        break
      case 114:
        message.input = { kind: 'requestProgressed', value: decodeRequestProgressed(reader, reader.uint32()) }
        break
      case 122:
        message.input = { kind: 'responseEnded', value: decodeResponseEnded(reader, reader.uint32()) }
        break
      case 130:
        message.input = { kind: 'requestAttemptFailed', value: decodeRequestAttemptFailed(reader, reader.uint32()) }
        break
      case 138:
        message.input = { kind: 'requestAborted', value: decodeRequestAborted(reader, reader.uint32()) }
        break
      case 146:
        message.input = { kind: 'timerFired', value: decodeTimerFired(reader, reader.uint32()) }
        break
      case 154:
        message.input = { kind: 'peerLoadReported', value: decodePeerLoadReported(reader, reader.uint32()) }
        break
      case 162:
        message.input = { kind: 'replicaLeaseEnded', value: decodeReplicaLeaseEnded(reader, reader.uint32()) }
        break
      case 170:
        message.input = { kind: 'stageEnded', value: decodeStageEnded(reader, reader.uint32()) }
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
