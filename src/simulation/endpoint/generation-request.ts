import { badRequest } from './api-error.ts'
import { PromptBytes } from './prompt-bytes.ts'
import type { Prompt } from './prompt-bytes.ts'

/** The inference routes that a simulated endpoint serves. */
export type Api = 'chat' | 'completions' | 'responses' | 'embeddings'

export type JsonObject = Record<string, unknown>

/** A checked request body. */
export interface GenerationRequest {
  readonly api: Api
  readonly model: string
  readonly prompt: Prompt
  /** Tokens to produce, 0 for embeddings. */
  readonly maxTokens: number
  readonly stream: boolean
  /** Whether a stream ends with a usage chunk. */
  readonly includeUsage: boolean
  /** `kv_transfer_params` of the body. */
  readonly kvTransfer: JsonObject | undefined
  /** Whether the body says (`ec_transfer_params`) that encoders have prepared its media items. */
  readonly mediaReady: boolean
  readonly body: JsonObject
}

const MAX_TOKENS_DEFAULT = 16

/**
 * Reads the wire JSON of one request; the prompt is role and content of each message without separators (chat), the
 * prompt (completions), instructions and input (responses) or the input (embeddings).
 * Throws an ApiError 400 that names the field.
 */
export function parseGenerationRequest(api: Api, text: string): GenerationRequest {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    throw badRequest('the body is not valid JSON')
  }
  if (!isObject(body)) throw badRequest('the body must be a JSON object')
  if (typeof body['model'] !== 'string' || body['model'] === '') throw badRequest('`model` must be a non-empty string')
  const options = body['stream_options']
  const kvTransfer = body['kv_transfer_params']
  return {
    api,
    model: body['model'],
    prompt: readPrompt(api, body),
    maxTokens: api === 'embeddings' ? 0 : readMaxTokens(api, body),
    stream: body['stream'] === true && api !== 'embeddings',
    includeUsage: isObject(options) && options['include_usage'] === true,
    kvTransfer: isObject(kvTransfer) ? kvTransfer : undefined,
    mediaReady: isObject(body['ec_transfer_params']),
    body,
  }
}

/** The names under which an API takes the number of output tokens, the first given one counts. */
export const MAX_TOKENS_FIELDS: Readonly<Record<Exclude<Api, 'embeddings'>, readonly string[]>> = {
  chat: ['max_completion_tokens', 'max_tokens'],
  completions: ['max_tokens'],
  responses: ['max_output_tokens'],
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function readMaxTokens(api: Exclude<Api, 'embeddings'>, body: JsonObject): number {
  for (const field of MAX_TOKENS_FIELDS[api]) {
    const value = body[field]
    if (value === undefined || value === null) continue
    if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
      throw badRequest(`\`${field}\` must be an integer of at least 1`)
    }
    return value
  }
  return MAX_TOKENS_DEFAULT
}

function readPrompt(api: Api, body: JsonObject): Prompt {
  const prompt = new PromptBytes()
  if (api === 'chat') readChat(body, prompt)
  else if (api === 'responses') readResponses(body, prompt)
  else readText(api === 'completions' ? 'prompt' : 'input', body, prompt)
  const built = prompt.build()
  if (built.tokens === 0) throw badRequest('the prompt is empty')
  return built
}

function readChat(body: JsonObject, prompt: PromptBytes): void {
  if (Array.isArray(body['tools']) && body['tools'].length > 0) prompt.text(JSON.stringify(body['tools']))
  readMessages('messages', body['messages'], prompt)
}

function readResponses(body: JsonObject, prompt: PromptBytes): void {
  if (typeof body['instructions'] === 'string') prompt.text(body['instructions'])
  if (Array.isArray(body['tools']) && body['tools'].length > 0) prompt.text(JSON.stringify(body['tools']))
  if (typeof body['input'] === 'string') prompt.text(body['input'])
  else readMessages('input', body['input'], prompt)
}

function readMessages(field: string, messages: unknown, prompt: PromptBytes): void {
  if (!Array.isArray(messages) || messages.length === 0) throw badRequest(`\`${field}\` must be a non-empty array`)
  for (const [index, message] of messages.entries()) {
    if (!isObject(message)) throw badRequest(`\`${field}[${index}]\` must be an object`)
    if (typeof message['role'] === 'string') prompt.text(message['role'])
    const content = message['content']
    if (typeof content === 'string') prompt.text(content)
    else if (Array.isArray(content)) for (const part of content) readPart(part, prompt)
  }
}

function readPart(part: unknown, prompt: PromptBytes): void {
  if (!isObject(part)) return
  if (typeof part['text'] === 'string') {
    prompt.text(part['text'])
    return
  }
  const source = mediaSource(part)
  if (source !== undefined) prompt.media(source)
}

/** What identifies the media item in a content part: a URL, or the data of inline audio; undefined for other parts. */
export function mediaSource(part: JsonObject): string | undefined {
  for (const kind of ['image_url', 'video_url', 'audio_url']) {
    const value = part[kind]
    if (typeof value === 'string') return value
    if (isObject(value) && typeof value['url'] === 'string') return value['url']
  }
  const audio = part['input_audio']
  return isObject(audio) && typeof audio['data'] === 'string' ? audio['data'] : undefined
}

function readText(field: string, body: JsonObject, prompt: PromptBytes): void {
  const value = body[field]
  if (typeof value === 'string') {
    prompt.text(value)
  } else if (Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id) && id >= 0)) {
    prompt.tokenIds(value as number[])
  } else if (Array.isArray(value) && value.length === 1 && typeof value[0] === 'string') {
    prompt.text(value[0])
  } else {
    throw badRequest(`\`${field}\` must be a string, an array of one string or an array of token ids`)
  }
}
