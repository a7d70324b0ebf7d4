import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { announcesTooMuch, readBody } from './body-reader.ts'
import { listenOn } from './listening.ts'
import type { ListenAddress } from './listening.ts'
import { pathOf } from './routes.ts'

/** Whether the process is well, and why not. */
interface Health {
  readonly ok: boolean
  /** What is wrong, or what is worth knowing; in words. */
  readonly reasons: readonly string[]
}

/** One plugin in /debug/plugins/state. */
export interface PluginState {
  readonly name: string
  readonly type: string
  /** Undefined for a plugin without a dump. */
  readonly state: unknown
}

type DrainResult = 'draining' | 'unknown-endpoint'

export interface AdminOptions {
  readonly listen: ListenAddress
  healthy(): Health
  ready(): Health
  /** The metrics as text, and its content type. */
  metrics(): Promise<{ readonly contentType: string; readonly text: string }>
  pluginStates(): readonly PluginState[]
  /** One JSON value an endpoint. */
  endpoints(): readonly unknown[]
  drain(endpoint: string): DrainResult
  /** Wall time, for the time stamp of dumps, in ms. */
  now(): number
  failed?(error: unknown): void
}

/** What a route answers. */
export interface AdminReply {
  readonly status: number
  readonly contentType: string
  readonly text: string
  /** In place of the text. */
  readonly bytes?: Uint8Array
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>
}

export interface AdminRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  /** Whether it comes from this machine, and names it as such. */
  readonly loopback: boolean
  /** The body as JSON; undefined when there is none. */
  readonly body: unknown
}

export type AdminRoute = (request: AdminRequest) => AdminReply | Promise<AdminReply>

/** Largest body of an operator's request, in bytes. */
const BODY_BYTES_MAX = 64 * 1024

/** The message of a plugin without a dump. (llm-d: /debug/plugins/state) */
const NO_STATE = 'plugin does not support state collection'

export const jsonReply = (status: number, value: unknown): AdminReply => ({
  status, contentType: 'application/json', text: `${JSON.stringify(value)}\n`,
})

const problem = (status: number, message: string): AdminReply => jsonReply(status, { error: { message } })

/** The operator's side: health, metrics, state of plugins, endpoints. Not for clients: it listens apart from the door. */
export class AdminServer {
  readonly #options: AdminOptions
  readonly #server: Server
  readonly #routes = new Map<string, Map<string, AdminRoute>>()
  readonly #folders = new Map<string, AdminRoute>()

  constructor(options: AdminOptions) {
    this.#options = options
    this.#server = createServer((request, response) => {
      this.#take(request, response)
    })
    this.#mountOwn()
  }

  /** Adds a route, or replaces one. */
  mount(method: 'GET' | 'POST', path: string, route: AdminRoute): void {
    const byMethod = this.#routes.get(path) ?? new Map<string, AdminRoute>()
    byMethod.set(method, route)
    this.#routes.set(path, byMethod)
  }

  /** Adds a GET route for every path that begins with a prefix and has none of its own. */
  mountUnder(prefix: string, route: AdminRoute): void {
    this.#folders.set(prefix, route)
  }

  /** Starts listening. Throws SignalboxError port-in-use. */
  listen(): Promise<ListenAddress> {
    return listenOn(this.#server, this.#options.listen, '--admin-listen')
  }

  async close(): Promise<void> {
    await new Promise((resolve) => {
      this.#server.close(resolve)
      this.#server.closeAllConnections()
    })
  }

  #mountOwn(): void {
    const options = this.#options
    this.mount('GET', '/healthz', () => healthReply(options.healthy()))
    this.mount('GET', '/readyz', () => healthReply(options.ready()))
    this.mount('GET', '/metrics', async () => ({ status: 200, ...(await options.metrics()) }))
    this.mount('GET', '/debug/plugins/state', () => jsonReply(200, stateDump(options.pluginStates(), options.now())))
    this.mount('GET', '/endpoints', () => jsonReply(200, { endpoints: options.endpoints() }))
    this.mount('POST', '/endpoints/drain', ({ body }) => {
      const endpoint = typeof body === 'object' && body !== null && 'endpoint' in body ? body.endpoint : undefined
      if (typeof endpoint !== 'string' || endpoint === '') return problem(400, 'give {"endpoint": "namespace/name"}')
      return options.drain(endpoint) === 'draining'
        ? jsonReply(200, { endpoint, presence: 'draining' })
        : problem(404, `unknown endpoint ${endpoint}`)
    })
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    const path = pathOf(request.url ?? '/')
    const byMethod = this.#routes.get(path) ?? this.#folderOf(path)
    const asked = request.method ?? 'GET'
    const method = asked === 'HEAD' ? 'GET' : asked
    const route = byMethod?.get(method)
    if (byMethod === undefined) send(response, problem(404, `unknown path ${path}`))
    else if (route === undefined) send(response, problem(405, `${asked} is not allowed on ${path}`), [...byMethod.keys()].join(', '))
    else if (method === 'GET') this.#answer(response, route, { method, path, query: queryOf(request), loopback: isLoopback(request), body: undefined })
    else if (announcesTooMuch(request.headers['content-length'], BODY_BYTES_MAX)) send(response, problem(413, 'the body is too large'))
    else {
      readBody(request, BODY_BYTES_MAX, (result) => {
        if (result === 'left') return
        const body = result === 'too-large' ? undefined : parsedBody(result)
        if (body === undefined) send(response, problem(result === 'too-large' ? 413 : 400, 'the body is not JSON of at most 64 KiB'))
        else this.#answer(response, route, { method, path, query: queryOf(request), loopback: isLoopback(request), body: body.value })
      })
    }
  }

  #folderOf(path: string): Map<string, AdminRoute> | undefined {
    for (const [prefix, route] of this.#folders) if (path.startsWith(prefix)) return new Map([['GET', route]])
    return undefined
  }

  #answer(response: ServerResponse, route: AdminRoute, request: AdminRequest): void {
    const fail = (error: unknown): void => {
      this.#options.failed?.(error)
      send(response, problem(500, error instanceof Error ? error.message : String(error)))
    }
    try {
      Promise.resolve(route(request)).then((reply) => {
        send(response, reply)
      }).catch(fail)
    } catch (error) {
      fail(error)
    }
  }
}

const healthReply = ({ ok, reasons }: Health): AdminReply => jsonReply(ok ? 200 : 503, { status: ok ? 'ok' : 'unavailable', reasons })

const stateDump = (plugins: readonly PluginState[], nowMs: number): unknown => ({
  timestamp: new Date(nowMs).toISOString(),
  // Entries made by definition, not by assignment: a plugin may be called __proto__.
  plugins: Object.fromEntries(
    plugins.map(({ name, type, state }) => [name, state === undefined ? { name, type, message: NO_STATE } : { name, type, state }]),
  ),
})

const parsedBody = (bytes: Buffer): { readonly value: unknown } | undefined => {
  if (bytes.length === 0) return { value: undefined }
  try {
    return { value: JSON.parse(bytes.toString()) as unknown }
  } catch {
    return undefined
  }
}

/** From this machine, and to it by a name that no other page can have: a name of its own may be made to lead here. */
const isLoopback = ({ socket, headers }: IncomingMessage): boolean =>
  /^(?:::ffff:)?127\.|^::1$/.test(socket.remoteAddress ?? '') && /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/i.test(headers.host ?? '')

const queryOf = (request: IncomingMessage): URLSearchParams => {
  const url = request.url ?? ''
  const at = url.indexOf('?')
  return new URLSearchParams(at < 0 ? '' : url.slice(at + 1))
}

const send = (response: ServerResponse, { status, contentType, text, bytes, headers: more = {} }: AdminReply, allow = ''): void => {
  const headers = ['content-type', contentType, 'content-length', String(bytes?.length ?? Buffer.byteLength(text)), ...Object.entries(more).flat()]
  if (allow !== '') headers.push('allow', allow)
  response.writeHead(status, headers)
  response.end(bytes ?? text)
}
