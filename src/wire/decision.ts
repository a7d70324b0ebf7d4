// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'
import { decodeHeader, encodeHeader } from './request.ts'
import type { Header } from './request.ts'

export type Outcome =
  | 'unspecified'
  | 'routed'
  | 'rejected'
  | 'failed'

export function encodeOutcome(value: Outcome): number {
  switch (value) {
    case 'unspecified': return 0
    case 'routed': return 1
    case 'rejected': return 2
    case 'failed': return 3
  }
}

/** A number that this schema does not know reads as 'unspecified'. */
export function decodeOutcome(number: number): Outcome {
  switch (number) {
    case 1: return 'routed'
    case 2: return 'rejected'
    case 3: return 'failed'
    default: return 'unspecified'
  }
}

export interface Pick {
  endpoint: string
  score: number
}

export function emptyPick(): Pick {
  return {
    endpoint: '',
    score: 0,
  }
}

export function encodePick(message: Pick, writer: Writer): Writer {
  if (message.endpoint !== '') {
    writer.tag(10)
    writer.string(message.endpoint)
  }
  if (message.score !== 0 || Object.is(message.score, -0)) {
    writer.tag(17)
    writer.double(message.score)
  }
  return writer
}

export function decodePick(reader: Reader, length?: number): Pick {
  const message = emptyPick()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.endpoint = reader.string()
        break
      case 17:
        message.score = reader.double()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** What one profile run came to. */
export interface ProfileDecision {
  profile: string
  /** "decode", "encode" or "prefill". */
  stage: string
  picks: Pick[]
  /** The best total less the best total not picked; 0 where there was nothing else. */
  margin: number
  runnerUp: string
  /** How many candidates shared the best total. */
  ties: number
  /** Every number drawn, in order, each in [0, 1). */
  draws: number[]
  candidates: number
  survivors: number
  /** Why the profile gave nothing; empty when it gave something. */
  error: string
}

export function emptyProfileDecision(): ProfileDecision {
  return {
    profile: '',
    stage: '',
    picks: [],
    margin: 0,
    runnerUp: '',
    ties: 0,
    draws: [],
    candidates: 0,
    survivors: 0,
    error: '',
  }
}

export function encodeProfileDecision(message: ProfileDecision, writer: Writer): Writer {
  if (message.profile !== '') {
    writer.tag(10)
    writer.string(message.profile)
  }
  if (message.stage !== '') {
    writer.tag(18)
    writer.string(message.stage)
  }
  for (const item of message.picks) {
    writer.tag(26)
    const start = writer.open()
    encodePick(item, writer)
    writer.close(start)
  }
  if (message.margin !== 0 || Object.is(message.margin, -0)) {
    writer.tag(33)
    writer.double(message.margin)
  }
  if (message.runnerUp !== '') {
    writer.tag(42)
    writer.string(message.runnerUp)
  }
  if (message.ties !== 0) {
    writer.tag(48)
    writer.uint32(message.ties)
  }
  if (message.draws.length > 0) {
    writer.tag(58)
    const start = writer.open()
    for (const item of message.draws) writer.double(item)
    writer.close(start)
  }
  if (message.candidates !== 0) {
    writer.tag(64)
    writer.uint32(message.candidates)
  }
  if (message.survivors !== 0) {
    writer.tag(72)
    writer.uint32(message.survivors)
  }
  if (message.error !== '') {
    writer.tag(82)
    writer.string(message.error)
  }
  return writer
}

export function decodeProfileDecision(reader: Reader, length?: number): ProfileDecision {
  const message = emptyProfileDecision()
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
        message.picks.push(decodePick(reader, reader.uint32()))
        break
      case 33:
        message.margin = reader.double()
        break
      case 42:
        message.runnerUp = reader.string()
        break
      case 48:
        message.ties = reader.uint32()
        break
      case 58: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.draws.push(reader.double())
        reader.finish(end)
        break
      }
      case 57:
        message.draws.push(reader.double())
        break
      case 64:
        message.candidates = reader.uint32()
        break
      case 72:
        message.survivors = reader.uint32()
        break
      case 82:
        message.error = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface Rejection {
  /** HTTP status. */
  status: number
  /** Value of x-llm-d-request-dropped-reason; may be empty. */
  reason: string
  message: string
  /** "ResourceExhausted", "ServiceUnavailable", "Internal", ... */
  code: string
}

export function emptyRejection(): Rejection {
  return {
    status: 0,
    reason: '',
    message: '',
    code: '',
  }
}

export function encodeRejection(message: Rejection, writer: Writer): Writer {
  if (message.status !== 0) {
    writer.tag(8)
    writer.uint32(message.status)
  }
  if (message.reason !== '') {
    writer.tag(18)
    writer.string(message.reason)
  }
  if (message.message !== '') {
    writer.tag(26)
    writer.string(message.message)
  }
  if (message.code !== '') {
    writer.tag(34)
    writer.string(message.code)
  }
  return writer
}

export function decodeRejection(reader: Reader, length?: number): Rejection {
  const message = emptyRejection()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.status = reader.uint32()
        break
      case 18:
        message.reason = reader.string()
        break
      case 26:
        message.message = reader.string()
        break
      case 34:
        message.code = reader.string()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface Decision {
  request: number
  attempt: number
  outcome: Outcome
  profiles: ProfileDecision[]
  primaryProfile: string
  /** "decode-only", "prefill-decode", "encode-decode", "encode-prefill-decode", or empty. */
  decisionType: string
  rejection: Rejection | undefined
  /** Headers set on the request for the endpoint; an empty value removes. */
  headers: Header[]
  receiptDigest: bigint
}

export function emptyDecision(): Decision {
  return {
    request: 0,
    attempt: 0,
    outcome: 'unspecified',
    profiles: [],
    primaryProfile: '',
    decisionType: '',
    rejection: undefined,
    headers: [],
    receiptDigest: 0n,
  }
}

export function encodeDecision(message: Decision, writer: Writer): Writer {
  if (message.request !== 0) {
    writer.tag(8)
    writer.uint64(message.request)
  }
  if (message.attempt !== 0) {
    writer.tag(16)
    writer.uint32(message.attempt)
  }
  if (message.outcome !== 'unspecified') {
    writer.tag(24)
    writer.int32(encodeOutcome(message.outcome))
  }
  for (const item of message.profiles) {
    writer.tag(34)
    const start = writer.open()
    encodeProfileDecision(item, writer)
    writer.close(start)
  }
  if (message.primaryProfile !== '') {
    writer.tag(42)
    writer.string(message.primaryProfile)
  }
  if (message.decisionType !== '') {
    writer.tag(50)
    writer.string(message.decisionType)
  }
  if (message.rejection !== undefined) {
    writer.tag(58)
    const start = writer.open()
    encodeRejection(message.rejection, writer)
    writer.close(start)
  }
  for (const item of message.headers) {
    writer.tag(66)
    const start = writer.open()
    encodeHeader(item, writer)
    writer.close(start)
  }
  if (message.receiptDigest !== 0n) {
    writer.tag(73)
    writer.fixed64(message.receiptDigest)
  }
  return writer
}

export function decodeDecision(reader: Reader, length?: number): Decision {
  const message = emptyDecision()
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
        message.outcome = decodeOutcome(reader.enumeration())
        break
      case 34:
        message.profiles.push(decodeProfileDecision(reader, reader.uint32()))
        break
      case 42:
        message.primaryProfile = reader.string()
        break
      case 50:
        message.decisionType = reader.string()
        break
      case 58:
        message.rejection = decodeRejection(reader, reader.uint32())
        break
      case 66:
        message.headers.push(decodeHeader(reader, reader.uint32()))
        break
      case 73:
        message.receiptDigest = reader.fixed64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface FilterReceipt {
  plugin: string
  /** Ids of the candidates that it removed. */
  removed: string[]
}

export function emptyFilterReceipt(): FilterReceipt {
  return {
    plugin: '',
    removed: [],
  }
}

export function encodeFilterReceipt(message: FilterReceipt, writer: Writer): Writer {
  if (message.plugin !== '') {
    writer.tag(10)
    writer.string(message.plugin)
  }
  for (const item of message.removed) {
    writer.tag(18)
    writer.string(item)
  }
  return writer
}

export function decodeFilterReceipt(reader: Reader, length?: number): FilterReceipt {
  const message = emptyFilterReceipt()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.plugin = reader.string()
        break
      case 18:
        message.removed.push(reader.string())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface ScorerReceipt {
  plugin: string
  weight: number
  /** One a survivor, as the plugin gave it, before clamping to [0, 1]. */
  raw: number[]
}

export function emptyScorerReceipt(): ScorerReceipt {
  return {
    plugin: '',
    weight: 0,
    raw: [],
  }
}

export function encodeScorerReceipt(message: ScorerReceipt, writer: Writer): Writer {
  if (message.plugin !== '') {
    writer.tag(10)
    writer.string(message.plugin)
  }
  if (message.weight !== 0 || Object.is(message.weight, -0)) {
    writer.tag(17)
    writer.double(message.weight)
  }
  if (message.raw.length > 0) {
    writer.tag(26)
    const start = writer.open()
    for (const item of message.raw) writer.double(item)
    writer.close(start)
  }
  return writer
}

export function decodeScorerReceipt(reader: Reader, length?: number): ScorerReceipt {
  const message = emptyScorerReceipt()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.plugin = reader.string()
        break
      case 17:
        message.weight = reader.double()
        break
      case 26: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.raw.push(reader.double())
        reader.finish(end)
        break
      }
      case 25:
        message.raw.push(reader.double())
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface ProfileReceipt {
  profile: string
  stage: string
  /** All that were offered, by id. */
  candidates: string[]
  filters: FilterReceipt[]
  /** Those that were scored, in the order of the numbers below. */
  survivors: string[]
  scorers: ScorerReceipt[]
  totals: number[]
  picker: string
  decision: ProfileDecision | undefined
  /** Age of each survivor's metrics in microseconds; -1 where nothing was heard. */
  metricAgesUs: number[]
  /** True where the lowest total is the best. */
  lowerWins: boolean
}

export function emptyProfileReceipt(): ProfileReceipt {
  return {
    profile: '',
    stage: '',
    candidates: [],
    filters: [],
    survivors: [],
    scorers: [],
    totals: [],
    picker: '',
    decision: undefined,
    metricAgesUs: [],
    lowerWins: false,
  }
}

export function encodeProfileReceipt(message: ProfileReceipt, writer: Writer): Writer {
  if (message.profile !== '') {
    writer.tag(10)
    writer.string(message.profile)
  }
  if (message.stage !== '') {
    writer.tag(18)
    writer.string(message.stage)
  }
  for (const item of message.candidates) {
    writer.tag(26)
    writer.string(item)
  }
  for (const item of message.filters) {
    writer.tag(34)
    const start = writer.open()
    encodeFilterReceipt(item, writer)
    writer.close(start)
  }
  for (const item of message.survivors) {
    writer.tag(42)
    writer.string(item)
  }
  for (const item of message.scorers) {
    writer.tag(50)
    const start = writer.open()
    encodeScorerReceipt(item, writer)
    writer.close(start)
  }
  if (message.totals.length > 0) {
    writer.tag(58)
    const start = writer.open()
    for (const item of message.totals) writer.double(item)
    writer.close(start)
  }
  if (message.picker !== '') {
    writer.tag(66)
    writer.string(message.picker)
  }
  if (message.decision !== undefined) {
    writer.tag(74)
    const start = writer.open()
    encodeProfileDecision(message.decision, writer)
    writer.close(start)
  }
  if (message.metricAgesUs.length > 0) {
    writer.tag(82)
    const start = writer.open()
    for (const item of message.metricAgesUs) writer.double(item)
    writer.close(start)
  }
  if (message.lowerWins) {
    writer.tag(88)
    writer.bool(message.lowerWins)
  }
  return writer
}

export function decodeProfileReceipt(reader: Reader, length?: number): ProfileReceipt {
  const message = emptyProfileReceipt()
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
        message.candidates.push(reader.string())
        break
      case 34:
        message.filters.push(decodeFilterReceipt(reader, reader.uint32()))
        break
      case 42:
        message.survivors.push(reader.string())
        break
      case 50:
        message.scorers.push(decodeScorerReceipt(reader, reader.uint32()))
        break
      case 58: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.totals.push(reader.double())
        reader.finish(end)
        break
      }
      case 57:
        message.totals.push(reader.double())
        break
      case 66:
        message.picker = reader.string()
        break
      case 74:
        message.decision = decodeProfileDecision(reader, reader.uint32())
        break
      case 82: {
        const end = reader.limit(reader.uint32())
        while (reader.at < end) message.metricAgesUs.push(reader.double())
        reader.finish(end)
        break
      }
      case 81:
        message.metricAgesUs.push(reader.double())
        break
      case 88:
        message.lowerWins = reader.bool()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface DeciderReceipt {
  plugin: string
  runs: boolean
  /** The numbers it looked at, in words. */
  reason: string
}

export function emptyDeciderReceipt(): DeciderReceipt {
  return {
    plugin: '',
    runs: false,
    reason: '',
  }
}

export function encodeDeciderReceipt(message: DeciderReceipt, writer: Writer): Writer {
  if (message.plugin !== '') {
    writer.tag(10)
    writer.string(message.plugin)
  }
  if (message.runs) {
    writer.tag(16)
    writer.bool(message.runs)
  }
  if (message.reason !== '') {
    writer.tag(26)
    writer.string(message.reason)
  }
  return writer
}

export function decodeDeciderReceipt(reader: Reader, length?: number): DeciderReceipt {
  const message = emptyDeciderReceipt()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.plugin = reader.string()
        break
      case 16:
        message.runs = reader.bool()
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

/** A group of endpoints that stages are picked from together, and how it fared; lower is better. */
export interface PairReceipt {
  group: string
  prefill: string
  decode: string
  prefillScore: number
  decodeScore: number
  finalScore: number
  chosen: boolean
}

export function emptyPairReceipt(): PairReceipt {
  return {
    group: '',
    prefill: '',
    decode: '',
    prefillScore: 0,
    decodeScore: 0,
    finalScore: 0,
    chosen: false,
  }
}

export function encodePairReceipt(message: PairReceipt, writer: Writer): Writer {
  if (message.group !== '') {
    writer.tag(10)
    writer.string(message.group)
  }
  if (message.prefill !== '') {
    writer.tag(18)
    writer.string(message.prefill)
  }
  if (message.decode !== '') {
    writer.tag(26)
    writer.string(message.decode)
  }
  if (message.prefillScore !== 0 || Object.is(message.prefillScore, -0)) {
    writer.tag(33)
    writer.double(message.prefillScore)
  }
  if (message.decodeScore !== 0 || Object.is(message.decodeScore, -0)) {
    writer.tag(41)
    writer.double(message.decodeScore)
  }
  if (message.finalScore !== 0 || Object.is(message.finalScore, -0)) {
    writer.tag(49)
    writer.double(message.finalScore)
  }
  if (message.chosen) {
    writer.tag(56)
    writer.bool(message.chosen)
  }
  return writer
}

export function decodePairReceipt(reader: Reader, length?: number): PairReceipt {
  const message = emptyPairReceipt()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.group = reader.string()
        break
      case 18:
        message.prefill = reader.string()
        break
      case 26:
        message.decode = reader.string()
        break
      case 33:
        message.prefillScore = reader.double()
        break
      case 41:
        message.decodeScore = reader.double()
        break
      case 49:
        message.finalScore = reader.double()
        break
      case 56:
        message.chosen = reader.bool()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

export interface Receipt {
  position: number
  atUs: number
  request: number
  requestId: string
  attempt: number
  profiles: ProfileReceipt[]
  deciders: DeciderReceipt[]
  decision: Decision | undefined
  excluded: string[]
  notes: string[]
  /** By group. */
  pairs: PairReceipt[]
}

export function emptyReceipt(): Receipt {
  return {
    position: 0,
    atUs: 0,
    request: 0,
    requestId: '',
    attempt: 0,
    profiles: [],
    deciders: [],
    decision: undefined,
    excluded: [],
    notes: [],
    pairs: [],
  }
}

export function encodeReceipt(message: Receipt, writer: Writer): Writer {
  if (message.position !== 0) {
    writer.tag(8)
    writer.uint64(message.position)
  }
  if (message.atUs !== 0) {
    writer.tag(16)
    writer.uint64(message.atUs)
  }
  if (message.request !== 0) {
    writer.tag(24)
    writer.uint64(message.request)
  }
  if (message.requestId !== '') {
    writer.tag(34)
    writer.string(message.requestId)
  }
  if (message.attempt !== 0) {
    writer.tag(40)
    writer.uint32(message.attempt)
  }
  for (const item of message.profiles) {
    writer.tag(50)
    const start = writer.open()
    encodeProfileReceipt(item, writer)
    writer.close(start)
  }
  for (const item of message.deciders) {
    writer.tag(58)
    const start = writer.open()
    encodeDeciderReceipt(item, writer)
    writer.close(start)
  }
  if (message.decision !== undefined) {
    writer.tag(66)
    const start = writer.open()
    encodeDecision(message.decision, writer)
    writer.close(start)
  }
  for (const item of message.excluded) {
    writer.tag(74)
    writer.string(item)
  }
  for (const item of message.notes) {
    writer.tag(82)
    writer.string(item)
  }
  for (const item of message.pairs) {
    writer.tag(90)
    const start = writer.open()
    encodePairReceipt(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeReceipt(reader: Reader, length?: number): Receipt {
  const message = emptyReceipt()
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
      case 24:
        message.request = reader.uint64()
        break
      case 34:
        message.requestId = reader.string()
        break
      case 40:
        message.attempt = reader.uint32()
        break
      case 50:
        message.profiles.push(decodeProfileReceipt(reader, reader.uint32()))
        break
      case 58:
        message.deciders.push(decodeDeciderReceipt(reader, reader.uint32()))
        break
      case 66:
        message.decision = decodeDecision(reader, reader.uint32())
        break
      case 74:
        message.excluded.push(reader.string())
        break
      case 82:
        message.notes.push(reader.string())
        break
      case 90:
        message.pairs.push(decodePairReceipt(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
