// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'

/** A name and its value. Lists of these stand in for maps: a map field has no order, and order is part of the answer. */
export interface Label {
  name: string
  value: string
}

export function emptyLabel(): Label {
  return {
    name: '',
    value: '',
  }
}

export function encodeLabel(message: Label, writer: Writer): Writer {
  if (message.name !== '') {
    writer.tag(10)
    writer.string(message.name)
  }
  if (message.value !== '') {
    writer.tag(18)
    writer.string(message.value)
  }
  return writer
}

export function decodeLabel(reader: Reader, length?: number): Label {
  const message = emptyLabel()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.name = reader.string()
        break
      case 18:
        message.value = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What an announcer says of one endpoint. The id is "namespace/name". */
export interface EndpointInfo {
  id: string
  /** An IP address or host name, without brackets. */
  address: string
  port: number
  labels: Label[]
  annotations: Label[]
  /** One life of the endpoint, minted by whoever announces it. */
  incarnation: string
  /** host:port that serves the metrics; empty means address:port. */
  metricsHostPort: string
}

export function emptyEndpointInfo(): EndpointInfo {
  return {
    id: '',
    address: '',
    port: 0,
    labels: [],
    annotations: [],
    incarnation: '',
    metricsHostPort: '',
  }
}

export function encodeEndpointInfo(message: EndpointInfo, writer: Writer): Writer {
  if (message.id !== '') {
    writer.tag(10)
    writer.string(message.id)
  }
  if (message.address !== '') {
    writer.tag(18)
    writer.string(message.address)
  }
  if (message.port !== 0) {
    writer.tag(24)
    writer.uint32(message.port)
  }
  for (const item of message.labels) {
    writer.tag(34)
    const start = writer.open()
    encodeLabel(item, writer)
    writer.close(start)
  }
  for (const item of message.annotations) {
    writer.tag(42)
    const start = writer.open()
    encodeLabel(item, writer)
    writer.close(start)
  }
  if (message.incarnation !== '') {
    writer.tag(50)
    writer.string(message.incarnation)
  }
  if (message.metricsHostPort !== '') {
    writer.tag(58)
    writer.string(message.metricsHostPort)
  }
  return writer
}

export function decodeEndpointInfo(reader: Reader, length?: number): EndpointInfo {
  const message = emptyEndpointInfo()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.id = reader.string()
        break
      case 18:
        message.address = reader.string()
        break
      case 24:
        message.port = reader.uint32()
        break
      case 34:
        message.labels.push(decodeLabel(reader, reader.uint32()))
        break
      case 42:
        message.annotations.push(decodeLabel(reader, reader.uint32()))
        break
      case 50:
        message.incarnation = reader.string()
        break
      case 58:
        message.metricsHostPort = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A LoRA adapter and how many requests run or wait on it. */
export interface ModelCount {
  model: string
  count: number
}

export function emptyModelCount(): ModelCount {
  return {
    model: '',
    count: 0,
  }
}

export function encodeModelCount(message: ModelCount, writer: Writer): Writer {
  if (message.model !== '') {
    writer.tag(10)
    writer.string(message.model)
  }
  if (message.count !== 0) {
    writer.tag(16)
    writer.uint32(message.count)
  }
  return writer
}

export function decodeModelCount(reader: Reader, length?: number): ModelCount {
  const message = emptyModelCount()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.model = reader.string()
        break
      case 16:
        message.count = reader.uint32()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What an engine reports of itself. Absent fields were not reported. */
export interface EndpointMetrics {
  waitingQueueSize: number | undefined
  runningRequestsSize: number | undefined
  /** A fraction from 0 to 1. */
  kvCacheUsage: number | undefined
  /** Tokens per KV-cache block. */
  cacheBlockSize: number | undefined
  cacheNumBlocks: number | undefined
  maxActiveModels: number | undefined
  activeModels: ModelCount[]
  waitingModels: ModelCount[]
  /** Whether the two model lists were reported (an empty list is a report too). */
  modelsReported: boolean
  custom: CustomMetric[]
}

export function emptyEndpointMetrics(): EndpointMetrics {
  return {
    waitingQueueSize: undefined,
    runningRequestsSize: undefined,
    kvCacheUsage: undefined,
    cacheBlockSize: undefined,
    cacheNumBlocks: undefined,
    maxActiveModels: undefined,
    activeModels: [],
    waitingModels: [],
    modelsReported: false,
    custom: [],
  }
}

export function encodeEndpointMetrics(message: EndpointMetrics, writer: Writer): Writer {
  if (message.waitingQueueSize !== undefined) {
    writer.tag(9)
    writer.double(message.waitingQueueSize)
  }
  if (message.runningRequestsSize !== undefined) {
    writer.tag(17)
    writer.double(message.runningRequestsSize)
  }
  if (message.kvCacheUsage !== undefined) {
    writer.tag(25)
    writer.double(message.kvCacheUsage)
  }
  if (message.cacheBlockSize !== undefined) {
    writer.tag(33)
    writer.double(message.cacheBlockSize)
  }
  if (message.cacheNumBlocks !== undefined) {
    writer.tag(41)
    writer.double(message.cacheNumBlocks)
  }
  if (message.maxActiveModels !== undefined) {
    writer.tag(49)
    writer.double(message.maxActiveModels)
  }
  for (const item of message.activeModels) {
    writer.tag(58)
    const start = writer.open()
    encodeModelCount(item, writer)
    writer.close(start)
  }
  for (const item of message.waitingModels) {
    writer.tag(66)
    const start = writer.open()
    encodeModelCount(item, writer)
    writer.close(start)
  }
  if (message.modelsReported) {
    writer.tag(72)
    writer.bool(message.modelsReported)
  }
  for (const item of message.custom) {
    writer.tag(82)
    const start = writer.open()
    encodeCustomMetric(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeEndpointMetrics(reader: Reader, length?: number): EndpointMetrics {
  const message = emptyEndpointMetrics()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 9:
        message.waitingQueueSize = reader.double()
        break
      case 17:
        message.runningRequestsSize = reader.double()
        break
      case 25:
        message.kvCacheUsage = reader.double()
        break
      case 33:
        message.cacheBlockSize = reader.double()
        break
      case 41:
        message.cacheNumBlocks = reader.double()
        break
      case 49:
        message.maxActiveModels = reader.double()
        break
      case 58:
        message.activeModels.push(decodeModelCount(reader, reader.uint32()))
        break
      case 66:
        message.waitingModels.push(decodeModelCount(reader, reader.uint32()))
        break
      case 72:
        message.modelsReported = reader.bool()
        break
      case 82:
        message.custom.push(decodeCustomMetric(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** A scalar that a configured extractor publishes under a name of its own. */
export interface CustomMetric {
  name: string
  value: number
}

export function emptyCustomMetric(): CustomMetric {
  return {
    name: '',
    value: 0,
  }
}

export function encodeCustomMetric(message: CustomMetric, writer: Writer): Writer {
  if (message.name !== '') {
    writer.tag(10)
    writer.string(message.name)
  }
  if (message.value !== 0 || Object.is(message.value, -0)) {
    writer.tag(17)
    writer.double(message.value)
  }
  return writer
}

export function decodeCustomMetric(reader: Reader, length?: number): CustomMetric {
  const message = emptyCustomMetric()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.name = reader.string()
        break
      case 17:
        message.value = reader.double()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
