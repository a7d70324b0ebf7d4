import type { IncomingMessage } from 'node:http'

/** A whole body, or why there is none: it is larger than the limit, or the client left before its end. */
export type BodyResult = Buffer | 'too-large' | 'left'

const EMPTY = Buffer.alloc(0)

/** Whether a body announces itself, by its content-length, as larger than `limit` bytes. */
export const announcesTooMuch = (contentLength: string | undefined, limit: number): boolean => Number(contentLength ?? 0) > limit

/** Reads a body of at most `limit` bytes; calls `done` once. Of a larger body nothing is kept. */
export const readBody = (request: IncomingMessage, limit: number, done: (result: BodyResult) => void): void => {
  let chunks: Buffer[] = []
  let bytes = 0
  const finish = (result: BodyResult): void => {
    request.off('data', onData).off('end', onEnd).off('close', onClose)
    chunks = []
    done(result)
  }
  const onData = (chunk: Buffer): void => {
    bytes += chunk.length
    if (bytes > limit) finish('too-large')
    else chunks.push(chunk)
  }
  const onEnd = (): void => {
    const [first] = chunks
    finish(first === undefined ? EMPTY : chunks.length === 1 ? first : Buffer.concat(chunks, bytes))
  }
  const onClose = (): void => {
    finish('left')
  }
  // A broken connection tells of itself twice; the close is enough.
  request.on('error', () => undefined)
  request.on('data', onData).on('end', onEnd).on('close', onClose)
}
