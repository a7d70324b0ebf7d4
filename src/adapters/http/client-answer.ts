import type { ServerResponse } from 'node:http'
import type { ErrorAnswer } from './error-response.ts'
import { errorBody } from './error-response.ts'
import { DROPPED_REASON, REQUEST_ID } from './header-policy.ts'

/** How long a client may go on sending a body that is refused, in ms, before its connection is ended. */
const LINGER_MS = 1000
/** How long a client may take to read the last words of a broken stream, in ms. */
const LAST_WORDS_MS = 5000

/** Answers with JSON of status 200. */
export const sendJson = (response: ServerResponse, requestId: string, body: string): void => {
  response.writeHead(200, ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)), REQUEST_ID, requestId])
  response.end(body)
}

/** Answers with an OpenAI error object. */
export const sendError = (response: ServerResponse, requestId: string, answer: ErrorAnswer, extra: readonly string[] = []): void => {
  writeError(response, requestId, answer, extra)
  response.end()
}

/**
 * Answers while the client is still sending: ending the connection at once would reset it, and the client might never
 * read why. The rest of the body is thrown away until it ends or the time is over.
 */
export const sendErrorWhileReading = (response: ServerResponse, requestId: string, answer: ErrorAnswer): void => {
  response.shouldKeepAlive = false
  writeError(response, requestId, answer, [])
  const finish = (): void => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(() => {
    finish()
    response.req.destroy()
  }, LINGER_MS)
  response.req.once('end', finish).once('close', finish).resume()
}

/** Ends a response that has begun so that the client sees it is not whole; `event` is told before, where it may be. */
export const breakOff = (response: ServerResponse, event: string | undefined): void => {
  const { socket } = response
  if (event === undefined || socket === null) {
    response.destroy()
    return
  }
  const timer = setTimeout(() => socket.destroy(), LAST_WORDS_MS)
  // Without the last chunk of its coding the response is not whole, whatever its reader makes of the event.
  response.write(event, () => {
    clearTimeout(timer)
    socket.destroySoon()
  })
}

const writeError = (response: ServerResponse, requestId: string, answer: ErrorAnswer, extra: readonly string[]): void => {
  const body = errorBody(answer)
  const headers = ['content-type', 'application/json', 'content-length', String(Buffer.byteLength(body)), REQUEST_ID, requestId]
  if (answer.reason !== undefined && answer.reason !== '') headers.push(DROPPED_REASON, answer.reason)
  response.writeHead(answer.status, [...headers, ...(answer.headers ?? []).flat(), ...extra])
  response.write(body)
}
