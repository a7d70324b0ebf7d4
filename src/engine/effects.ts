import type { Denial, Report } from '../core/contract.ts'
import type { Instant } from '../core/instant.ts'
import type { EndCause, Stage, Usage } from '../core/request.ts'

/** Where a request goes: the answer to a front door. */
export interface RoutedEffect {
  readonly kind: 'routed'
  readonly request: number
  readonly attempt: number
  readonly endpoint: Target
  /** Further endpoints in order, should the first fail: the primary profile's other picks. */
  readonly fallbacks: readonly Target[]
  /** Headers to set, in order; an empty value removes. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** Headers that plugins set on the response to the client. */
  readonly responseHeaders: readonly (readonly [name: string, value: string])[]
  readonly targetModel: string
  readonly stages: readonly { readonly stage: Stage; readonly endpoints: readonly string[] }[]
}

export interface Target {
  readonly id: string
  readonly hostPort: string
}

/** A request is not served; also the final word after failed attempts. */
export interface RejectedEffect {
  readonly kind: 'rejected'
  readonly request: number
  readonly denial: Denial
}

/** The engine gave a request up: whoever holds its connection ends it with this status. */
export interface ExpiredEffect {
  readonly kind: 'expired'
  readonly request: number
  readonly denial: Denial
}

/** A request is over and forgotten; for measures only. */
export interface ClosedEffect {
  readonly kind: 'closed'
  readonly request: number
  readonly outcome: 'completed' | 'rejected' | 'failed' | 'aborted' | 'expired'
  readonly cause: EndCause
  readonly usage: Usage | undefined
  readonly receivedAt: Instant
  /** What reporters tell the proxy of the response. */
  readonly reports: readonly Report[]
}

/** The engine wants a timer input at this time; replaces the one asked for before. */
export interface WakeEffect {
  readonly kind: 'wake'
  readonly at: Instant
}

/** What a turn asks of the outside. It is data: the shell performs it, and what comes back is a new input. */
export type Effect = RoutedEffect | RejectedEffect | ExpiredEffect | ClosedEffect | WakeEffect
