import { xxh64Into } from '../core/hash/xxh64.ts'
import { Reader, Writer } from '../wire/index.ts'
import type { Record } from '../wire/index.ts'

/*
 * Which records belong to which request, in a form that costs a few bytes a record and is searched by reading it through.
 * A section: first position (varint), length of the entries in bytes (varint), entries.
 * An entry: distance of its position to the one of the entry before, times 2 (varint); plus 1 when it is an arrival.
 *   An arrival: 8 bytes, XXH64 of the client's request id. Else: distance of the position to the request's arrival (varint).
 * Sections follow each other and stand alone, so an index is put together by joining bytes.
 */

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
 * reads the record to be sure. Ascending.
 */
export function arrivalsIn(sections: Uint8Array, requestId: string): number[] {
  const wanted = new Uint32Array(2)
  hashInto(requestId, wanted)
  const found: number[] = []
  walk(sections, (position, low, high, arrives) => {
    if (arrives && low === wanted[0] && high === wanted[1]) found.push(position)
  })
  return found
}

/** Positions in index sections of the records of the request that arrived at `request`, its arrival included. Ascending. */
export function recordsIn(sections: Uint8Array, request: number): number[] {
  const found: number[] = []
  walk(sections, (position, distance, _high, arrives) => {
    if (arrives ? position === request : position - distance === request) found.push(position)
  })
  return found
}

type Visit = (position: number, first: number, second: number, arrives: boolean) => void

function walk(sections: Uint8Array, visit: Visit): void {
  const reader = new Reader(sections)
  while (reader.at < reader.end) {
    let position = reader.uint64()
    const end = reader.limit(reader.uint32())
    while (reader.at < end) {
      const step = reader.uint64()
      position += Math.floor(step / 2)
      if (step % 2 === 1) visit(position, reader.fixed32(), reader.fixed32(), true)
      else visit(position, reader.uint64(), 0, false)
    }
    reader.finish(end)
  }
}

const text = new Writer()

function hashInto(id: string, out: Uint32Array): void {
  text.string(id)
  const bytes = text.finish()
  xxh64Into(bytes, 0, bytes.length, 0, 0, out, 0)
}
