import type { Plugin } from './contract.ts'
import { denial, SchedulingError } from './scheduling-error.ts'

/** A JSON value as JSON.parse gives it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json }

/** One piece of a message. What has no part in the prompt is left out by the parser. */
export type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly text: string }
  /** A plain URL or a data URL. */
  | { readonly type: 'image'; readonly url: string }
  /** Base64 without a data URL around it. (Anthropic) */
  | { readonly type: 'image-data'; readonly mediaType: string; readonly data: string }
  | { readonly type: 'video'; readonly url: string }
  /** Both are empty for sound given by URL. */
  | { readonly type: 'audio'; readonly data: string; readonly format: string }
  /** `input` is its JSON exactly as sent. */
  | { readonly type: 'tool-use'; readonly id: string; readonly name: string; readonly input: string }
  | { readonly type: 'tool-result'; readonly content: string | readonly Part[] }

/** One message of a conversation. */
export interface Turn {
  readonly role: string
  readonly content: string | readonly Part[]
}

/** One item of OpenAI's conversations API; empty and null stand for absent. */
export interface ConversationItem {
  readonly type: string
  readonly role: string
  readonly content: Json
}

/** A tool as Anthropic's API has it; the schema is its JSON exactly as sent, undefined where absent. */
export interface MessagesTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: string | undefined
  readonly strict: boolean | undefined
  readonly deferLoading: boolean | undefined
}

/** Hashes and places of media in a prompt that came as token ids, by modality. */
export interface GenerateFeatures {
  readonly hashes: ReadonlyMap<string, readonly string[]>
  readonly placeholders: ReadonlyMap<string, readonly { readonly offset: number; readonly length: number }[]>
}

/**
 * What a request asks, as far as a scheduler may need it. It is a view: the request goes on as the bytes that came,
 * so nothing here need be complete or writable. `cacheSalt` is empty where none was given.
 */
export type InferenceBody =
  | { readonly kind: 'chat'; readonly turns: readonly Turn[]; readonly tools: readonly Json[]; readonly cacheSalt: string }
  | { readonly kind: 'completions'; readonly prompt: PromptInput; readonly cacheSalt: string }
  | { readonly kind: 'embeddings'; readonly input: PromptInput; readonly cacheSalt: string }
  | { readonly kind: 'responses'; readonly input: Json; readonly instructions: Json; readonly tools: Json; readonly cacheSalt: string }
  /** `items` is undefined where absent. */
  | { readonly kind: 'conversations'; readonly items: readonly ConversationItem[] | undefined; readonly cacheSalt: string }
  | {
      readonly kind: 'messages'
      /** Blocks are its text blocks, joined by whoever reads them. */
      readonly system: string | readonly string[]
      readonly turns: readonly Turn[]
      readonly tools: readonly MessagesTool[]
      readonly cacheSalt: string
    }
  | { readonly kind: 'generate'; readonly tokenIds: Uint32Array; readonly features: GenerateFeatures | undefined; readonly cacheSalt: string }
  | { readonly kind: 'images'; readonly prompt: string; readonly cacheSalt: string }
  /** The parser does not look into it. */
  | { readonly kind: 'raw'; readonly cacheSalt: string }

/** Text, several texts, or token ids (of one prompt or of several). */
export type PromptInput =
  | { readonly form: 'text'; readonly text: string }
  | { readonly form: 'texts'; readonly texts: readonly string[] }
  | { readonly form: 'tokens'; readonly prompts: readonly Uint32Array[] }

export type Api = InferenceBody['kind']

/** A request as its parser read it. */
export interface ParsedRequest {
  readonly api: Api
  /** Empty where the body names none. */
  readonly model: string
  readonly streaming: boolean
  /** The client's own bound on output tokens; undefined when it gave none that is a whole number from 0. */
  readonly maxOutputTokens: number | undefined
  /** `stream_options.include_usage` as given. */
  readonly includeUsage: boolean | undefined
  readonly body: InferenceBody
  /** False where the body is not JSON whose member `model` can be replaced. */
  readonly rewritable: boolean
  /** False where the response holds no usage to read: it is passed on unread. */
  readonly readsResponse: boolean
}

/**
 * Reads requests of one family of APIs. `suffixes` are the path suffixes it claims, without a leading slash; none makes
 * it the fallback. `protocols` are the upstream protocols it serves ("http", "h2c"); none is all.
 */
export interface Parser extends Plugin {
  readonly suffixes: readonly string[]
  readonly protocols: readonly string[]
  /** @throws SchedulingError (BadRequest) when the body is not what the path asks for. */
  parse(bytes: Uint8Array, path: string, headers: ReadonlyMap<string, string>): ParsedRequest
}

/** A refusal of what the client sent: 400. */
export const badRequest = (message: string): SchedulingError => new SchedulingError(denial('BadRequest', message))

const DEFAULT_PATH = '/v1/completions'

/** The path by which a request is parsed, without its query. Header names in lower case. (llm-d: parser resolution) */
export const pathOf = (headers: ReadonlyMap<string, string>): string => {
  const path = headers.get(':path') || headers.get('x-original-path') || headers.get('x-forwarded-path') || DEFAULT_PATH
  const query = path.indexOf('?')
  return query < 0 ? path : path.slice(0, query)
}

/**
 * The parser for a path: the one with the longest suffix that matches whole path segments, else the first that claims
 * none. Parsers after that fallback do not count, nor does the second of a type. (llm-d: parser resolution)
 * @throws SchedulingError (BadRequest) when there is none.
 */
export const resolveParser = (parsers: readonly Parser[], path: string): Parser => {
  const types = new Set<string>()
  let best: Parser | undefined
  let bestLength = 0
  for (const parser of parsers) {
    if (types.has(parser.typedName.type)) continue
    types.add(parser.typedName.type)
    if (parser.suffixes.length === 0) return best ?? parser
    for (const suffix of parser.suffixes) {
      if (suffix.length > bestLength && (path === suffix || path.endsWith(`/${suffix}`))) {
        best = parser
        bestLength = suffix.length
      }
    }
  }
  if (best === undefined) throw badRequest(`no parser for path "${path}"`)
  return best
}
