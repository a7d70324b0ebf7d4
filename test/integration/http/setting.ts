import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import { connect, createServer as createTcpServer } from 'node:net'
import type { Socket } from 'node:net'
import { afterEach } from 'vitest'
import type { Api } from '../../../src/core/body.ts'
import { HttpDoor } from '../../../src/adapters/http/door.ts'
import type { DoorOptions } from '../../../src/adapters/http/door.ts'
import { endsInClaimed } from '../../../src/adapters/http/preparation.ts'
import type { Preparation, Prepared, Refusal } from '../../../src/adapters/http/preparation.ts'
import type { Destination } from '../../../src/adapters/http/scheduler-port.ts'
import { closed, freePort, listening } from '../../story/listening.ts'
import { ScriptedScheduler } from './scripted-scheduler.ts'

const open: (() => Promise<unknown> | void)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** Closes something after the test. */
export const closing = (close: () => Promise<unknown> | void): void => {
  open.push(close)
}

const API_BY_SUFFIX: readonly (readonly [suffix: string, api: Api])[] = [
  ['chat/completions', 'chat'], ['completions', 'completions'], ['embeddings', 'embeddings'], ['responses', 'responses'],
  ['messages', 'messages'], ['generate', 'generate'],
]

const refused = (message: string): Refusal => ({ kind: 'refused', status: 400, code: 'BadRequest', message, param: null })

/** Reads the fields that the door needs from a JSON body, and nothing more. */
export const jsonPreparation: Preparation = {
  claims: (path) => endsInClaimed(path),
  prepare: (path, _headers, body): Prepared | Refusal => {
    let json: unknown
    try {
      json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body))
    } catch {
      return refused('the body is not JSON')
    }
    if (typeof json !== 'object' || json === null || Array.isArray(json)) return refused('the body is not a JSON object')
    const fields = new Map<string, unknown>(Object.entries(json))
    const model = fields.get('model')
    return {
      kind: 'prepared',
      api: API_BY_SUFFIX.find(([suffix]) => path.endsWith(suffix))?.[1] ?? 'raw',
      parser: 'json',
      model: typeof model === 'string' ? model : '',
      rewritable: true,
      streaming: fields.get('stream') === true,
      maxOutputTokens: undefined,
      shape: { tokenized: false, prompts: [], problem: '' },
    }
  },
}

export interface Upstream {
  readonly server: Server
  readonly endpoint: Destination
  /** Requests whose whole body came. */
  readonly requests: { readonly url: string; readonly headers: IncomingMessage['headers']; readonly raw: readonly string[]; readonly body: Buffer }[]
}

/** A real endpoint; the handler is called when a request's whole body has come. */
export const upstream = async (
  id: string, handler: (request: IncomingMessage, response: ServerResponse, body: Buffer) => void, host = '127.0.0.1',
): Promise<Upstream> => {
  const requests: Upstream['requests'] = []
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('error', () => undefined)
    request.on('end', () => {
      const body = Buffer.concat(chunks)
      requests.push({ url: request.url ?? '', headers: request.headers, raw: request.rawHeaders, body })
      handler(request, response, body)
    })
  }
  const server = createServer(listener)
  const port = await listening(server, host)
  closing(() => closed(server))
  return { server, endpoint: { id, hostPort: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}` }, requests }
}

/** A real endpoint that speaks what it likes: the handler is called with each connection. */
export const rawUpstream = async (id: string, handler: (socket: Socket) => void): Promise<Destination> => {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    handler(socket)
  })
  const port = await listening(server)
  closing(() => {
    for (const socket of sockets) socket.destroy()
    return closed(server)
  })
  return { id, hostPort: `127.0.0.1:${port}` }
}

/** An endpoint where nobody listens. */
export const deadEndpoint = async (id: string): Promise<Destination> => ({ id, hostPort: `127.0.0.1:${await freePort()}` })

export interface Setting {
  readonly door: HttpDoor
  readonly scheduler: ScriptedScheduler
  readonly port: number
  readonly url: string
}

/** A door before the endpoints given, tried in this order. */
export const doorTo = async (endpoints: readonly Destination[], options: Partial<DoorOptions> = {}): Promise<Setting> => {
  const scheduler = new ScriptedScheduler()
  scheduler.endpoints = endpoints
  const door = new HttpDoor({
    listen: { host: '127.0.0.1', port: 0 }, scheduler, preparation: jsonPreparation, endpoints: () => endpoints, ...options,
  })
  const { port } = await door.listen()
  closing(() => door.close(0))
  return { door, scheduler, port, url: `http://127.0.0.1:${port}` }
}

export const CHAT = '/v1/chat/completions'
export const BODY = '{"model":"m","messages":[{"role":"user","content":"hi"}]}'
export const STREAM_BODY = '{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}'

export const post = (setting: Setting, body: string | Uint8Array<ArrayBuffer> = BODY, headers: Record<string, string> = {}, path = CHAT): Promise<Response> =>
  fetch(`${setting.url}${path}`, { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } })

/** Opens a bare connection to the door. `said` gives all that came, when the connection has ended. */
export const rawClient = (port: number): { readonly socket: Socket; readonly said: Promise<string> } => {
  const socket = connect(port, '127.0.0.1')
  closing(() => {
    socket.destroy()
  })
  const chunks: Buffer[] = []
  const said = new Promise<string>((resolve) => {
    socket.on('data', (chunk: Buffer) => chunks.push(chunk))
    socket.on('error', () => undefined)
    socket.on('close', () => {
      resolve(Buffer.concat(chunks).toString('latin1'))
    })
  })
  return { socket, said }
}

/** One event of a chat stream. */
export const token = (content: string): string => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`
export const DONE = 'data: [DONE]\n\n'

/** Answers a whole chat stream of these tokens. */
export const streams = (response: ServerResponse, tokens: readonly string[]): void => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const content of tokens) response.write(token(content))
  response.end(DONE)
}

export const answers = (response: ServerResponse, value: unknown, status = 200): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(value))
}

export const messageOf = (response: Response): Promise<{ error: { message: string; type: string; param: string | null; code: string } }> =>
  response.json() as Promise<{ error: { message: string; type: string; param: string | null; code: string } }>
