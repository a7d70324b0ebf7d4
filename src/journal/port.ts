import type { Record } from '../wire/index.ts'
import type { SealedBatch } from './batch.ts'
import type { SegmentInfo } from './segment.ts'
import type { SealedState } from './state-message.ts'

/** A batch as a backend gives it; `bytes` are to be checked, the numbers are what they were stored under. */
export interface StoredBatch {
  readonly firstPosition: number
  readonly count: number
  readonly bytes: Uint8Array
}

export interface SnapshotInfo {
  readonly position: number
  readonly atUs: number
  readonly bytes: number
}

/**
 * Reads a journal. A backend gives what is stored, in ascending order; whether it is whole is for `Chain` to say.
 * Everything may throw `SignalboxError` when the storage itself is damaged or gone.
 */
export interface JournalReader {
  /** Position of the last record that was stored; that of the newest base when there is none after it. */
  lastPosition(): number
  /** Oldest first; at least one. */
  segments(): readonly SegmentInfo[]
  /** The encoded `Base` at a position; undefined when there is none. */
  base(position: number): Uint8Array | undefined
  /** Every batch with a record above `after`, across segments. */
  batches(after: number): Iterable<StoredBatch>
  /** Oldest first. */
  snapshots(): readonly SnapshotInfo[]
  /** The encoded `Snapshot` at a position; undefined when there is none. */
  snapshot(position: number): Uint8Array | undefined
  /** Positions of arrivals whose request id may be this one (by hash), ascending. */
  arrivalsOf(requestId: string): readonly number[]
  /** Positions of all records of the request that arrived at this position, ascending. */
  recordsOf(request: number): readonly number[]
  close(): void
}

/** Reads and writes a journal; each method that writes is all or nothing. */
export interface JournalStore extends JournalReader {
  /** Stores batches that follow what is there. Throws `SignalboxError` ('journal-write'); then nothing was stored. */
  append(batches: readonly SealedBatch[]): void
  /** Opens a segment. Batches above the base's position belong to it, also those that are there already. */
  openSegment(base: SealedState, declaresMissing?: boolean): void
  putSnapshot(snapshot: SealedState): void
  dropSnapshot(position: number): void
  /** Drops the oldest segment: its base, batches, index and snapshots. Refuses any other, and the only one. */
  dropOldestSegment(basePosition: number): void
}

/** What an engine is told of its journal. */
export interface JournalEvents {
  /** Everything up to this position is as safe as the durability says. */
  onAck?(position: number): void
  /** There is room again after `canAccept` was false. */
  onRoom?(): void
  onWriteFailed?(reason: string): void
  /** Writing works again; `missing` names positions that are lost and declared. */
  onWriteSucceeded?(missing: { readonly first: number; readonly last: number } | undefined): void
  /** The follower came to another answer than the engine. */
  onDivergence?(position: number, message: string): void
  /** The follower is gone: no more snapshots, bases and comparisons until the next start. */
  onFollowerFailed?(reason: string): void
  /** The journal stopped for good: nothing more will be written. */
  onStopped?(reason: string): void
}

/** The engine's side of a journal that writes elsewhere: a worker thread or a server. */
export interface JournalLink {
  /** Position of the last record appended. */
  readonly lastPosition: number
  readonly acknowledgedPosition: number
  /** Takes the next record: its position is `lastPosition + 1`. */
  append(record: Record): void
  /** False when no more may be unacknowledged; `onRoom` follows. */
  canAccept(): boolean
  /** Records not acknowledged, and for how long the oldest of them, in milliseconds. */
  lag(): { readonly records: number; readonly ageMs: number }
}

/** How much of a journal may be lost to a crash. */
export type Durability = 'async' | 'commit'
export type OnJournalFailure = 'continue' | 'refuse'

/** In `async` durability, turns wait when so many records are not acknowledged. */
export const UNACKNOWLEDGED_RECORDS_MAX = 4096
/** In `async` durability, turns wait when a record is not acknowledged for so long. */
export const UNACKNOWLEDGED_AGE_MAX_MS = 50
