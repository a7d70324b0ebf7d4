import type { EngineOptions } from '../engine/context.ts'
import type { Replayed, ReplayRange } from '../replay/index.ts'
import type { BrokerAccess } from './journal-place.ts'

/** What a thread that replays is started with. */
export interface ReplayJob {
  readonly place: string
  readonly access: BrokerAccess
  readonly interpreter: EngineOptions['interpreter']
  /** Modules that export the user's plugin types. */
  readonly plugins: readonly string[]
}

export interface ToReplayer {
  readonly index: number
  readonly part: ReplayRange
}

export type FromReplayer =
  /** So many records more are decided. */
  | { readonly type: 'progress'; readonly records: number }
  | { readonly type: 'replayed'; readonly index: number; readonly result: Replayed }
  | { readonly type: 'failed'; readonly index: number }

/** A replay reads no receipts: it needs room for one. */
export const RECEIPT_BYTES: number = 1024 * 1024
