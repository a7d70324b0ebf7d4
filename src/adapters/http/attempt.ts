import type { Dispatcher } from 'undici'
import type { Connection, Connections } from './connections.ts'
import type { EndpointHeaders } from './header-policy.ts'
import type { AttemptFailure } from './scheduler-port.ts'

/** What an endpoint is asked. */
export interface UpstreamRequest {
  readonly hostPort: string
  readonly method: 'GET' | 'POST'
  /** With its query. */
  readonly path: string
  readonly headers: string[]
  readonly body: Buffer | undefined
}

export interface AttemptListener {
  /** The connection took the request. */
  sent(): void
  head(status: number, headers: EndpointHeaders, statusText: string): void
  data(chunk: Buffer): void
  end(): void
  /** `refused` tells that the request itself cannot be written as HTTP: the client's fault. */
  failed(cause: AttemptFailure | 'refused', error: Error): void
}

/** Bytes of an unwanted response that are read to keep its connection; of a longer one the connection is ended. */
const DISCARD_BYTES_MAX = 64 * 1024
/** How long they may take, in ms. */
const DISCARD_MS = 1000

const INVALID_REQUEST: ReadonlySet<unknown> = new Set(['UND_ERR_INVALID_ARG', 'UND_ERR_NOT_SUPPORTED'])
const MALFORMED: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_OVERFLOW', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH'])
const TIMEOUTS: ReadonlySet<unknown> = new Set(['UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/**
 * One try of one request at one endpoint. Tells `end` or `failed` once, or nothing after `abort` or `discard`. Where a
 * used connection turns out to be closed before any byte of a response, it tries once more on a new one: that an idle
 * connection ended says nothing of the endpoint.
 */
export class Attempt implements Dispatcher.DispatchHandler {
  readonly #connections: Connections
  readonly #request: UpstreamRequest
  readonly #listener: AttemptListener
  readonly #onStale: () => void
  #connection: Connection | undefined
  #controller: Dispatcher.DispatchController | undefined
  #isOver = false
  #wasReused = false
  #hasBytes = false
  #hasHead = false
  #mayRenew = true
  #discarded = -1

  constructor(connections: Connections, request: UpstreamRequest, listener: AttemptListener, onStale: () => void) {
    this.#connections = connections
    this.#request = request
    this.#listener = listener
    this.#onStale = onStale
  }

  start(fresh = false): void {
    const { hostPort, method, path, headers, body } = this.#request
    this.#controller = undefined
    this.#connection = this.#connections.take(hostPort, fresh)
    this.#connection.client.dispatch({ method, path, headers, body: body ?? null }, this)
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Ends the try and its connection, also while it is being made. */
  abort(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#drop()
  }

  /** Nothing of the response is wanted any more; its connection is kept when the rest of it is short. */
  discard(): void {
    if (this.#isOver) return
    this.#discarded = 0
    setTimeout(() => {
      this.abort()
    }, DISCARD_MS).unref()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    this.#wasReused = this.#connection?.isReused === true
  }

  onRequestSent(): void {
    if (!this.#isOver) this.#listener.sent()
  }

  onResponseStarted(): void {
    this.#hasBytes = true
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: EndpointHeaders, statusText = ''): void {
    // An interim response says nothing of the real one.
    if (status < 200 || this.#isOver) return
    this.#hasHead = true
    this.#listener.head(status, headers, statusText)
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#isOver) return
    if (this.#discarded < 0) {
      this.#listener.data(chunk)
      return
    }
    this.#discarded += chunk.length
    if (this.#discarded > DISCARD_BYTES_MAX) this.abort()
  }

  onResponseEnd(): void {
    if (this.#isOver) return
    this.#isOver = true
    if (this.#connection !== undefined) this.#connections.giveBack(this.#connection)
    if (this.#discarded < 0) this.#listener.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController | undefined, error: Error): void {
    if (this.#isOver) return
    this.#drop()
    const cause = this.#causeOf(error)
    if (cause === 'reset' && this.#wasReused && this.#mayRenew && !this.#hasBytes) {
      this.#mayRenew = false
      this.#onStale()
      this.start(true)
      return
    }
    this.#isOver = true
    if (this.#discarded < 0) this.#listener.failed(cause, error)
  }

  #drop(): void {
    if (this.#connection !== undefined) this.#connections.drop(this.#connection)
    this.#connection = undefined
  }

  #causeOf(error: Error): AttemptFailure | 'refused' {
    const code: unknown = 'code' in error ? error.code : undefined
    if (INVALID_REQUEST.has(code)) return 'refused'
    if (this.#controller === undefined) return 'connect'
    if (TIMEOUTS.has(code)) return 'timeout'
    if (this.#hasHead) return 'truncated'
    return isMalformed(error, code) ? 'malformed' : 'reset'
  }
}

/** What came is not HTTP, or more of it than is taken. */
const isMalformed = (error: Error, code: unknown): boolean =>
  error.name === 'HTTPParserError' || MALFORMED.has(code) || error.message.startsWith('bad ')
