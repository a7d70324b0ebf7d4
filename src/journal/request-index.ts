import { xxh64Into } from '../core/hash/xxh64.ts'
import { WireError, Writer } from '../wire/index.ts'
import type { Record } from '../wire/index.ts'

/*
 * Which records belong to which request, in a form that costs a few bytes a record and is searched by reading it through.
 * A section: first position (varint), length of the entries in bytes (varint), entries.
 * An entry: distance of its position to the one of the entry before, times 2 (varint); plus 1 when it is an arrival.
 *   An arrival: 8 bytes, XXH64 of the client's request id. Else: distance of the position to the request's arrival (varint).
 * Sections follow each other and stand alone, so an index is put together by joining bytes.
 */

/** Bytes of the hash of an arrival's request id. */
const ARRIVAL_BYTES = 8

/** Collects one section of the index while records are appended. */
export class RequestIndexSection {
  private readonly entries: Writer = new Writer()
  private first = 0
  private last = 0
  private readonly hash: Uint32Array = new Uint32Array(2)

  add(record: Record): void {
    const { position } = record
    const input = record.input?.input
    if (input?.kind === 'requestReceived') {
      this.step(position, true)
      hashInto(input.value.requestId, this.hash)
      this.entries.fixed32(this.hash[0] as number)
      this.entries.fixed32(this.hash[1] as number)
    }
    for (const request of requestsOf(record)) {
      if (request === position || request > position) continue
      this.step(position, false)
      this.entries.uint64(position - request)
    }
  }

  /** The section of what was added since the last call; no bytes when nothing was. */
  take(): Uint8Array<ArrayBuffer> {
    if (this.entries.length === 0) return new Uint8Array(0)
    const entries = this.entries.finish()
    this.entries.uint64(this.first)
    this.entries.data(entries)
    return this.entries.finish()
  }

  private step(position: number, arrives: boolean): void {
    if (this.entries.length === 0) {
      this.first = position
      this.last = position
    }
    this.entries.uint64((position - this.last) * 2 + (arrives ? 1 : 0))
    this.last = position
  }
}

/** Keys of the requests that a record speaks of, its own arrival included, each once. */
export function requestsOf(record: Record): readonly number[] {
  const input = record.input?.input
  const own = input === undefined ? 0 : inputRequest(record.position, input)
  const decisions = record.decisions
  if (decisions.length === 0) return own === 0 ? NONE : [own]
  const found = own === 0 ? [] : [own]
  for (const decision of decisions) if (!found.includes(decision.request)) found.push(decision.request)
  return found
}

const NONE: readonly number[] = []

type AnyInput = NonNullable<NonNullable<Record['input']>['input']>

function inputRequest(position: number, input: AnyInput): number {
  switch (input.kind) {
    case 'requestReceived':
      return position
    case 'attributesReported':
    case 'requestSent':
    case 'responseStarted':
    case 'requestProgressed':
    case 'responseEnded':
    case 'requestAttemptFailed':
    case 'requestAborted':
      return input.value.request
    default:
      return 0
  }
}

/**
 * Positions of arrivals in index sections whose id may be `requestId`: two ids share a hash once in 2^64, so the caller
 * reads the record to be sure. Ascending. Throws `WireError` when the sections are damaged.
 */
export function arrivalsIn(sections: Uint8Array, requestId: string): number[] {
  const wanted = new Uint32Array(2)
  hashInto(requestId, wanted)
  const [low = 0, high = 0] = wanted
  const found: number[] = []
  const cursor = new Cursor(sections)
  while (cursor.nextEntry()) {
    if (cursor.arrives && cursor.wordBefore(8) === low && cursor.wordBefore(4) === high) found.push(cursor.position)
  }
  return found
}

/**
 * Positions in index sections of the records of the request that arrived at `request`, its arrival included. Ascending.
 * Throws `WireError` when the sections are damaged.
 */
export function recordsIn(sections: Uint8Array, request: number): number[] {
  const found: number[] = []
  const cursor = new Cursor(sections)
  while (cursor.nextEntry()) if (cursor.position - cursor.distance === request) found.push(cursor.position)
  return found
}

/** The bytes that an arrival of this id has in the index: where they are not, it did not arrive. */
export function requestIdMark(requestId: string): Uint8Array {
  const hash = new Uint32Array(2)
  hashInto(requestId, hash)
  const writer = new Writer()
  for (const word of hash) writer.fixed32(word)
  return writer.finish()
}

/** Steps through sections entry by entry; millions of them in a search, so it reads its numbers itself. */
class Cursor {
  position = 0
  arrives = false
  /** From the position of the request's arrival to that of the entry; 0 for the arrival itself. */
  distance = 0
  private readonly bytes: Uint8Array
  private at = 0
  private end = 0

  constructor(sections: Uint8Array) {
    this.bytes = sections
  }

  nextEntry(): boolean {
    if (this.at >= this.end) {
      if (this.at >= this.bytes.length) return false
      this.position = this.number()
      const length = this.number()
      this.end = this.at + length
    }
    const step = this.number()
    this.arrives = step % 2 === 1
    this.position += this.arrives ? (step - 1) / 2 : step / 2
    if (this.arrives) {
      this.distance = 0
      this.at += ARRIVAL_BYTES
    } else this.distance = this.number()
    if (this.at > this.end || this.end > this.bytes.length) throw new WireError(`the request index is damaged at byte ${this.at}`)
    return true
  }

  /** The 32-bit word that begins so many bytes before the next entry. */
  wordBefore(back: number): number {
    const { bytes, at } = this
    const from = at - back
    return ((bytes[from] as number) | ((bytes[from + 1] as number) << 8) | ((bytes[from + 2] as number) << 16) | ((bytes[from + 3] as number) << 24)) >>> 0
  }

  private number(): number {
    const { bytes } = this
    let byte = bytes[this.at++] as number
    if (byte < 128) return byte
    let value = byte & 127
    for (let factor = 128; this.at < bytes.length; factor *= 128) {
      byte = bytes[this.at++] as number
      value += (byte & 127) * factor
      if (byte < 128) return value
    }
    throw new WireError(`the request index is cut at byte ${this.at}`)
  }
}

const text = new Writer()

function hashInto(id: string, out: Uint32Array): void {
  text.string(id)
  const bytes = text.finish()
  xxh64Into(bytes, 0, bytes.length, 0, 0, out, 0)
}
