import type { ServerResponse } from 'node:http'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { errorBody } from './error-response.ts'
import type { ErrorAnswer } from './error-response.ts'

const ANSWERS: ReadonlyMap<unknown, ErrorAnswer> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, code: 'request_timeout', message: 'the request came too slowly' }],
  ['HPE_HEADER_OVERFLOW', { status: 431, code: 'headers_too_large', message: 'the request headers are too large' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, code: 'body_too_large', message: 'the chunk extensions are too large' }],
])
const NOT_HTTP: ErrorAnswer = { status: 400, code: 'bad_request', message: 'the request is not valid HTTP/1.1' }

/**
 * Answers what is no request, such as one with two lengths, and ends the connection: nothing that follows on it can be
 * trusted. `current` is the response to the request before it, or to the one whose body broke.
 */
export const answerBrokenRequest = (error: Error, socket: Duplex, current: ServerResponse | undefined): void => {
  const isAnswering = current !== undefined && current.headersSent && !current.writableFinished
  if (isAnswering || !socket.writable || ('code' in error && error.code === 'ECONNRESET')) {
    socket.destroy(error)
    return
  }
  const answer = ANSWERS.get('code' in error ? error.code : undefined) ?? NOT_HTTP
  const body = errorBody(answer)
  const head = `HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}\r\ncontent-type: application/json\r\n`
  socket.end(`${head}content-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`, () => {
    socket.destroy()
  })
}
