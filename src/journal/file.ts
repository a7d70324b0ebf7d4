import { SignalboxError } from '../core/errors.ts'
import { decodeJournalFileHeader, emptyJournalFileHeader, encodeJournalFileHeader, fromBytes, toBytes, WireError, Writer } from '../wire/index.ts'
import type { JournalFileHeader } from '../wire/index.ts'
import { lastPositionOf, openBatch } from './batch.ts'
import { JournalError } from './journal-error.ts'
import type { JournalReader, SnapshotInfo, StoredBatch } from './port.ts'
import { itemsAfter } from './reading.ts'
import { recordsOf } from './record.ts'
import { requestsOf } from './request-index.ts'
import { SCHEMA_VERSION } from './schema-version.ts'
import type { SegmentInfo } from './segment.ts'
import { openBase } from './state-message.ts'

/*
 * An exported journal is one `JournalFile` message, its parts in the order in which they are read: header, base, batches.
 */

const HEADER_TAG = 0x0a
const BASE_TAG = 0x12
const BATCH_TAG = 0x1a
const FORMAT = 'signalbox-journal'
/** Enough for the tag and the length of a part. */
const PART_HEAD_BYTES = 6

/** Where bytes can be read from, by place. A read beyond the end gives fewer bytes. */
export interface ByteSource {
  readonly size: number
  read(offset: number, length: number): Uint8Array
}

/** Whether bytes from the beginning of a file are those of an exported journal. */
export function isJournalFile(head: Uint8Array): boolean {
  const mark = [0x0a, FORMAT.length, ...FORMAT].map(each => (typeof each === 'string' ? each.charCodeAt(0) : each))
  return head[0] === HEADER_TAG && mark.every((byte, index) => head[2 + index] === byte)
}

/** The last of the positions to export, at the end of the batch that holds `to`. */
export interface ExportedSlice {
  readonly basePosition: number
  readonly lastPosition: number
}

/**
 * What a slice holds for the records `from` to `to`: from the newest base before `from`, up to the end of a batch.
 * Throws `SignalboxError` ('journal-position') when the journal does not hold them.
 */
export function sliceOf(reader: JournalReader, from: number, to: number): ExportedSlice {
  const base = reader.segments().findLast(segment => segment.basePosition < from) ?? reader.segments().find(segment => segment.basePosition === 0)
  if (base === undefined || from > to || from > reader.lastPosition() + 1) {
    throw new SignalboxError('journal-position', `positions ${from} to ${to} are not in this journal, which holds ${spanText(reader)}`)
  }
  let lastPosition = base.basePosition
  if (to >= reader.lastPosition()) lastPosition = reader.lastPosition()
  else for (const batch of reader.batches(to - 1)) {
    lastPosition = batch.firstPosition > to ? lastPosition : lastPositionOf(batch)
    break
  }
  return { basePosition: base.basePosition, lastPosition }
}

function spanText(reader: JournalReader): string {
  return `${(reader.segments()[0]?.basePosition ?? 0) + 1} to ${reader.lastPosition()}`
}

/** The parts of an exported file, to be written one after the other. Nothing is checked: verify the file, or the journal. */
export function* fileParts(reader: JournalReader, slice: ExportedSlice): Generator<Uint8Array, void, undefined> {
  const { basePosition, lastPosition } = slice
  const head = { ...emptyJournalFileHeader(), format: FORMAT, schemaVersion: SCHEMA_VERSION, firstPosition: basePosition + 1, lastPosition }
  yield part(HEADER_TAG, toBytes(encodeJournalFileHeader, head))
  const base = reader.base(basePosition)
  if (base === undefined) throw new JournalError('journal-broken-chain', `the base at ${basePosition} is not there`, 0)
  yield part(BASE_TAG, base)
  for (const item of itemsAfter(reader, basePosition, 'needed')) {
    if ((item.kind === 'base' ? item.position : item.firstPosition) > lastPosition) return
    yield part(item.kind === 'base' ? BASE_TAG : BATCH_TAG, item.bytes)
  }
}

function part(tag: number, bytes: Uint8Array): Uint8Array {
  const writer = new Writer(bytes.length + PART_HEAD_BYTES)
  writer.tag(tag)
  writer.data(bytes)
  return writer.finish()
}

interface Part {
  readonly tag: number
  readonly offset: number
  readonly length: number
}

interface BatchPlace extends Part {
  readonly firstPosition: number
  readonly count: number
}

/** Reads an exported journal. Opening it reads through the file once; what is damaged shows when it is read. */
export class JournalFile implements JournalReader {
  private readonly source: ByteSource
  private readonly header: JournalFileHeader
  private readonly bases: (Part & { readonly position: number; readonly atUs: number; readonly missing: boolean })[] = []
  private readonly places: BatchPlace[] = []
  /** Where reading must stop, when the file is not whole. */
  private fault: JournalError | undefined

  /** Throws `SignalboxError` when the file is no journal, is of a newer schema, or its base is damaged. */
  constructor(source: ByteSource) {
    this.source = source
    this.header = this.readHeader()
    let offset = this.head(0)?.next ?? 0
    while (offset < source.size && this.fault === undefined) offset = this.place(offset)
    if (this.bases.length === 0) throw this.fault ?? new JournalError('journal-torn', 'the file ends before its base', 0)
    if (this.fault === undefined && this.lastPosition() !== this.header.lastPosition) {
      this.fault = this.torn(`the file ends at position ${this.lastPosition()}, not at ${this.header.lastPosition}`)
    }
  }

  lastPosition(): number {
    const last = this.places.at(-1)
    return Math.max(last === undefined ? 0 : lastPositionOf(last), this.bases.at(-1)?.position ?? 0)
  }

  segments(): readonly SegmentInfo[] {
    return this.bases.map((base, index) => this.segment(index, base.position, this.bases[index + 1]?.position ?? Infinity))
  }

  base(position: number): Uint8Array | undefined {
    const base = this.bases.find(each => each.position === position)
    return base === undefined ? undefined : this.source.read(base.offset, base.length)
  }

  *batches(after: number): Generator<StoredBatch, void, undefined> {
    for (const place of this.places) {
      if (lastPositionOf(place) <= after) continue
      yield { firstPosition: place.firstPosition, count: place.count, bytes: this.source.read(place.offset, place.length) }
    }
    if (this.fault !== undefined) throw this.fault
  }

  snapshots(): readonly SnapshotInfo[] {
    return []
  }

  snapshot(_position: number): undefined {
    return undefined
  }

  arrivalsOf(requestId: string): readonly number[] {
    const found: number[] = []
    this.scan(record => {
      const input = record.input?.input
      if (input?.kind === 'requestReceived' && input.value.requestId === requestId) found.push(record.position)
    }, 0)
    return found
  }

  recordsOf(request: number): readonly number[] {
    const found: number[] = []
    this.scan(record => {
      if (requestsOf(record).includes(request)) found.push(record.position)
    }, request - 1)
    return found
  }

  close(): void {
    // Whoever opened the source closes it.
  }

  private scan(visit: (record: Parameters<typeof requestsOf>[0]) => void, after: number): void {
    for (const stored of this.batches(after)) {
      const batch = openBatch(stored.bytes)
      if (batch === undefined) throw new JournalError('journal-broken-chain', `the batch at position ${stored.firstPosition} was changed or cut`, stored.firstPosition - 1)
      for (const record of recordsOf(batch)) visit(record)
    }
  }

  private readHeader(): JournalFileHeader {
    const head = this.head(0)
    const notOne = (why: string): SignalboxError => new SignalboxError('journal-not-a-journal', `the file is no exported journal: ${why}`)
    if (head === undefined || head.part.tag !== HEADER_TAG || head.next > this.source.size) throw notOne('it has no header')
    const header = decoded(() => fromBytes(decodeJournalFileHeader, this.source.read(head.part.offset, head.part.length)))
    if (header?.format !== FORMAT) throw notOne('its header cannot be read')
    if (header.schemaVersion > SCHEMA_VERSION) {
      throw new JournalError('journal-newer-schema', `the file is of schema ${header.schemaVersion}, this is ${SCHEMA_VERSION}`, 0)
    }
    return header
  }

  /** Notes the part at `offset`; gives where the next begins. */
  private place(offset: number): number {
    const head = this.head(offset)
    if (head === undefined || head.next > this.source.size) {
      this.fault = this.torn(`the file ends in the middle of a part that begins at byte ${offset}`)
      return this.source.size
    }
    if (head.part.tag === BASE_TAG) this.placeBase(head.part)
    else if (head.part.tag === BATCH_TAG) this.placeBatch(head.part)
    else this.fault = this.broken(`there is neither base nor batch at byte ${offset}`)
    return head.next
  }

  private placeBase(at: Part): void {
    const base = openBase(this.source.read(at.offset, at.length))
    if (base === undefined) this.fault = this.broken(`the base at byte ${at.offset} was changed or cut`)
    else if (this.bases.length === 0 && base.position + 1 !== this.header.firstPosition) {
      this.fault = this.broken(`the base is at ${base.position}, but the header begins at ${this.header.firstPosition}`)
    } else this.bases.push({ ...at, position: base.position, atUs: base.atUs, missing: base.missing !== undefined })
  }

  private placeBatch(at: Part): void {
    const batch = openBatch(this.source.read(at.offset, at.length))
    if (batch === undefined) this.fault = this.broken(`the batch at byte ${at.offset} was changed or cut`)
    else this.places.push({ ...at, firstPosition: batch.firstPosition, count: batch.count })
  }

  private head(offset: number): { readonly part: Part; readonly next: number } | undefined {
    const bytes = this.source.read(offset, PART_HEAD_BYTES)
    let length = 0
    let factor = 1
    for (let at = 1; at < bytes.length; at++, factor *= 128) {
      const byte = bytes[at] as number
      length += (byte & 127) * factor
      if (byte < 128) return { part: { tag: bytes[0] as number, offset: offset + at + 1, length }, next: offset + at + 1 + length }
    }
    return undefined
  }

  private segment(index: number, from: number, to: number): SegmentInfo {
    const base = this.bases[index]
    const own = this.places.filter(place => place.firstPosition > from && place.firstPosition <= to)
    const last = own.at(-1)
    return {
      basePosition: from,
      atUs: base?.atUs ?? 0,
      lastPosition: last === undefined ? from : lastPositionOf(last),
      lastAtUs: last === undefined ? (base?.atUs ?? 0) : this.lastTime(last),
      bytes: own.reduce((sum, place) => sum + place.length, 0),
      baseBytes: base?.length ?? 0,
      batches: own.length,
      declaresMissing: base?.missing ?? false,
    }
  }

  private lastTime(place: BatchPlace): number {
    const batch = openBatch(this.source.read(place.offset, place.length))
    return batch === undefined ? 0 : ([...recordsOf(batch)].at(-1)?.atUs ?? 0)
  }

  private torn(message: string): JournalError {
    return new JournalError('journal-torn', message, this.lastPosition())
  }

  private broken(message: string): JournalError {
    return new JournalError('journal-broken-chain', message, this.lastPosition())
  }
}

function decoded<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}
