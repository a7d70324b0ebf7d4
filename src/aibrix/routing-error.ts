/** Why no pair could be chosen. */
export type RoutingFailure = 'prefill-not-ready' | 'decode-not-ready' | 'no-bucket' | 'unknown-decode-policy' | 'decode-scoring' | 'no-pair'

/** No pair of pods for a request; the message is for people. (AIBrix: errors of pod selection) */
export class RoutingError extends Error {
  override readonly name = 'RoutingError'
  readonly failure: RoutingFailure

  constructor(failure: RoutingFailure, message: string) {
    super(message)
    this.failure = failure
  }
}
