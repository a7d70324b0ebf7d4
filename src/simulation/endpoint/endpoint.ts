import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, errorBody } from './api-error.ts'
import { ENGINES } from './exposition.ts'
import type { Engine } from './exposition.ts'
import { NO_FAULTS, parseFaults } from './faults.ts'
import type { Faults } from './faults.ts'
import { KvPublisher } from './kv-publisher.ts'
import type { KvPorts } from './kv-publisher.ts'
import { readBody, sendJson, sendText } from './http-body.ts'
import { InferenceRoutes } from './inference-routes.ts'
import { RENDER_PATHS } from './render-routes.ts'
import { ROLES } from './role.ts'
import type { Role, WorkKind } from './role.ts'
import { Service } from './service.ts'
import { completeTiming } from './timing.ts'
import type { EndpointTiming } from './timing.ts'

export interface EndpointOptions {
  readonly name?: string
  readonly role?: Role
  /** The model that it serves. */
  readonly model?: string
  /** Further model names, each an adapter. */
  readonly adapters?: readonly string[]
  /** Whose metric names `/metrics` shows. */
  readonly engine?: Engine
  readonly host?: string
  /** 0 takes a free port. */
  readonly port?: number
  /** All times are divided by this (> 0). */
  readonly speed?: number
  readonly timing?: Partial<EndpointTiming>
  /** Publishes KV events on a port of its own and replays them on another; 0 takes a free one. Without it there are none. */
  readonly kvEvents?: KvPorts
}

export interface EndpointState {
  readonly name: string
  readonly role: Role
  readonly running: number
  readonly waiting: number
  readonly kvBlocksUsed: number
  readonly kvBlocksCached: number
  readonly kvBlocks: number
  readonly served: Readonly<Record<WorkKind, number>>
  readonly aborted: number
  /** Prompt tokens looked up in the prefix cache, and found. */
  readonly cacheQueries: number
  readonly cacheHits: number
  readonly generationTokens: number
  readonly faults: Faults
}

/** A simulated endpoint that listens. */
export interface SimulatedEndpoint {
  readonly name: string
  readonly role: Role
  readonly address: string
  readonly port: number
  /** `http://address:port` */
  readonly url: string
  /** Where it publishes KV events, and where it replays them. */
  readonly kvEvents: KvPorts | undefined
  state(): EndpointState
  /** Resolves when the faults are in force (with `refuse`: the port is closed). */
  setFaults(faults: Partial<Faults>): Promise<void>
  /** Frees the port; requests in flight have `graceMs` (wall clock, default 0) to end before they are broken off. */
  close(graceMs?: number): Promise<void>
}

/**
 * Starts a simulated vLLM-like endpoint on a real port.
 * Throws a RangeError for an option out of range, or the system's error when the port cannot be had.
 */
export async function startEndpoint(options: EndpointOptions = {}): Promise<SimulatedEndpoint> {
  const { role = '', engine = 'vllm', speed = 1 } = options
  if (!ROLES.includes(role)) throw new RangeError(`unknown role \`${role}\`; there are ${ROLES.slice(1).join(', ')}`)
  if (!ENGINES.includes(engine)) throw new RangeError(`unknown engine \`${engine}\`; there are ${ENGINES.join(', ')}`)
  if (!(speed > 0) || !Number.isFinite(speed)) throw new RangeError(`speed must be above 0, got ${speed}`)
  const endpoint = new HttpEndpoint(options, role, engine, new Service(completeTiming(options.timing ?? {}), speed))
  await endpoint.open()
  return endpoint
}

class HttpEndpoint implements SimulatedEndpoint {
  readonly role: Role
  readonly address: string
  readonly #service: Service
  readonly #routes: InferenceRoutes
  readonly #server: Server
  readonly #kvPorts: KvPorts | undefined
  #publisher: KvPublisher | undefined
  readonly #givenName: string | undefined
  #port: number
  #faults: Faults = NO_FAULTS
  #reopenTimer: NodeJS.Timeout | undefined
  #inFlight = 0
  /** While closing: what to do when nothing is in flight any more. */
  #idle: (() => void) | undefined

  constructor(options: EndpointOptions, role: Role, engine: Engine, service: Service) {
    this.role = role
    this.address = options.host ?? '127.0.0.1'
    this.#port = options.port ?? 0
    this.#givenName = options.name
    this.#service = service
    this.#kvPorts = options.kvEvents
    this.#routes = new InferenceRoutes(service, {
      role,
      engine,
      model: options.model ?? 'sim-model',
      adapters: options.adapters ?? [],
      place: () => ({ host: this.address, port: this.#port, name: this.name }),
    })
    this.#server = createServer((request, response) => void this.#handle(request, response))
    this.#server.keepAliveTimeout = 60_000
    this.#server.requestTimeout = 0
  }

  get name(): string {
    return this.#givenName ?? `sim-${this.role === '' ? '' : `${this.role}-`}${this.#port}`
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://${this.address.includes(':') ? `[${this.address}]` : this.address}:${this.#port}`
  }

  async open(): Promise<void> {
    this.#server.listen(this.#port, this.address)
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    if (this.#kvPorts !== undefined && this.#publisher === undefined) await this.#publish(this.#kvPorts)
  }

  get kvEvents(): KvPorts | undefined {
    return this.#publisher?.ports
  }

  async #publish(ports: KvPorts): Promise<void> {
    const topic = `kv@${this.address}:${this.#port}@${this.#routes.model}`
    this.#publisher = await KvPublisher.open({ host: this.address, ports, topic, blockTokens: this.#service.timing.blockTokens })
    this.#service.cacheWatch = this.#publisher
  }

  state(): EndpointState {
    const { model, served, aborted, cacheQueries, cacheHits, generationTokens, timing } = this.#service
    return {
      name: this.name,
      role: this.role,
      running: model.running,
      waiting: model.waiting,
      kvBlocksUsed: model.usedBlocks,
      kvBlocksCached: model.cachedBlocks,
      kvBlocks: timing.blockCount,
      served: { ...served },
      aborted,
      cacheQueries,
      cacheHits,
      generationTokens,
      faults: this.#faults,
    }
  }

  async setFaults(faults: Partial<Faults>): Promise<void> {
    const next = parseFaults(faults)
    clearTimeout(this.#reopenTimer)
    if (!next.refuse && this.#faults.refuse) await this.open()
    this.#faults = next
    this.#service.slowFactor = next.slowFactor
    if (next.refuse) await this.#shut()
    if (next.refuse && next.refuseMs !== undefined) this.#reopenAfter(next.refuseMs)
  }

  /** Should another process have the port by then, it is tried again. */
  #reopenAfter(ms: number): void {
    this.#reopenTimer = setTimeout(() => void this.setFaults({}).catch(() => this.#reopenAfter(ms)), ms)
  }

  async close(graceMs = 0): Promise<void> {
    clearTimeout(this.#reopenTimer)
    await this.#shut(graceMs)
    await this.#routes.close()
    this.#service.stop()
    this.#service.cacheWatch = undefined
    await this.#publisher?.close()
  }

  async #shut(graceMs = 0): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#idle = () => this.#server.closeAllConnections()
    const grace = setTimeout(this.#idle, graceMs)
    if (graceMs === 0 || this.#inFlight === 0) this.#idle()
    await closed
    clearTimeout(grace)
    this.#idle = undefined
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      await this.#route(request, response)
    } catch (error) {
      const known = error instanceof ApiError ? error : new ApiError(500, 'InternalServerError', String(error))
      sendText(response, known.status, errorBody(known), 'application/json')
    }
  }

  async #route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?', 1)[0] as string
    const route = `${request.method ?? 'GET'} ${path}`
    if (request.method === 'POST' && this.#routes.serves(path)) {
      await this.#infer(path, request, response)
    } else if (request.method === 'POST' && RENDER_PATHS.has(path)) {
      sendJson(response, 200, this.#routes.render(path, await readBody(request)))
    } else if (route === 'GET /health') {
      sendText(response, 200, '', 'text/plain')
    } else if (route === 'GET /v1/models') {
      sendJson(response, 200, this.#routes.models())
    } else if (route === 'GET /metrics') {
      if (this.#faults.stallMetrics) return
      const text = this.#faults.garbage ? '<html>\u0000 no exposition {{{ 7 = x' : this.#routes.metrics()
      sendText(response, 200, text, 'text/plain; version=0.0.4; charset=utf-8')
    } else if (route === 'GET /sim/state') {
      sendJson(response, 200, this.state())
    } else if (route === 'POST /sim/faults') {
      await this.#takeFaults(request, response)
    } else {
      throw new ApiError(404, 'NotFoundError', `no route ${route}`)
    }
  }

  async #infer(path: string, request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.#inFlight++
    response.once('close', () => {
      if (--this.#inFlight === 0) this.#idle?.()
    })
    const { stall, failStatus, dropMidStreamAfterTokens } = this.#faults
    if (stall || failStatus !== undefined || dropMidStreamAfterTokens !== undefined) this.#countFault()
    if (stall) {
      request.resume()
      return
    }
    const body = await readBody(request)
    if (failStatus !== undefined) throw new ApiError(failStatus, 'InternalServerError', 'fault on demand')
    await this.#routes.infer(path, request.headers, body, response, dropMidStreamAfterTokens)
  }

  #countFault(): void {
    const { count } = this.#faults
    if (count === undefined) return
    this.#faults = count > 1
      ? { ...this.#faults, count: count - 1 }
      : { ...this.#faults, stall: false, failStatus: undefined, dropMidStreamAfterTokens: undefined, count: undefined }
  }

  async #takeFaults(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let value: unknown
    try {
      value = JSON.parse(await readBody(request))
    } catch {
      throw new ApiError(400, 'BadRequestError', 'the body is not valid JSON')
    }
    const faults = parseFaults(value)
    if (faults.refuse) {
      response.setHeader('connection', 'close')
      sendJson(response, 200, faults)
      await once(response, 'close')
      await this.setFaults(faults)
    } else {
      await this.setFaults(faults)
      sendJson(response, 200, faults)
    }
  }
}
