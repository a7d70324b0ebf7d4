import type { PrefillLeg } from './prefill/leg.ts'
import type { EndCause, FailureCause, RequestReceived, Usage } from '../../wire/index.ts'

/** What the front door tells of a request: the journal's input, so nothing of it is the prompt. */
export type RequestInput = RequestReceived

/** An endpoint as a request reaches it: `hostPort` is "host:port", an IPv6 address in brackets. */
export interface Destination {
  readonly id: string
  readonly hostPort: string
}

/** Endpoint ids by the stage that they serve. */
export interface ChosenStages {
  readonly decode: string
  readonly prefill?: string
  readonly encode?: readonly string[]
}

/** Send the request here. */
export interface Routed {
  readonly kind: 'routed'
  /** The engine's key of the request: its position in the journal. */
  readonly request: number
  /** From 1. */
  readonly attempt: number
  readonly endpoint: Destination
  /** The picker's others, best first; only named to the endpoint, a retry asks the scheduler again. */
  readonly fallbacks: readonly Destination[]
  /** Headers for the endpoint in lower case; each replaces what the client sent, an empty value removes it. */
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The model name that the endpoint is to see. */
  readonly targetModel: string
  readonly stages: ChosenStages
  /** The prefill that the front door is to run itself; undefined where there is none, or somebody else runs it. */
  readonly prefill?: PrefillLeg
  /** Headers for the client's response, in lower case; set by plugins. */
  readonly responseHeaders?: readonly (readonly [name: string, value: string])[]
}

/** Do not send it. */
interface Rejected {
  readonly kind: 'rejected'
  readonly request: number
  /** HTTP status. */
  readonly status: number
  /** llm-d's name of the error, such as "ResourceExhausted". */
  readonly code: string
  /** Value of x-llm-d-request-dropped-reason; '' for none. */
  readonly reason: string
  readonly message: string
  /** Headers of the answer besides; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

export type Answer = Routed | Rejected

/** Why the front door ends a request that it has routed. */
export type DoorAnswer = Pick<Rejected, 'status' | 'code' | 'reason' | 'message' | 'headers'>

/** How a response ended. */
export interface ResponseEnd {
  readonly cause: EndCause
  /** Undefined when the endpoint reported none: unknown is not zero. */
  readonly usage: Usage | undefined
  readonly status: number
  /** Bytes of the body as the endpoint sent it. */
  readonly bodyBytes: number
}

export type AttemptFailure = Exclude<FailureCause, 'unspecified'>

/**
 * The scheduler as the front door sees it. For each request exactly one of these is told last: `ended`, `aborted`, or an
 * `attemptFailed` that was answered with a rejection; after a rejection by `receive`, nothing is told.
 */
export interface SchedulerPort {
  /**
   * Takes a request. `accepted` is called with the engine's key as soon as there is one, before any waiting, so that
   * a client who leaves while the request waits can be told of.
   */
  receive(input: RequestInput, accepted: (request: number) => void): Promise<Answer>
  /** The prefill that the front door ran is over; `status` is 0 when no answer came. */
  prefillEnded?(request: number, attempt: number, status: number): void
  /** The endpoint's connection took the request. */
  sent(request: number, attempt: number): void
  /** First byte of the response's body, or its end when it has none. */
  started(request: number, attempt: number, status: number, streaming: boolean): void
  /** A live stream's sign of life, at most one per 10 s; `tokens` counts the events so far. */
  progressed(request: number, tokens: number): void
  ended(request: number, attempt: number, end: ResponseEnd): void
  /**
   * An attempt came to nothing. `retryable` says that the client has no byte of it, so another endpoint may be tried;
   * the answer is the next route, or the final failure. `status` is 0 when no status came.
   */
  attemptFailed(
    request: number, attempt: number, endpoint: string, cause: AttemptFailure, status: number, retryable: boolean,
  ): Promise<Answer>
  /** The client left, or the front door is closing. */
  aborted(request: number, cause: EndCause): void
}
