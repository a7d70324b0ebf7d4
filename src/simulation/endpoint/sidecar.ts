import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { request as send } from 'undici'
import type { Agent } from 'undici'
import { isObject, MAX_TOKENS_FIELDS, mediaSource } from './generation-request.ts'
import type { GenerationRequest, JsonObject } from './generation-request.ts'

/** What the legs before decode left behind. */
export interface LegResults {
  /** `kv_transfer_params` of the prefill; undefined when there was none. */
  readonly kvTransfer: JsonObject | undefined
  /** Cached tokens that the prefill reported. */
  readonly cachedTokens: number
  readonly mediaReady: boolean
}

/** A leg did not work; `status` and `body` are what the client gets. */
export class LegFailure extends Error {
  readonly status: number
  readonly body: string

  constructor(status: number, body: string, cause?: unknown) {
    super(`a leg failed with status ${status}`, { cause })
    this.name = 'LegFailure'
    this.status = status
    this.body = body
  }
}

/** Where the legs of a request go, from its headers. */
export interface Legs {
  readonly encoders: readonly string[]
  readonly prefiller: string | undefined
}

/** Reads `x-prefiller-host-port` (the first of the list counts) and `x-encoder-hosts-ports`. */
export function legsOf(headers: IncomingHttpHeaders): Legs {
  return { encoders: hostPorts(headers['x-encoder-hosts-ports']), prefiller: hostPorts(headers['x-prefiller-host-port'])[0] }
}

function hostPorts(header: string | string[] | undefined): string[] {
  const text = Array.isArray(header) ? header.join(',') : (header ?? '')
  return text.split(',').map((part) => part.trim()).filter((part) => part !== '')
}

/** `http://host:port`; an IPv6 address may stand with or without brackets. */
export function legOrigin(hostPort: string): string {
  const colon = hostPort.lastIndexOf(':')
  const host = hostPort.slice(0, colon)
  const bracketed = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host
  return `http://${bracketed}:${hostPort.slice(colon + 1)}`
}

/**
 * Runs what llm-d's sidecar runs before decode: each media item once on an encoder, round robin and side by side,
 * then the whole request with one output token on the prefiller.
 * Throws a LegFailure: 502 for an encode leg, the prefiller's own answer, or 502 when it gave none.
 */
export async function runLegs(
  request: GenerationRequest, path: string, legs: Legs, agent: Agent, signal: AbortSignal,
): Promise<LegResults> {
  let body = request.body
  let mediaReady = request.mediaReady
  if (legs.encoders.length > 0 && request.api === 'chat' && request.prompt.media.length > 0) {
    body = { ...body, ec_transfer_params: await encode(body, path, legs.encoders, agent, signal) }
    mediaReady = true
  }
  if (legs.prefiller === undefined) return { kvTransfer: undefined, cachedTokens: 0, mediaReady }
  const answer = await prefill(request, body, path, legs.prefiller, agent, signal)
  const kvTransfer = answer['kv_transfer_params']
  if (!isObject(kvTransfer)) throw new LegFailure(502, failure('the prefiller returned no kv_transfer_params'))
  return { kvTransfer, cachedTokens: cachedTokensOf(answer), mediaReady }
}

async function encode(
  body: JsonObject, path: string, encoders: readonly string[], agent: Agent, signal: AbortSignal,
): Promise<JsonObject> {
  const parts = mediaParts(body)
  const id = randomUUID()
  const answers = await Promise.all(parts.map(async (part, i) => {
    const { stream_options: _options, max_completion_tokens: _max, ...rest } = body
    const leg = { ...rest, messages: [{ role: 'user', content: [part] }], max_tokens: 1, stream: false }
    const encoder = encoders[i % encoders.length] as string
    try {
      return await post(legOrigin(encoder) + path, leg, `${id}-enc-${i}`, agent, signal)
    } catch (error) {
      throw new LegFailure(502, failure(`encode leg ${i} on ${encoder} failed`), error)
    }
  }))
  const merged: JsonObject = {}
  for (const answer of answers) {
    if (isObject(answer['ec_transfer_params'])) Object.assign(merged, answer['ec_transfer_params'])
  }
  return merged
}

function mediaParts(body: JsonObject): JsonObject[] {
  const parts = new Map<string, JsonObject>()
  for (const message of Array.isArray(body['messages']) ? body['messages'] : []) {
    const content: unknown = isObject(message) ? message['content'] : undefined
    for (const part of Array.isArray(content) ? content : []) {
      const source = isObject(part) ? mediaSource(part) : undefined
      if (source !== undefined && !parts.has(source)) parts.set(source, part)
    }
  }
  return [...parts.values()]
}

async function prefill(
  request: GenerationRequest, body: JsonObject, path: string, prefiller: string, agent: Agent, signal: AbortSignal,
): Promise<JsonObject> {
  const { stream_options: _options, ...rest } = body
  const leg: JsonObject = {
    ...rest,
    stream: false,
    kv_transfer_params: {
      do_remote_decode: true, do_remote_prefill: false,
      remote_engine_id: null, remote_block_ids: null, remote_host: null, remote_port: null,
    },
  }
  const fields = request.api === 'embeddings' ? [] : MAX_TOKENS_FIELDS[request.api]
  for (const field of fields) leg[field] = 1
  if (leg['min_tokens'] !== undefined) leg['min_tokens'] = 1
  try {
    return await post(legOrigin(prefiller) + path, leg, randomUUID(), agent, signal)
  } catch (error) {
    if (error instanceof LegFailure) throw error
    throw new LegFailure(502, failure(`the prefiller ${prefiller} gave no answer`), error)
  }
}

async function post(url: string, body: JsonObject, id: string, agent: Agent, signal: AbortSignal): Promise<JsonObject> {
  const answer = await send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-request-id': id },
    body: JSON.stringify(body),
    dispatcher: agent,
    signal,
  })
  const text = await answer.body.text()
  if (answer.statusCode !== 200) throw new LegFailure(answer.statusCode, text)
  const value: unknown = JSON.parse(text)
  if (!isObject(value)) throw new LegFailure(502, failure('a leg answered with something that is not a JSON object'))
  return value
}

function cachedTokensOf(answer: JsonObject): number {
  const usage = answer['usage']
  if (!isObject(usage)) return 0
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details']
  const cached = isObject(details) ? details['cached_tokens'] : 0
  return typeof cached === 'number' ? cached : 0
}

function failure(message: string): string {
  return JSON.stringify({ error: { message, type: 'BadGatewayError', param: null, code: 502 } })
}
