import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import { sendError, sendJson } from './client-answer.ts'
import { CONNECT_TIMEOUT_MS, Connections, IDLE_MS } from './connections.ts'
import { REJECTED_NO_ENDPOINTS, REJECTED_SHUTTING_DOWN } from './error-response.ts'
import type { ErrorAnswer } from './error-response.ts'
import { Exchange } from './exchange.ts'
import type { ExchangeParts } from './exchange.ts'
import { readClientHeaders, REQUEST_ID, requestIdOf } from './header-policy.ts'
import { listenOn } from './listening.ts'
import type { ListenAddress } from './listening.ts'
import { listModels } from './models.ts'
import type { Preparation } from './preparation.ts'
import { answerBrokenRequest } from './broken-request.ts'
import type { PrefillObserver } from './prefill/leg.ts'
import { pathOf, routeOf } from './routes.ts'
import type { Destination, DoorAnswer, SchedulerPort } from './scheduler-port.ts'

/** Longer than the 60 s for which proxies in front keep their connections: the door must not close one first. */
const KEEP_ALIVE_MS = 65_000
/** From the first byte of a request until its last, in ms: a client that sends slower is given up. */
const REQUEST_TIMEOUT_MS = 300_000
/** Setting body-limit: largest request body, in bytes. */
const BODY_LIMIT_BYTES = 64 * 1024 * 1024
/** How often slow requests are looked for, in ms. */
const CHECK_EVERY_MS = 5000

export interface DoorOptions {
  readonly listen: ListenAddress
  readonly scheduler: SchedulerPort
  readonly preparation: Preparation
  /** Endpoints that can be reached, sorted by id; they are asked for their models. */
  endpoints(): readonly Destination[]
  readonly bodyLimitBytes?: number
  /** Setting force-usage: ask streams for their usage although the client did not. Off: bytes go unchanged. */
  readonly forcesUsage?: boolean
  readonly connectTimeoutMs?: number
  /** How long an idle connection to an endpoint is kept. */
  readonly idleMs?: number
  readonly requestTimeoutMs?: number
  readonly keepAliveMs?: number
  readonly checkEveryMs?: number
  /** Told of the prefills that the door runs itself. */
  readonly prefills?: PrefillObserver
  /** Told of errors that are nobody's request's fault. */
  failed?(error: unknown): void
}

const UNOBSERVED: PrefillObserver = { outstanding: () => undefined, callFailed: () => undefined, gaveUp: () => undefined, requestFailed: () => undefined, succeeded: () => undefined }

/** What the door counts since its start. */
export interface DoorCounts {
  requests: number
  /** Requests sent again over a new connection because a used one was closed. */
  staleConnections: number
  /** Requests that were no HTTP or came too slowly. */
  broken: number
}

const SHUTTING_DOWN: DoorAnswer = { status: 503, code: 'ServiceUnavailable', reason: REJECTED_SHUTTING_DOWN, message: 'the server is shutting down' }
const NO_ENDPOINTS: ErrorAnswer = { status: 503, code: 'ServiceUnavailable', reason: REJECTED_NO_ENDPOINTS, message: 'no endpoint is there' }
const NO_MODELS: ErrorAnswer = { status: 502, code: 'bad_gateway', message: 'no endpoint told its models' }

/** The OpenAI-compatible reverse proxy: requests come in here, the scheduler says where they go. */
export class HttpDoor {
  readonly counts: DoorCounts = { requests: 0, staleConnections: 0, broken: 0 }
  readonly #options: DoorOptions
  readonly #server: Server
  readonly #connections: Connections
  readonly #parts: ExchangeParts
  readonly #open = new Set<Exchange>()
  readonly #byKey = new Map<number, Exchange>()
  /** The latest response on each connection. */
  readonly #answering = new Map<Duplex, ServerResponse>()
  #isClosing = false
  #emptied: (() => void) | undefined

  constructor(options: DoorOptions) {
    this.#options = options
    this.#connections = new Connections({
      connectTimeoutMs: options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS,
      idleMs: options.idleMs ?? IDLE_MS,
    })
    this.#parts = {
      scheduler: options.scheduler,
      preparation: options.preparation,
      connections: this.#connections,
      bodyLimitBytes: options.bodyLimitBytes ?? BODY_LIMIT_BYTES,
      forcesUsage: options.forcesUsage ?? false,
      prefills: options.prefills ?? UNOBSERVED,
      keyed: (key, exchange) => this.#byKey.set(key, exchange),
      finished: (exchange, key) => {
        this.#finished(exchange, key)
      },
      stale: () => {
        this.counts.staleConnections++
      },
      failed: (error) => options.failed?.(error),
    }
    this.#server = this.#serve(options)
  }

  /** How long the server waits, in ms: for the next request on a connection, and for a request's head. */
  get timeouts(): { readonly keepAliveMs: number; readonly headersMs: number } {
    return { keepAliveMs: this.#server.keepAliveTimeout, headersMs: this.#server.headersTimeout }
  }

  /** Requests that have not ended. */
  get open(): number {
    return this.#open.size
  }

  /** Starts listening. Throws SignalboxError port-in-use. */
  listen(): Promise<ListenAddress> {
    return listenOn(this.#server, this.#options.listen, '--listen')
  }

  /**
   * Ends the connection of a request that the scheduler has ended (expired, evicted): by this answer, or, when its
   * response has begun, by an error event and a broken connection. The scheduler is not told of it again. False when
   * the request is not open here.
   */
  abort(request: number, answer: DoorAnswer): boolean {
    const exchange = this.#byKey.get(request)
    exchange?.stop(answer)
    return exchange !== undefined
  }

  /** Takes no new requests, lets the open ones end for `graceMs`, then ends them with 503. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    const closed = new Promise((resolve) => {
      this.#server.close(resolve)
    })
    await this.#drained(graceMs)
    for (const exchange of [...this.#open]) exchange.stop(SHUTTING_DOWN, 'scheduler-restarted')
    await this.#connections.close()
    this.#server.closeIdleConnections()
    const stragglers = setTimeout(() => {
      this.#server.closeAllConnections()
    }, STRAGGLERS_MS)
    await closed
    clearTimeout(stragglers)
  }

  async #drained(graceMs: number): Promise<void> {
    if (this.#open.size === 0) return
    let timer: NodeJS.Timeout | undefined
    await new Promise<void>((resolve) => {
      this.#emptied = resolve
      timer = setTimeout(resolve, graceMs)
    })
    clearTimeout(timer)
  }

  #serve(options: DoorOptions): Server {
    const keepAliveTimeout = options.keepAliveMs ?? KEEP_ALIVE_MS
    const requestTimeout = options.requestTimeoutMs ?? REQUEST_TIMEOUT_MS
    const server = createServer({
      keepAliveTimeout,
      headersTimeout: Math.min(keepAliveTimeout + 1000, requestTimeout),
      requestTimeout,
      connectionsCheckingInterval: options.checkEveryMs ?? CHECK_EVERY_MS,
      insecureHTTPParser: false,
      noDelay: true,
    })
    server.on('connection', (socket: Duplex) => {
      socket.once('close', () => this.#answering.delete(socket))
    })
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request, response, false)
    })
    server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
      this.#take(request, response, true)
    })
    server.on('clientError', (error: Error, socket: Duplex) => {
      this.counts.broken++
      answerBrokenRequest(error, socket, this.#answering.get(socket))
    })
    return server
  }

  #take(request: IncomingMessage, response: ServerResponse, expectsContinue: boolean): void {
    this.counts.requests++
    this.#answering.set(request.socket, response)
    const requestId = requestIdOf(request.rawHeaders) ?? randomUUID()
    if (this.#isClosing) {
      response.shouldKeepAlive = false
      sendError(response, requestId, SHUTTING_DOWN)
      return
    }
    const path = pathOf(request.url ?? '/')
    const route = routeOf(request.method ?? 'GET', path, this.#options.preparation)
    if (route.kind === 'refused') sendError(response, requestId, route.answer, route.headers)
    else if (route.kind === 'models') this.#models(request, response, requestId, route.model)
    else {
      const exchange = new Exchange(this.#parts, request, response, path, requestId)
      this.#open.add(exchange)
      exchange.start(expectsContinue)
    }
  }

  #models(request: IncomingMessage, response: ServerResponse, requestId: string, wanted: string | undefined): void {
    const endpoints = this.#options.endpoints()
    if (endpoints.length === 0) {
      sendError(response, requestId, NO_ENDPOINTS)
      return
    }
    const headers = [...readClientHeaders(request.rawHeaders).forwarded, REQUEST_ID, requestId]
    const stop = listModels(this.#connections, endpoints, withoutBody(headers), (models) => {
      if (models === undefined) sendError(response, requestId, NO_MODELS)
      else if (wanted === undefined) sendJson(response, requestId, JSON.stringify({ object: 'list', data: models }))
      else {
        const model = models.find(({ id }) => id === wanted)
        if (model !== undefined) sendJson(response, requestId, JSON.stringify(model))
        else sendError(response, requestId, { status: 404, code: 'model_not_found', message: `no endpoint has the model ${wanted}`, param: 'model' })
      }
    })
    response.once('close', stop)
  }

  #finished(exchange: Exchange, key: number | undefined): void {
    this.#open.delete(exchange)
    if (key !== undefined && this.#byKey.get(key) === exchange) this.#byKey.delete(key)
    if (!this.#isClosing) return
    if (this.#open.size === 0) this.#emptied?.()
    setImmediate(() => {
      this.#server.closeIdleConnections()
    })
  }
}

/** After the end of the grace, how long the last answers have to be read, in ms. */
const STRAGGLERS_MS = 1000

/** Headers of a request without those of a body. A list is read by the door: it must not be compressed. */
const withoutBody = (headers: readonly string[]): string[] => {
  const kept: string[] = []
  for (let i = 0; i + 1 < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const lower = name.toLowerCase()
    if (!lower.startsWith('content-') && lower !== 'accept-encoding') kept.push(name, headers[i + 1] ?? '')
  }
  return kept
}
