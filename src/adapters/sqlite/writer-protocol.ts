import type { MessagePort } from 'node:worker_threads'
import type { Durability, OnJournalFailure } from '../../journal/port.ts'
import type { Keep } from '../../journal/retention.ts'
import type { SegmentRules } from '../../journal/segment.ts'

/** Records of one turn of the event loop. */
export interface RecordsChunk {
  readonly firstPosition: number
  readonly count: number
  /** Time of the last record, in microseconds since the Unix epoch. */
  readonly atUs: number
  /** Records, each preceded by its length as a varint. */
  readonly records: Uint8Array<ArrayBuffer>
  /** Their section of the request index. */
  readonly index: Uint8Array<ArrayBuffer>
}

export type ToWriter =
  | { readonly type: 'records'; readonly chunk: RecordsChunk }
  | { readonly type: 'follower-gone' }
  | { readonly type: 'close' }

export type FromWriter =
  | { readonly type: 'opened'; readonly lastPosition: number; readonly lastAtUs: number }
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  | { readonly type: 'ack'; readonly position: number }
  | { readonly type: 'write-failed'; readonly reason: string }
  | { readonly type: 'write-succeeded'; readonly missing: { readonly first: number; readonly last: number } | undefined }
  | { readonly type: 'stopped'; readonly reason: string }
  | { readonly type: 'closed'; readonly unwritten: number }

export interface WriterOptions {
  readonly path: string
  readonly durability: Durability
  readonly onFailure: OnJournalFailure
  readonly keep: Keep
  readonly segments: SegmentRules
  /** Bytes of records held while the journal cannot be written; beyond it they are given up, under `continue`. */
  readonly spoolBytesMax: number
  /** Bytes of records sent to the follower that it has not followed: beyond it they are read from the journal later. */
  readonly followerAheadBytesMax: number
}

export interface WriterWorkerData {
  readonly options: WriterOptions
  /** To the follower; without one no segment is closed and nothing is given up. */
  readonly follower: MessagePort | undefined
}

/** About 3 s of records at the design rate of 20,000 requests a second. */
export const SPOOL_BYTES_MAX = 67_108_864
/** About a second and a half of records at the design rate. */
export const FOLLOWER_AHEAD_BYTES_MAX = 33_554_432
