import type { IncomingMessage, ServerResponse } from 'node:http'
import { ApiError } from './api-error.ts'

/** Bound of a request body; the longest known prompts are under 1 MB. */
const BODY_BYTES_MAX = 64 * 1024 * 1024

/** The whole body of a request as text. Rejects with an ApiError 413, or with the connection's error when it ends early. */
export async function readBody(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of request as AsyncIterable<Buffer>) {
    size += piece.length
    if (size > BODY_BYTES_MAX) throw new ApiError(413, 'BadRequestError', `the body is longer than ${BODY_BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  return (pieces.length === 1 ? (pieces[0] as Buffer) : Buffer.concat(pieces)).toString('utf8')
}

export function sendJson(response: ServerResponse, status: number, body: unknown): void {
  sendText(response, status, JSON.stringify(body), 'application/json')
}

export function sendText(response: ServerResponse, status: number, body: string, type: string): void {
  if (response.headersSent || response.destroyed) return
  response.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) })
  response.end(body)
}
