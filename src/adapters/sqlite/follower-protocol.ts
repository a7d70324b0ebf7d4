import type { MissingRange } from '../../wire/index.ts'
import type { StateAt, SealedState } from '../../journal/state-message.ts'

/*
 * The writer and the follower are two threads. The writer sends what it wrote, in order; whatever it asks for, the
 * follower answers in the same order, so an answer is always of the position that the records before the question end at.
 */

/** Records that were committed, or that could not be, in which case `written` is false. */
export interface RecordsMessage {
  readonly type: 'records'
  readonly firstPosition: number
  readonly count: number
  /** Time of the last record, in microseconds since the Unix epoch. */
  readonly atUs: number
  /** Records, each preceded by its length as a varint; joined in this order. */
  readonly pieces: readonly Uint8Array[]
  readonly written: boolean
}

export type ToFollower =
  /** First: recover from the journal at `path`, up to `lastPosition`. */
  | { readonly type: 'start'; readonly path: string; readonly lastPosition: number }
  | RecordsMessage
  /** The state here is wanted as a base. */
  | { readonly type: 'base-wanted'; readonly previousHash: bigint; readonly missing: MissingRange | undefined }
  /** Nothing more comes: save a snapshot, then say `finished`. */
  | { readonly type: 'finish' }

export type FromFollower =
  /** Everything up to here was followed. */
  | { readonly type: 'followed'; readonly position: number }
  | { readonly type: 'base'; readonly state: SealedState; readonly declaresMissing: boolean }
  | { readonly type: 'snapshot'; readonly state: SealedState }
  | { readonly type: 'finished' }

/** What the follower tells the engine's thread. */
export type FollowerReport =
  | { readonly type: 'divergence'; readonly position: number; readonly message: string }
  | { readonly type: 'failed'; readonly message: string }

export interface Divergence {
  readonly position: number
  readonly message: string
}

/** A run of records to follow, each preceded by its length; see `recordsOf`. */
export interface FollowedRun {
  readonly firstPosition: number
  readonly count: number
  readonly records: Uint8Array
}

/** Replays the journal while it is written. */
export interface Follower {
  /** Called once, first. The state of an empty journal has no bytes. */
  restore(state: StateAt): void
  /** Takes the next records; gives where its own answers differ from theirs. */
  apply(run: FollowedRun): readonly Divergence[]
  /** The state after the last record taken. The bytes are handed over: they are not read again. */
  state(): { readonly bytes: Uint8Array; readonly hash: bigint; readonly position: number }
}

/** The module named by the option `follower` exports `createFollower` of this type. */
export type CreateFollower = (options: unknown) => Follower | PromiseLike<Follower>

/** When the follower saves a snapshot: after so many records, or so much time between them. */
export interface SnapshotRules {
  readonly everyRecords: number
  readonly everyUs: number
}

/** Recovery replays at most this much beyond a snapshot: about a second's work. */
export const SNAPSHOT_RULES: SnapshotRules = { everyRecords: 250_000, everyUs: 300_000_000 }
