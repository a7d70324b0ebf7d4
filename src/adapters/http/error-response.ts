/** What is told to a client in place of a response. */
export interface ErrorAnswer {
  /** HTTP status. */
  readonly status: number
  /** llm-d's or the router's name of the error, such as "ResourceExhausted" or "body_too_large". */
  readonly code: string
  readonly message: string
  /** Value of x-llm-d-request-dropped-reason; none when absent or ''. */
  readonly reason?: string
  /** The field of the request that is wrong. */
  readonly param?: string | null
  /** Headers besides; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** Why the front door itself turns requests away. (llm-d: dropped reasons) */
export const REJECTED_SHUTTING_DOWN = 'rejected-shutting-down'
export const REJECTED_NO_ENDPOINTS = 'rejected-no-endpoints'

const TYPE_BY_STATUS: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [429, 'rate_limit_error'],
])

/** The OpenAI error object of an answer, the same for every path. */
export const errorBody = (answer: ErrorAnswer): string => {
  const { message, param } = answer
  return JSON.stringify({ error: { message, type: typeOf(answer.status), param: param ?? null, code: snakeCase(answer.code) } })
}

/**
 * The event that tells of an error in a stream that has begun, in the form of the stream's API. Chunks of a chat or
 * completion keep an empty `choices`, which clients read without looking.
 */
export const errorEvent = (answer: ErrorAnswer, api: string): string => {
  const error = { message: answer.message, type: typeOf(answer.status), param: answer.param ?? null, code: snakeCase(answer.code) }
  if (api === 'messages') return `event: error\ndata: ${JSON.stringify({ type: 'error', error: { type: error.type, message: error.message } })}\n\n`
  if (api === 'responses') return `event: error\ndata: ${JSON.stringify({ type: 'error', code: error.code, message: error.message, param: error.param })}\n\n`
  return `data: ${JSON.stringify({ error, choices: [] })}\n\n`
}

const typeOf = (status: number): string =>
  TYPE_BY_STATUS.get(status) ?? (status >= 500 ? 'server_error' : 'invalid_request_error')

/** "ResourceExhausted" as "resource_exhausted"; what is in snake case stays. */
const snakeCase = (code: string): string =>
  code.replaceAll(/[A-Z]/g, (letter, at: number) => `${at === 0 ? '' : '_'}${letter.toLowerCase()}`)
