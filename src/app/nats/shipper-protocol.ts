import type { Keep } from '../../journal/index.ts'
import type { StoreOptions } from '../../adapters/nats/journal/store-worker.ts'

/** What the thread that carries the journal is started with. */
export interface ShipperData {
  /** File of the journal. */
  readonly path: string
  readonly store: StoreOptions
  readonly keep: Keep
}

export type ToShipper =
  /** The file holds everything up to here. */
  | { readonly type: 'written'; readonly position: number }
  /** Carry what is there if the server can be reached, then end. */
  | { readonly type: 'close' }

export type FromShipper =
  /** The stream holds everything up to here. */
  | { readonly type: 'shipped'; readonly position: number }
  /** The stream cannot be written; it is tried again. */
  | { readonly type: 'away'; readonly reason: string }
  /** The stream holds all that the file held when it was looked. */
  | { readonly type: 'live' }
  /** Another engine writes the stream: nothing more is carried. */
  | { readonly type: 'refused'; readonly code: string; readonly message: string }
  | { readonly type: 'closed'; readonly behind: number }
