import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ApiError, badRequest, errorBody } from '../endpoint/api-error.ts'
import { parseFaults } from '../endpoint/faults.ts'
import { isObject } from '../endpoint/generation-request.ts'
import type { JsonObject } from '../endpoint/generation-request.ts'
import { readBody, sendJson, sendText } from '../endpoint/http-body.ts'
import { ROLES } from '../endpoint/role.ts'
import type { Role } from '../endpoint/role.ts'
import type { Pool } from './pool.ts'

export interface PoolControl {
  readonly url: string
  close(): Promise<void>
}

/** Requests in flight have this long to end when the pool is stopped over the wire, ms. */
const STOP_GRACE_MS = 5_000

/**
 * The control routes of a pool: `GET /pool`, `POST /pool/add {role?, name?}`, `POST /pool/remove {name}`,
 * `POST /pool/faults {name, ...faults}`, `POST /pool/stop`.
 */
export async function startControl(pool: Pool, host: string, port: number): Promise<PoolControl> {
  const server = createServer((request, response) => void answer(pool, request, response))
  server.listen(port, host)
  await once(server, 'listening')
  const { address, port: taken } = server.address() as AddressInfo
  return {
    url: `http://${address.includes(':') ? `[${address}]` : address}:${taken}`,
    close: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeIdleConnections()
      setTimeout(() => server.closeAllConnections(), 100).unref()
      await closed
    },
  }
}

async function answer(pool: Pool, request: IncomingMessage, response: ServerResponse): Promise<void> {
  try {
    await route(pool, request, response)
  } catch (error) {
    const known = error instanceof ApiError ? error : refusal(error)
    sendText(response, known.status, errorBody(known), 'application/json')
  }
}

function refusal(error: unknown): ApiError {
  const message = error instanceof Error ? error.message : String(error)
  return error instanceof RangeError ? badRequest(message) : new ApiError(500, 'InternalServerError', message)
}

async function route(pool: Pool, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = `${request.method ?? 'GET'} ${request.url ?? '/'}`
  switch (path) {
    case 'GET /pool':
      sendJson(response, 200, pool.state())
      return
    case 'POST /pool/add': {
      const { role = '', name } = await bodyOf(request)
      if (!ROLES.includes(role as Role)) throw badRequest(`\`role\` must be one of ${ROLES.slice(1).join(', ')}, or absent`)
      sendJson(response, 200, await pool.add(role as Role, name === undefined ? undefined : nameOf(name)))
      return
    }
    case 'POST /pool/remove': {
      const name = nameOf((await bodyOf(request))['name'])
      if (!(await pool.remove(name))) throw new ApiError(404, 'NotFoundError', `there is no endpoint \`${name}\``)
      sendJson(response, 200, { removed: name })
      return
    }
    case 'POST /pool/faults': {
      const { name, ...faults } = await bodyOf(request)
      const checked = parseFaults(faults)
      await pool.setFaults(nameOf(name), checked)
      sendJson(response, 200, checked)
      return
    }
    case 'POST /pool/stop':
      response.setHeader('connection', 'close')
      sendJson(response, 200, { stopping: pool.id })
      await pool.close(STOP_GRACE_MS)
      return
    default:
      throw new ApiError(404, 'NotFoundError', `no route ${path}`)
  }
}

async function bodyOf(request: IncomingMessage): Promise<JsonObject> {
  let value: unknown
  try {
    value = JSON.parse((await readBody(request)) || '{}')
  } catch {
    throw badRequest('the body is not valid JSON')
  }
  if (!isObject(value)) throw badRequest('the body must be a JSON object')
  return value
}

function nameOf(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw badRequest('`name` must be a non-empty string')
  return value
}
