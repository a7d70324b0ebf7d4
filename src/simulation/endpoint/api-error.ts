/** An answer other than 200, in the form that OpenAI-compatible servers give. */
export class ApiError extends Error {
  readonly status: number
  readonly type: string

  constructor(status: number, type: string, message: string) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.type = type
  }
}

/** The body of an error answer. */
export function errorBody(error: ApiError): string {
  return JSON.stringify({ error: { message: error.message, type: error.type, param: null, code: error.status } })
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, 'BadRequestError', message)
}
