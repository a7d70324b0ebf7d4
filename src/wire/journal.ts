// Generated from schemas/ by schemas/generate/main.ts. Change the .proto file and generate again.
import type { Reader, Writer } from './runtime.ts'
import { decodeDecision, encodeDecision } from './decision.ts'
import type { Decision } from './decision.ts'
import { decodeInput, encodeInput } from './input.ts'
import type { Input } from './input.ts'

/** One entry of the journal: what came in, when, and what was decided because of it. */
export interface Record {
  position: number
  /** Microseconds since the Unix epoch, never below the record before. */
  atUs: number
  input: Input | undefined
  /** Most inputs decide nothing; one that wakes several waiting requests decides more than once. */
  decisions: Decision[]
}

export function emptyRecord(): Record {
  return {
    position: 0,
    atUs: 0,
    input: undefined,
    decisions: [],
  }
}

export function encodeRecord(message: Record, writer: Writer): Writer {
  if (message.position !== 0) {
    writer.tag(8)
    writer.uint64(message.position)
  }
  if (message.atUs !== 0) {
    writer.tag(16)
    writer.uint64(message.atUs)
  }
  if (message.input !== undefined) {
    writer.tag(26)
    const start = writer.open()
    encodeInput(message.input, writer)
    writer.close(start)
  }
  for (const item of message.decisions) {
    writer.tag(34)
    const start = writer.open()
    encodeDecision(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeRecord(reader: Reader, length?: number): Record {
  const message = emptyRecord()
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
        message.input = decodeInput(reader, reader.uint32())
        break
      case 34:
        message.decisions.push(decodeDecision(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Records that were committed together. Its seal covers all of its bytes. */
export interface Batch {
  firstPosition: number
  count: number
  /**
   * Seal of the batch before. After the base of an empty journal, and after one that declares a missing range: seal of
   * that base. Any other base stands beside the chain, so that it can be written while batches go on.
   */
  previousHash: bigint
  /** Records, each preceded by its length as a varint. */
  records: Uint8Array
  /** XXH64 of all bytes before this field, which is always the last. */
  seal: bigint
}

export function emptyBatch(): Batch {
  return {
    firstPosition: 0,
    count: 0,
    previousHash: 0n,
    records: new Uint8Array(0),
    seal: 0n,
  }
}

export function encodeBatch(message: Batch, writer: Writer): Writer {
  if (message.firstPosition !== 0) {
    writer.tag(8)
    writer.uint64(message.firstPosition)
  }
  if (message.count !== 0) {
    writer.tag(16)
    writer.uint32(message.count)
  }
  if (message.previousHash !== 0n) {
    writer.tag(25)
    writer.fixed64(message.previousHash)
  }
  if (message.records.length > 0) {
    writer.tag(34)
    writer.data(message.records)
  }
  if (message.seal !== 0n) {
    writer.tag(121)
    writer.fixed64(message.seal)
  }
  return writer
}

export function decodeBatch(reader: Reader, length?: number): Batch {
  const message = emptyBatch()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.firstPosition = reader.uint64()
        break
      case 16:
        message.count = reader.uint32()
        break
      case 25:
        message.previousHash = reader.fixed64()
        break
      case 34:
        message.records = reader.data()
        break
      case 121:
        message.seal = reader.fixed64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Positions that could not be written. The state at `last` is in the base. */
export interface MissingRange {
  first: number
  last: number
  reason: string
}

export function emptyMissingRange(): MissingRange {
  return {
    first: 0,
    last: 0,
    reason: '',
  }
}

export function encodeMissingRange(message: MissingRange, writer: Writer): Writer {
  if (message.first !== 0) {
    writer.tag(8)
    writer.uint64(message.first)
  }
  if (message.last !== 0) {
    writer.tag(16)
    writer.uint64(message.last)
  }
  if (message.reason !== '') {
    writer.tag(26)
    writer.string(message.reason)
  }
  return writer
}

export function decodeMissingRange(reader: Reader, length?: number): MissingRange {
  const message = emptyMissingRange()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 8:
        message.first = reader.uint64()
        break
      case 16:
        message.last = reader.uint64()
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

/** The full state that opens a segment: part of the journal. */
export interface Base {
  /** State after this position, which is the last of a batch; 0 for an empty journal. */
  position: number
  atUs: number
  schemaVersion: number
  /** Seal of the last batch before this base; 0 for an empty journal. */
  previousHash: bigint
  stateHash: bigint
  /** An EngineState; empty for an empty journal. */
  state: Uint8Array
  missing: MissingRange | undefined
  /** XXH64 of all bytes before this field, which is always the last. */
  seal: bigint
}

export function emptyBase(): Base {
  return {
    position: 0,
    atUs: 0,
    schemaVersion: 0,
    previousHash: 0n,
    stateHash: 0n,
    state: new Uint8Array(0),
    missing: undefined,
    seal: 0n,
  }
}

export function encodeBase(message: Base, writer: Writer): Writer {
  if (message.position !== 0) {
    writer.tag(8)
    writer.uint64(message.position)
  }
  if (message.atUs !== 0) {
    writer.tag(16)
    writer.uint64(message.atUs)
  }
  if (message.schemaVersion !== 0) {
    writer.tag(24)
    writer.uint32(message.schemaVersion)
  }
  if (message.previousHash !== 0n) {
    writer.tag(33)
    writer.fixed64(message.previousHash)
  }
  if (message.stateHash !== 0n) {
    writer.tag(41)
    writer.fixed64(message.stateHash)
  }
  if (message.state.length > 0) {
    writer.tag(50)
    writer.data(message.state)
  }
  if (message.missing !== undefined) {
    writer.tag(58)
    const start = writer.open()
    encodeMissingRange(message.missing, writer)
    writer.close(start)
  }
  if (message.seal !== 0n) {
    writer.tag(121)
    writer.fixed64(message.seal)
  }
  return writer
}

export function decodeBase(reader: Reader, length?: number): Base {
  const message = emptyBase()
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
        message.schemaVersion = reader.uint32()
        break
      case 33:
        message.previousHash = reader.fixed64()
        break
      case 41:
        message.stateHash = reader.fixed64()
        break
      case 50:
        message.state = reader.data()
        break
      case 58:
        message.missing = decodeMissingRange(reader, reader.uint32())
        break
      case 121:
        message.seal = reader.fixed64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** Saved state inside a segment: disposable. */
export interface Snapshot {
  position: number
  atUs: number
  schemaVersion: number
  stateHash: bigint
  state: Uint8Array
  /** XXH64 of all bytes before this field, which is always the last. */
  seal: bigint
}

export function emptySnapshot(): Snapshot {
  return {
    position: 0,
    atUs: 0,
    schemaVersion: 0,
    stateHash: 0n,
    state: new Uint8Array(0),
    seal: 0n,
  }
}

export function encodeSnapshot(message: Snapshot, writer: Writer): Writer {
  if (message.position !== 0) {
    writer.tag(8)
    writer.uint64(message.position)
  }
  if (message.atUs !== 0) {
    writer.tag(16)
    writer.uint64(message.atUs)
  }
  if (message.schemaVersion !== 0) {
    writer.tag(24)
    writer.uint32(message.schemaVersion)
  }
  if (message.stateHash !== 0n) {
    writer.tag(33)
    writer.fixed64(message.stateHash)
  }
  if (message.state.length > 0) {
    writer.tag(42)
    writer.data(message.state)
  }
  if (message.seal !== 0n) {
    writer.tag(121)
    writer.fixed64(message.seal)
  }
  return writer
}

export function decodeSnapshot(reader: Reader, length?: number): Snapshot {
  const message = emptySnapshot()
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
        message.schemaVersion = reader.uint32()
        break
      case 33:
        message.stateHash = reader.fixed64()
        break
      case 42:
        message.state = reader.data()
        break
      case 121:
        message.seal = reader.fixed64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** The head of an exported journal file. */
export interface JournalFileHeader {
  /** "signalbox-journal", the first field of the file and so its mark. */
  format: string
  schemaVersion: number
  /** Of the records that follow the base. */
  firstPosition: number
  lastPosition: number
}

export function emptyJournalFileHeader(): JournalFileHeader {
  return {
    format: '',
    schemaVersion: 0,
    firstPosition: 0,
    lastPosition: 0,
  }
}

export function encodeJournalFileHeader(message: JournalFileHeader, writer: Writer): Writer {
  if (message.format !== '') {
    writer.tag(10)
    writer.string(message.format)
  }
  if (message.schemaVersion !== 0) {
    writer.tag(16)
    writer.uint32(message.schemaVersion)
  }
  if (message.firstPosition !== 0) {
    writer.tag(24)
    writer.uint64(message.firstPosition)
  }
  if (message.lastPosition !== 0) {
    writer.tag(32)
    writer.uint64(message.lastPosition)
  }
  return writer
}

export function decodeJournalFileHeader(reader: Reader, length?: number): JournalFileHeader {
  const message = emptyJournalFileHeader()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.format = reader.string()
        break
      case 16:
        message.schemaVersion = reader.uint32()
        break
      case 24:
        message.firstPosition = reader.uint64()
        break
      case 32:
        message.lastPosition = reader.uint64()
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}

/** An exported journal file: one message of this type, in which each base stands before the batches that follow it. */
export interface JournalFile {
  header: JournalFileHeader | undefined
  /** The base that opens the slice, and those within it that declare a missing range. */
  bases: Base[]
  batches: Batch[]
}

export function emptyJournalFile(): JournalFile {
  return {
    header: undefined,
    bases: [],
    batches: [],
  }
}

export function encodeJournalFile(message: JournalFile, writer: Writer): Writer {
  if (message.header !== undefined) {
    writer.tag(10)
    const start = writer.open()
    encodeJournalFileHeader(message.header, writer)
    writer.close(start)
  }
  for (const item of message.bases) {
    writer.tag(18)
    const start = writer.open()
    encodeBase(item, writer)
    writer.close(start)
  }
  for (const item of message.batches) {
    writer.tag(26)
    const start = writer.open()
    encodeBatch(item, writer)
    writer.close(start)
  }
  return writer
}

export function decodeJournalFile(reader: Reader, length?: number): JournalFile {
  const message = emptyJournalFile()
  const limit = reader.limit(length)
  while (reader.at < limit) {
    const tag = reader.uint32()
    switch (tag) {
      case 10:
        message.header = decodeJournalFileHeader(reader, reader.uint32())
        break
      case 18:
        message.bases.push(decodeBase(reader, reader.uint32()))
        break
      case 26:
        message.batches.push(decodeBatch(reader, reader.uint32()))
        break
      default:
        reader.skip(tag)
    }
  }
  reader.finish(limit)
  return message
}
