import type { Api, GenerationRequest, JsonObject } from './generation-request.ts'

/** Token counts of one answer. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
}

/** How one answer is written; each function gives bytes for the wire, stream pieces as whole server-sent events. */
export interface ResponseFormat {
  /** Events before the first token. */
  begin(): string
  /** The event of one token. */
  token(text: string): string
  /** Events after the last token, the end marker included. */
  end(text: string, usage: Usage): string
  /** The whole answer of a request that does not stream. */
  whole(text: string, usage: Usage, extra: JsonObject): string
}

/** The form in which a request is answered. `created` is in seconds since 1970. */
export function responseFormat(request: GenerationRequest, id: string, created: number): ResponseFormat {
  switch (request.api) {
    case 'chat':
      return chatFormat(request, { id: `chatcmpl-${id}`, created, model: request.model })
    case 'completions':
      return completionsFormat(request, { id: `cmpl-${id}`, created, model: request.model })
    case 'responses':
      return responsesFormat({ id: `resp_${id}`, created_at: created, model: request.model })
    case 'embeddings':
      return embeddingsFormat(request)
  }
}

interface Head {
  readonly id: string
  readonly created: number
  readonly model: string
}

const DONE = 'data: [DONE]\n\n'

function chatFormat(request: GenerationRequest, head: Head): ResponseFormat {
  const chunk = { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model }
  const opening = event({ ...chunk, choices: [choice({ role: 'assistant', content: '' }, null)] })
  const [before, after] = around(event({ ...chunk, choices: [choice({ content: SLOT }, null)] }))
  return {
    begin: () => opening,
    token: (text) => before + text + after,
    end: (_text, usage) => event({ ...chunk, choices: [choice({}, 'length')] }) + tail(request, chunk, usage),
    whole: (text, usage, extra) =>
      JSON.stringify({
        ...head,
        object: 'chat.completion',
        choices: [{ index: 0, message: { role: 'assistant', content: text }, logprobs: null, finish_reason: 'length' }],
        usage: openAiUsage(usage),
        ...extra,
      }),
  }
}

function choice(delta: JsonObject, finishReason: string | null): JsonObject {
  return { index: 0, delta, logprobs: null, finish_reason: finishReason }
}

function completionsFormat(request: GenerationRequest, head: Head): ResponseFormat {
  const chunk = { id: head.id, object: 'text_completion', created: head.created, model: head.model }
  const piece = (text: string, finishReason: string | null): JsonObject => ({ index: 0, text, logprobs: null, finish_reason: finishReason })
  const [before, after] = around(event({ ...chunk, choices: [piece(SLOT, null)] }))
  return {
    begin: () => '',
    token: (text) => before + text + after,
    end: (_text, usage) => event({ ...chunk, choices: [piece('', 'length')] }) + tail(request, chunk, usage),
    whole: (text, usage, extra) => JSON.stringify({ ...chunk, choices: [piece(text, 'length')], usage: openAiUsage(usage), ...extra }),
  }
}

function tail(request: GenerationRequest, chunk: JsonObject, usage: Usage): string {
  return (request.includeUsage ? event({ ...chunk, choices: [], usage: openAiUsage(usage) }) : '') + DONE
}

function openAiUsage(usage: Usage): JsonObject {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: { cached_tokens: usage.cachedTokens },
  }
}

function responsesFormat(head: JsonObject): ResponseFormat {
  const itemId = `msg_${String(head['id']).slice('resp_'.length)}`
  const response = (status: string, output: readonly JsonObject[], usage: JsonObject | null): JsonObject => ({
    ...head, object: 'response', status, output, usage,
  })
  const message = (status: string, text: string): JsonObject => ({
    id: itemId, type: 'message', role: 'assistant', status, content: [{ type: 'output_text', text, annotations: [] }],
  })
  const place = { item_id: itemId, output_index: 0, content_index: 0 }
  const [before, after] = around(namedEvent({ type: 'response.output_text.delta', ...place, delta: SLOT }))
  const usageOf = (usage: Usage): JsonObject => ({
    input_tokens: usage.promptTokens,
    input_tokens_details: { cached_tokens: usage.cachedTokens },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: usage.promptTokens + usage.completionTokens,
  })
  return {
    begin: () =>
      namedEvent({ type: 'response.created', response: response('in_progress', [], null) }) +
      namedEvent({ type: 'response.output_item.added', output_index: 0, item: { ...message('in_progress', ''), content: [] } }) +
      namedEvent({ type: 'response.content_part.added', ...place, part: { type: 'output_text', text: '', annotations: [] } }),
    token: (text) => before + text + after,
    end: (text, usage) =>
      namedEvent({ type: 'response.output_text.done', ...place, text }) +
      namedEvent({ type: 'response.content_part.done', ...place, part: { type: 'output_text', text, annotations: [] } }) +
      namedEvent({ type: 'response.output_item.done', output_index: 0, item: message('completed', text) }) +
      namedEvent({ type: 'response.completed', response: response('completed', [message('completed', text)], usageOf(usage)) }),
    whole: (text, usage, extra) => JSON.stringify({ ...response('completed', [message('completed', text)], usageOf(usage)), ...extra }),
  }
}

function embeddingsFormat(request: GenerationRequest): ResponseFormat {
  const none = (): string => ''
  return {
    begin: none,
    token: none,
    end: none,
    whole: (_text, usage, extra) =>
      JSON.stringify({
        object: 'list',
        model: request.model,
        data: [{ object: 'embedding', index: 0, embedding: embedding(request.prompt.bytes) }],
        usage: { prompt_tokens: usage.promptTokens, total_tokens: usage.promptTokens },
        ...extra,
      }),
  }
}

const EMBEDDING_SIZE = 8

/** A unit vector that depends on every byte of the prompt. */
function embedding(bytes: Uint8Array): number[] {
  const sums = new Array<number>(EMBEDDING_SIZE).fill(0)
  for (let i = 0; i < bytes.length; i++) {
    const slot = i % EMBEDDING_SIZE
    sums[slot] = ((sums[slot] as number) * 31 + (bytes[i] as number)) % 65_521
  }
  const length = Math.sqrt(sums.reduce((sum, value) => sum + value * value, 0)) || 1
  return sums.map((value) => value / length)
}

/** Stands in a prebuilt event for the text of a token. */
const SLOT = '@'

function around(text: string): [string, string] {
  const at = text.indexOf(`"${SLOT}"`) + 1
  return [text.slice(0, at), text.slice(at + SLOT.length)]
}

function event(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function namedEvent(data: JsonObject): string {
  return `event: ${String(data['type'])}\ndata: ${JSON.stringify(data)}\n\n`
}

/** The APIs by request path. */
export const API_PATHS: ReadonlyMap<string, Api> = new Map<string, Api>([
  ['/v1/chat/completions', 'chat'],
  ['/v1/completions', 'completions'],
  ['/v1/responses', 'responses'],
  ['/v1/embeddings', 'embeddings'],
])
