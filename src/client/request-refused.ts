import type { Refusal } from '../wire/index.ts'

/** The scheduler does not serve the request. */
export class RequestRefused extends Error {
  override readonly name = 'RequestRefused'
  /** HTTP status for the client. */
  readonly status: number
  /** "ResourceExhausted", "ServiceUnavailable", "DeadlineExceeded", "BadRequest", ... */
  readonly code: string
  /** Value of x-llm-d-request-dropped-reason; may be empty. */
  readonly reason: string

  constructor({ status, code, reason, message }: Refusal) {
    super(message)
    this.status = status
    this.code = code
    this.reason = reason
  }
}
