import type { Api } from '../../core/body.ts'
import type { RequestShape } from '../../wire/index.ts'

/** What a parser read from a request's body. */
export interface Prepared {
  readonly kind: 'prepared'
  readonly api: Api
  readonly parser: string
  /** As the body names it; '' when it names none. */
  readonly model: string
  /** Whether the body is a JSON object whose `model` may be replaced. */
  readonly rewritable: boolean
  readonly streaming: boolean
  /** The client's own bound on output tokens. */
  readonly maxOutputTokens: number | undefined
  /** Undefined where the body is not looked into. */
  readonly shape: RequestShape | undefined
  /** Where the shape comes later: to be called once the request is taken, with its key. It reports by itself. */
  readonly count?: ((request: number, signal: AbortSignal) => void) | undefined
}

/** Why a body is not taken. */
export interface Refusal {
  readonly kind: 'refused'
  readonly status: number
  readonly code: string
  readonly message: string
  /** The body's field that is wrong; null when it is none in particular. */
  readonly param: string | null
  /** Headers of the answer besides; names in lower case. */
  readonly headers?: readonly (readonly [name: string, value: string])[]
}

/** Request headers by name in lower case; of a repeated one the values joined by ", ". */
export type ReceivedHeaders = ReadonlyMap<string, string>

/** The parsers, as the front door sees them: pure. */
export interface Preparation {
  /** Headers that plugins read besides those that are always let through; see `Plugin.receives`. */
  readonly receives?: readonly string[]
  /** Whether a parser claims this path; without the query and without a slash at its end. */
  claims(path: string): boolean
  /** Never throws for what a client may send. */
  prepare(path: string, headers: ReceivedHeaders, body: Uint8Array): Prepared | Refusal
}

/** The suffixes that the parsers of llm-d claim. (llm-d: parsers) */
const CLAIMED_SUFFIXES: readonly string[] = [
  'chat/completions', 'completions', 'embeddings', 'responses', 'conversations', 'chat/completions/render',
  'completions/render', 'images/generations', 'messages', 'messages/count_tokens', 'inference/v1/generate',
]

/** Whether a path ends in one of the suffixes, at a slash. */
export const endsInClaimed = (path: string, suffixes: readonly string[] = CLAIMED_SUFFIXES): boolean =>
  suffixes.some((suffix) => path.endsWith(suffix) && path.charAt(path.length - suffix.length - 1) === '/')
