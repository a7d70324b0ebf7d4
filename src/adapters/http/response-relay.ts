import type { ServerResponse } from 'node:http'
import { Attempt } from './attempt.ts'
import type { AttemptListener, UpstreamRequest } from './attempt.ts'
import { breakOff } from './client-answer.ts'
import type { Connections } from './connections.ts'
import { errorEvent } from './error-response.ts'
import type { ErrorAnswer } from './error-response.ts'
import { clientResponseHeaders, routeHeaders } from './header-policy.ts'
import type { EndpointHeaders } from './header-policy.ts'
import { watchFor } from './response-watch.ts'
import type { ResponseEdits, ResponseWatch } from './response-watch.ts'
import type { AttemptFailure, ResponseEnd, Routed } from './scheduler-port.ts'

/** Least time between two signs of life of a stream, in ms. */
const PROGRESS_EVERY_MS = 10_000

const UNAVAILABLE = 503
/** A reason phrase that can be written as it came; another is left out, as it says nothing that the status does not. */
const PRINTABLE = /^[ -~]*$/

export interface RelayedRequest {
  readonly requestId: string
  readonly api: string
  /** Whether the client asked for a stream. */
  readonly streams: boolean
  readonly edits: ResponseEdits
  /** Whether it is of SGLang's own API. */
  readonly isSglang: boolean
}

export interface RelayListener {
  sent(): void
  started(status: number, streaming: boolean): void
  progressed(tokens: number): void
  ended(end: ResponseEnd): void
  failed(cause: AttemptFailure, status: number): void
  /** The request cannot be sent to any endpoint. */
  refused(message: string): void
}

/**
 * One attempt and the way of its response to the client. The head waits for the first byte of the body, so that an
 * endpoint which dies before it has said anything can be replaced; from then on bytes are passed as they come, no
 * faster than the client takes them.
 */
export class ResponseRelay implements AttemptListener {
  /** Whether the client has something of this attempt. */
  hasBegun = false
  readonly #response: ServerResponse
  readonly #route: Routed
  readonly #request: RelayedRequest
  readonly #listener: RelayListener
  #attempt: Attempt | undefined
  #watch: ResponseWatch | undefined
  #status = 0
  #statusText = ''
  #headers: EndpointHeaders = {}
  #isStream = false
  #isSent = false
  #isPaused = false
  #bodyBytes = 0
  #lastSignAt = 0

  constructor(response: ServerResponse, route: Routed, request: RelayedRequest, listener: RelayListener) {
    this.#response = response
    this.#route = route
    this.#request = request
    this.#listener = listener
  }

  start(connections: Connections, upstream: UpstreamRequest, onStale: () => void): void {
    this.#attempt = new Attempt(connections, upstream, this, onStale)
    this.#attempt.start()
  }

  abort(): void {
    this.#attempt?.abort()
  }

  /** Ends a response that has begun, with the error as an event where there can be one. */
  breakOff(answer: ErrorAnswer): void {
    const canTell = this.#isStream && this.#watch?.isAtBoundary === true && this.#headers['content-length'] === undefined
    breakOff(this.#response, canTell ? errorEvent(answer, this.#request.api) : undefined)
  }

  sent(): void {
    if (this.#isSent) return
    this.#isSent = true
    this.#listener.sent()
  }

  head(status: number, headers: EndpointHeaders, statusText: string): void {
    this.#status = status
    if (status === UNAVAILABLE) {
      this.#attempt?.discard()
      this.#listener.failed('unavailable', status)
      return
    }
    const contentType = text(headers['content-type'])
    this.#statusText = PRINTABLE.test(statusText) ? statusText : ''
    this.#headers = headers
    this.#isStream = contentType.toLowerCase().includes('text/event-stream')
    this.#watch = watchFor(contentType, text(headers['content-encoding']), this.#request.edits, this.#request.isSglang)
  }

  data(chunk: Buffer): void {
    if (!this.hasBegun) this.#begin()
    this.#bodyBytes += chunk.length
    if (this.#watch !== undefined) this.#write(this.#watch.take(chunk))
    const now = performance.now()
    if (now - this.#lastSignAt < PROGRESS_EVERY_MS) return
    this.#lastSignAt = now
    this.#listener.progressed(this.#watch?.events ?? 0)
  }

  end(): void {
    if (!this.hasBegun) this.#begin()
    this.#finish()
  }

  failed(cause: AttemptFailure | 'refused', error: Error): void {
    if (cause === 'refused') this.#listener.refused(error.message)
    else if (this.hasBegun && this.#watch?.isDone === true) this.#finish()
    else this.#listener.failed(cause, this.#status)
  }

  #begin(): void {
    this.hasBegun = true
    this.#lastSignAt = performance.now()
    const own = routeHeaders(this.#route, this.#request.requestId)
    const headers = clientResponseHeaders(this.#headers, own, this.#watch?.edits === true)
    this.#response.writeHead(this.#status, this.#statusText, headers)
    this.#listener.started(this.#status, this.#isStream || this.#request.streams)
  }

  #write(chunks: Buffer | readonly Buffer[]): void {
    let takesMore = true
    if (Buffer.isBuffer(chunks)) takesMore = this.#response.write(chunks)
    else for (const chunk of chunks) takesMore = this.#response.write(chunk)
    if (takesMore || this.#isPaused) return
    this.#isPaused = true
    this.#attempt?.pause()
    this.#response.once('drain', () => {
      this.#isPaused = false
      this.#attempt?.resume()
    })
  }

  #finish(): void {
    if (this.#watch !== undefined) this.#write(this.#watch.end())
    this.#response.end()
    const usage = this.#watch?.usage
    this.#listener.ended({ cause: 'natural', usage, status: this.#status, bodyBytes: this.#bodyBytes })
  }
}

const text = (value: string | readonly string[] | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : (value[0] ?? '')
