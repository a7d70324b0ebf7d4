import type { Denial } from './contract.ts'

/** A refusal with a status, thrown by handlers and profile runs; any other error of a plugin is a 500. */
export class SchedulingError extends Error {
  override readonly name = 'SchedulingError'
  readonly denial: Denial

  constructor(denial: Denial) {
    super(denial.message)
    this.denial = denial
  }
}

/** Names of the error codes and their HTTP status. (llm-d: errors to HTTP) */
const STATUS = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  PreconditionFailed: 412,
  ResourceExhausted: 429,
  Internal: 500,
  ServiceUnavailable: 503,
} as const

export type StatusCode = keyof typeof STATUS

export const denial = (code: StatusCode, message: string, reason = ''): Denial => ({ status: STATUS[code], code, reason, message })

export const REJECTED_SATURATED = 'rejected-saturated'
export const REJECTED_NO_ENDPOINTS = 'rejected-no-endpoints'
