// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'
import { decodeRejection, encodeRejection } from './decision.ts'
import type { Rejection } from './decision.ts'
import { decodeEndpointInfo, decodeEndpointMetrics, encodeEndpointInfo, encodeEndpointMetrics } from './endpoint.ts'
import type { EndpointInfo, EndpointMetrics } from './endpoint.ts'
import { decodeEngineStarted, encodeEngineStarted } from './input.ts'
import type { EngineStarted } from './input.ts'
import { decodeRequestReceived, encodeRequestReceived } from './request.ts'
import type { RequestReceived } from './request.ts'

export interface EndpointState {
  endpoint: EndpointInfo | undefined
  slot: number
  /** Active leaf states, as the machine names them. */
  machine: string
  metrics: EndpointMetrics | undefined
  /** When it was last heard from; 0 never. */
  heardAtUs: number
  strikes: number
  backoffs: number
  joinedAtUs: number
  /** Sequence number of this life among all lives of the engine. */
  life: number
}

export function emptyEndpointState(): EndpointState {
  return {
    endpoint: undefined,
    slot: 0,
    machine: '',
    metrics: undefined,
    heardAtUs: 0,
    strikes: 0,
    backoffs: 0,
    joinedAtUs: 0,
    life: 0,
  }
}

export function encodeEndpointState(message: EndpointState, writer: Writer): Writer {
  if (message.endpoint !== undefined) {
    writer.tag(10)
    const start = writer.open()
    encodeEndpointInfo(message.endpoint, writer)
    writer.close(start)
  }
  if (message.slot !== 0) {
    writer.tag(16)
    writer.uint32(message.slot)
  }
  if (message.machine !== '') {
    writer.tag(26)
    writer.string(message.machine)
  }
  if (message.metrics !== undefined) {
    writer.tag(34)
    const start = writer.open()
    encodeEndpointMetrics(message.metrics, writer)
    writer.close(start)
  }
  if (message.heardAtUs !== 0) {
    writer.tag(40)
    writer.uint64(message.heardAtUs)
  }
  if (message.strikes !== 0) {
    writer.tag(48)
    writer.uint32(message.strikes)
  }
  if (message.backoffs !== 0) {
    writer.tag(56)
    writer.uint32(message.backoffs)
  }
  if (message.joinedAtUs !== 0) {
    writer.tag(64)
    writer.uint64(message.joinedAtUs)
  }
  if (message.life !== 0) {
    writer.tag(72)
    writer.uint64(message.life)
  }
  return writer
}

export function decodeEndpointState(reader: Reader, length?: number): EndpointState {
  const message = emptyEndpointState()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = decodeEndpointInfo(reader, reader.uint32())
        break
      case 16:
        message.slot = reader.uint32()
        break
      case 26:
        message.machine = reader.string()
        break
      case 34:
        message.metrics = decodeEndpointMetrics(reader, reader.uint32())
        break
      case 40:
        message.heardAtUs = reader.uint64()
        break
      case 48:
        message.strikes = reader.uint32()
        break
      case 56:
        message.backoffs = reader.uint32()
        break
      case 64:
        message.joinedAtUs = reader.uint64()
        break
      case 72:
        message.life = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface AssignmentState {
  profile: string
  stage: string
  endpoint: string
  life: number
  promptTokens: number
  outputTokens: number
}

export function emptyAssignmentState(): AssignmentState {
  return {
    profile: '',
    stage: '',
    endpoint: '',
    life: 0,
    promptTokens: 0,
    outputTokens: 0,
  }
}

export function encodeAssignmentState(message: AssignmentState, writer: Writer): Writer {
  if (message.profile !== '') {
    writer.tag(10)
    writer.string(message.profile)
  }
  if (message.stage !== '') {
    writer.tag(18)
    writer.string(message.stage)
  }
  if (message.endpoint !== '') {
    writer.tag(26)
    writer.string(message.endpoint)
  }
  if (message.life !== 0) {
    writer.tag(32)
    writer.uint64(message.life)
  }
  if (message.promptTokens !== 0) {
    writer.tag(40)
    writer.uint64(message.promptTokens)
  }
  if (message.outputTokens !== 0) {
    writer.tag(48)
    writer.uint64(message.outputTokens)
  }
  return writer
}

export function decodeAssignmentState(reader: Reader, length?: number): AssignmentState {
  const message = emptyAssignmentState()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.profile = reader.string()
        break
      case 18:
        message.stage = reader.string()
        break
      case 26:
        message.endpoint = reader.string()
        break
      case 32:
        message.life = reader.uint64()
        break
      case 40:
        message.promptTokens = reader.uint64()
        break
      case 48:
        message.outputTokens = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface RequestState {
  /** Position of its arrival: the engine's key of it. */
  key: number
  received: RequestReceived | undefined
  receivedAtUs: number
  machine: string
  attempt: number
  /** Endpoints that failed it. */
  excluded: string[]
  assignments: AssignmentState[]
  primaryProfile: string
  started: boolean
  /** Producers whose answers are awaited. */
  awaiting: string[]
  /** Why the last attempt failed; absent where none did. */
  lastFailure: Rejection | undefined
}

export function emptyRequestState(): RequestState {
  return {
    key: 0,
    received: undefined,
    receivedAtUs: 0,
    machine: '',
    attempt: 0,
    excluded: [],
    assignments: [],
    primaryProfile: '',
    started: false,
    awaiting: [],
    lastFailure: undefined,
  }
}

export function encodeRequestState(message: RequestState, writer: Writer): Writer {
  if (message.key !== 0) {
    writer.tag(8)
    writer.uint64(message.key)
  }
  if (message.received !== undefined) {
    writer.tag(18)
    const start = writer.open()
    encodeRequestReceived(message.received, writer)
    writer.close(start)
  }
  if (message.receivedAtUs !== 0) {
    writer.tag(24)
    writer.uint64(message.receivedAtUs)
  }
  if (message.machine !== '') {
    writer.tag(34)
    writer.string(message.machine)
  }
  if (message.attempt !== 0) {
    writer.tag(40)
    writer.uint32(message.attempt)
  }
  for (const item of message.excluded) {
    writer.tag(50)
    writer.string(item)
  }
  for (const item of message.assignments) {
    writer.tag(58)
    const start = writer.open()
    encodeAssignmentState(item, writer)
    writer.close(start)
  }
  if (message.primaryProfile !== '') {
    writer.tag(66)
    writer.string(message.primaryProfile)
  }
  if (message.started) {
    writer.tag(72)
    writer.bool(message.started)
  }
  for (const item of message.awaiting) {
    writer.tag(82)
    writer.string(item)
  }
  if (message.lastFailure !== undefined) {
    writer.tag(90)
    const start = writer.open()
    encodeRejection(message.lastFailure, writer)
    writer.close(start)
  }
  return writer
}

export function decodeRequestState(reader: Reader, length?: number): RequestState {
  const message = emptyRequestState()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.key = reader.uint64()
        break
      case 18:
        message.received = decodeRequestReceived(reader, reader.uint32())
        break
      case 24:
        message.receivedAtUs = reader.uint64()
        break
      case 34:
        message.machine = reader.string()
        break
      case 40:
        message.attempt = reader.uint32()
        break
      case 50:
        message.excluded.push(reader.string())
        break
      case 58:
        message.assignments.push(decodeAssignmentState(reader, reader.uint32()))
        break
      case 66:
        message.primaryProfile = reader.string()
        break
      case 72:
        message.started = reader.bool()
        break
      case 82:
        message.awaiting.push(reader.string())
        break
      case 90:
        message.lastFailure = decodeRejection(reader, reader.uint32())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface TimerState {
  deadlineUs: number
  /** "request", "endpoint" or "engine". */
  owner: string
  /** Key of the request, or life of the endpoint. */
  key: number
  timer: string
}

export function emptyTimerState(): TimerState {
  return {
    deadlineUs: 0,
    owner: '',
    key: 0,
    timer: '',
  }
}

export function encodeTimerState(message: TimerState, writer: Writer): Writer {
  if (message.deadlineUs !== 0) {
    writer.tag(8)
    writer.uint64(message.deadlineUs)
  }
  if (message.owner !== '') {
    writer.tag(18)
    writer.string(message.owner)
  }
  if (message.key !== 0) {
    writer.tag(24)
    writer.uint64(message.key)
  }
  if (message.timer !== '') {
    writer.tag(34)
    writer.string(message.timer)
  }
  return writer
}

export function decodeTimerState(reader: Reader, length?: number): TimerState {
  const message = emptyTimerState()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.deadlineUs = reader.uint64()
        break
      case 18:
        message.owner = reader.string()
        break
      case 24:
        message.key = reader.uint64()
        break
      case 34:
        message.timer = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What a plugin remembers, in a form of its own. */
export interface PluginMemory {
  plugin: string
  state: Uint8Array
}

export function emptyPluginMemory(): PluginMemory {
  return {
    plugin: '',
    state: new Uint8Array(0),
  }
}

export function encodePluginMemory(message: PluginMemory, writer: Writer): Writer {
  if (message.plugin !== '') {
    writer.tag(10)
    writer.string(message.plugin)
  }
  if (message.state.length > 0) {
    writer.tag(18)
    writer.data(message.state)
  }
  return writer
}

export function decodePluginMemory(reader: Reader, length?: number): PluginMemory {
  const message = emptyPluginMemory()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.plugin = reader.string()
        break
      case 18:
        message.state = reader.data()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The fold of all inputs up to a position. */
export interface EngineState {
  position: number
  atUs: number
  started: EngineStarted | undefined
  startedAtPosition: number
  endpoints: EndpointState[]
  requests: RequestState[]
  timers: TimerState[]
  plugins: PluginMemory[]
  lives: number
}

export function emptyEngineState(): EngineState {
  return {
    position: 0,
    atUs: 0,
    started: undefined,
    startedAtPosition: 0,
    endpoints: [],
    requests: [],
    timers: [],
    plugins: [],
    lives: 0,
  }
}

export function encodeEngineState(message: EngineState, writer: Writer): Writer {
  if (message.position !== 0) {
    writer.tag(8)
    writer.uint64(message.position)
  }
  if (message.atUs !== 0) {
    writer.tag(16)
    writer.uint64(message.atUs)
  }
  if (message.started !== undefined) {
    writer.tag(26)
    const start = writer.open()
    encodeEngineStarted(message.started, writer)
    writer.close(start)
  }
  if (message.startedAtPosition !== 0) {
    writer.tag(32)
    writer.uint64(message.startedAtPosition)
  }
  for (const item of message.endpoints) {
    writer.tag(42)
    const start = writer.open()
    encodeEndpointState(item, writer)
    writer.close(start)
  }
  for (const item of message.requests) {
    writer.tag(50)
    const start = writer.open()
    encodeRequestState(item, writer)
    writer.close(start)
  }
  for (const item of message.timers) {
    writer.tag(58)
    const start = writer.open()
    encodeTimerState(item, writer)
    writer.close(start)
  }
  for (const item of message.plugins) {
    writer.tag(66)
    const start = writer.open()
    encodePluginMemory(item, writer)
    writer.close(start)
  }
  if (message.lives !== 0) {
    writer.tag(72)
    writer.uint64(message.lives)
  }
  return writer
}

export function decodeEngineState(reader: Reader, length?: number): EngineState {
  const message = emptyEngineState()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.position = reader.uint64()
        break
      case 16:
        message.atUs = reader.uint64()
        break
      case 26:
        message.started = decodeEngineStarted(reader, reader.uint32())
        break
      case 32:
        message.startedAtPosition = reader.uint64()
        break
      case 42:
        message.endpoints.push(decodeEndpointState(reader, reader.uint32()))
        break
      case 50:
        message.requests.push(decodeRequestState(reader, reader.uint32()))
        break
      case 58:
        message.timers.push(decodeTimerState(reader, reader.uint32()))
        break
      case 66:
        message.plugins.push(decodePluginMemory(reader, reader.uint32()))
        break
      case 72:
        message.lives = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
