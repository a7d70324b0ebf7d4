import type { Destination } from '../scheduler-port.ts'

/** The prefill of a routed request that the front door runs itself, before or beside its decode. */
export interface PrefillLeg {
  readonly endpoint: Destination
  /** Name of the engine, for measures. */
  readonly engine: string
  /** Whether the decode starts at once and the reply does not matter to it. */
  readonly isAsync: boolean
  /** How long the call may take, in ms. */
  readonly timeoutMs: number
  /** The bodies of both legs. @throws Error for a body that cannot be prefilled */
  prepare(body: Uint8Array): { readonly prefill: Uint8Array; readonly decode: Uint8Array }
  /** The decode's body, given the reply. `path` is without query. @throws Error for a reply without what it must have */
  merge(decode: Uint8Array, reply: Uint8Array, path: string): Uint8Array
}

/** How a call came to nothing. */
export type PrefillFailure =
  | { readonly kind: 'status'; readonly status: number; readonly message: string }
  | { readonly kind: 'cancelled' | 'deadline' | 'network-timeout' | 'transport' | 'reply'; readonly message: string }

/** What prefills tell of themselves, for measures. */
export interface PrefillObserver {
  /** Calls under way: one more, or one less. */
  outstanding(change: 1 | -1): void
  /** A call that failed; what is wrong with a reply is not told here. (AIBrix counts no such call) */
  callFailed(model: string, failure: PrefillFailure): void
  /** A prefill that came to nothing, in words, whatever becomes of its request. */
  gaveUp(requestId: string, model: string, endpoint: string, message: string): void
  /** A request that failed for its prefill. */
  requestFailed(model: string): void
  succeeded(model: string): void
}
