import { SignalboxError } from '../core/errors.ts'
import type { Base, Record } from '../wire/index.ts'
import { Chain } from './chain.ts'
import { JournalError } from './journal-error.ts'
import type { JournalReader } from './port.ts'
import { openSnapshot } from './state-message.ts'
import type { StateAt } from './state-message.ts'

export type JournalItem =
  | { readonly kind: 'base'; readonly bytes: Uint8Array; readonly position: number }
  | { readonly kind: 'batch'; readonly bytes: Uint8Array; readonly firstPosition: number }

/**
 * The batches with records above `after`, and among them the bases: all, or only those that declare a missing range and
 * so are needed to follow the chain.
 */
export function* itemsAfter(reader: JournalReader, after: number, bases: 'all' | 'needed'): Generator<JournalItem, void, undefined> {
  const due = reader.segments()
    .filter(segment => segment.basePosition > after && (bases === 'all' || segment.declaresMissing))
    .map(segment => segment.basePosition)
  let next = 0
  for (const batch of reader.batches(after)) {
    for (; next < due.length && (due[next] as number) < batch.firstPosition; next++) yield baseItem(reader, due[next] as number)
    yield { kind: 'batch', bytes: batch.bytes, firstPosition: batch.firstPosition }
  }
  for (; next < due.length; next++) yield baseItem(reader, due[next] as number)
}

function baseItem(reader: JournalReader, position: number): JournalItem {
  const bytes = reader.base(position)
  if (bytes === undefined) throw new JournalError('journal-broken-chain', `the base at ${position} is not there`, position - 1)
  return { kind: 'base', bytes, position }
}

/**
 * Records `from` to `to`, checked along the chain from the batch that holds `from`.
 * Throws `SignalboxError` ('journal-position') when `from` is not there, `JournalError` where the journal is not whole.
 */
export function* readRecords(reader: JournalReader, from: number, to: number = Infinity): Generator<Record, void, undefined> {
  const oldest = reader.segments()[0]?.basePosition ?? 0
  if (from <= oldest) throw new SignalboxError('journal-position', `position ${from} is not in this journal, which begins at ${oldest + 1}`)
  const end = Math.min(to, reader.lastPosition())
  let chain: Chain | undefined
  for (const item of itemsAfter(reader, from - 1, 'needed')) {
    // What a writer adds meanwhile is for the next reading.
    if (chain !== undefined && (chain.position >= end || (item.kind === 'batch' && item.firstPosition > end))) break
    if (item.kind === 'base') {
      if (chain !== undefined) chain.base(item.bytes)
      continue
    }
    chain ??= chainBefore(item.bytes, from)
    for (const record of chain.records(item.bytes, from)) {
      if (record.position > to) return
      yield record
    }
  }
  const reached = chain?.position ?? from - 1
  if (reached < end) throw endsEarly(reached, end)
}

function endsEarly(reached: number, end: number): JournalError {
  return new JournalError('journal-torn', `the journal was written up to position ${end}, but its batches end at ${reached}`, reached)
}

function chainBefore(bytes: Uint8Array, from: number): Chain {
  const first = Chain.at(bytes, from)
  if (first.position < from) return first
  throw new SignalboxError('journal-position', `position ${from} is not in this journal; the next one is ${first.position + 1}`)
}

/** The one record at a position. Throws as `readRecords` does, also when the journal ends before it. */
export function readRecord(reader: JournalReader, position: number): Record {
  for (const record of readRecords(reader, position, position)) return record
  throw new SignalboxError('journal-position', `position ${position} is not in this journal, which ends at ${reader.lastPosition()}`)
}

/** Positions of arrivals that bear this request id, ascending; hash collisions are sorted out. */
export function arrivalsOf(reader: JournalReader, requestId: string): number[] {
  return reader.arrivalsOf(requestId).filter(position => {
    const input = readRecord(reader, position).input?.input
    return input?.kind === 'requestReceived' && input.value.requestId === requestId
  })
}

/** Where replay can begin. */
export interface StartingPoint extends StateAt {
  readonly kind: 'base' | 'snapshot'
}

/**
 * The newest state at or before `position`: a base, or a snapshot when snapshots are wanted; damaged snapshots and such
 * of another schema are passed over, since they only save time.
 * Throws `JournalError` when the base is damaged, `SignalboxError` ('journal-position') when none is old enough.
 */
export function startingPoint(reader: JournalReader, position: number = Infinity, snapshots: 'use' | 'ignore' = 'use'): StartingPoint {
  const base = reader.segments().findLast(segment => segment.basePosition <= position)
  if (base === undefined) {
    const oldest = reader.segments()[0]?.basePosition ?? 0
    throw new SignalboxError('journal-position', `position ${position} is before the oldest base of this journal, at ${oldest}`)
  }
  const usable = snapshots === 'use' ? reader.snapshots().filter(at => at.position <= position && at.position > base.basePosition) : []
  for (const { position: at } of usable.toReversed()) {
    const bytes = reader.snapshot(at)
    const snapshot = bytes === undefined ? undefined : openSnapshot(bytes)
    if (snapshot !== undefined) return { kind: 'snapshot', ...stateOf(snapshot) }
  }
  const bytes = reader.base(base.basePosition)
  const opened = bytes === undefined ? undefined : new Chain().base(bytes)
  if (opened === undefined) throw new JournalError('journal-broken-chain', `the base at ${base.basePosition} is not there`, 0)
  return { kind: 'base', ...stateOf(opened) }
}

function stateOf(from: StateAt): StateAt {
  return { position: from.position, atUs: from.atUs, stateHash: from.stateHash, state: from.state }
}

export interface Verified {
  readonly bases: number
  readonly batches: number
  readonly records: number
  readonly lastPosition: number
  /** Ranges that bases declare as missing. */
  readonly missing: readonly { readonly first: number; readonly last: number; readonly reason: string }[]
  /** Positions of snapshots that are damaged or of another schema: not a fault, they are not used. */
  readonly unusableSnapshots: readonly number[]
}

/**
 * Follows the chain from the base at `from` (the oldest without one) to the end, and reads every record.
 * Yields the position after each item; returns what was found. Throws `JournalError` at the first fault.
 */
export function* verify(reader: JournalReader, from?: number): Generator<number, Verified, undefined> {
  const end = reader.lastPosition()
  const opening = reader.segments().find(segment => from === undefined || segment.basePosition === from)
  if (opening === undefined) {
    throw new SignalboxError('journal-position', from === undefined ? 'there is no base in this journal' : `there is no base at position ${from}`)
  }
  const chain = new Chain()
  const missing: { first: number; last: number; reason: string }[] = []
  let bases = 0
  let batches = 0
  let records = 0
  const take = (base: Base): void => {
    bases += 1
    if (base.missing !== undefined) missing.push(base.missing)
  }
  const first = reader.base(opening.basePosition)
  if (first === undefined) throw chain.torn('its first base')
  take(chain.base(first))
  for (const item of itemsAfter(reader, opening.basePosition, 'all')) {
    if ((item.kind === 'base' ? item.position : item.firstPosition) > end) break
    if (item.kind === 'base') take(chain.base(item.bytes))
    else {
      batches += 1
      for (const record of chain.records(item.bytes)) records += record.position > 0 ? 1 : 0
    }
    yield chain.position
  }
  if (chain.position < end) throw endsEarly(chain.position, end)
  const unusableSnapshots = reader.snapshots().map(each => each.position).filter(position => {
    const bytes = reader.snapshot(position)
    return bytes === undefined || openSnapshot(bytes) === undefined
  })
  return { bases, batches, records, lastPosition: chain.position, missing, unusableSnapshots }
}
