import { routingKeys, routingTextOf, ROUTING_TOKENS } from '../aibrix/index.ts'
import { ROUTING_FAILED } from '../adapters/http/prefill/refusal.ts'
import type { Prepared, Preparation, ReceivedHeaders, Refusal } from '../adapters/http/preparation.ts'
import { resolveParser } from '../core/body.ts'
import type { ParsedRequest, Parser } from '../core/body.ts'
import { SchedulingError } from '../core/scheduling-error.ts'
import type { WantedKeys } from '../core/shape.ts'
import { AWAITED_TOKENS, untokenized } from '../core/shape.ts'
import type { Plugin } from '../core/contract.ts'
import { TokenProducer } from '../plugins/producer/token-producer/index.ts'
import type { TokenCounting } from './token-counting.ts'
import { cl100k } from './cl100k.ts'
import { emptyPromptShape, emptyRequestShape } from '../wire/request.ts'
import type { BlockKeys, RequestShape } from '../wire/request.ts'

export interface PreparationParts {
  /** In order of registration. */
  readonly parsers: readonly Parser[]
  /** Counts tokens; undefined where no plugin asks for them. */
  readonly tokens: TokenProducer | undefined
  /** Block keys that the engine wants of the next request. */
  wanted(): readonly WantedKeys[]
  readonly secret: Uint8Array | undefined
  /** Headers that plugins read. */
  readonly receives?: readonly string[]
  /** Where tokens are counted elsewhere. */
  readonly counting?: TokenCounting | undefined
  /** Why a body cannot be taken although its parser read it; undefined where it can. */
  refuses?(body: Uint8Array): string | undefined
}

/** The parsers among the plugins, in the order of the configuration. */
export const parsersOf = (plugins: readonly Plugin[], names?: readonly string[]): readonly Parser[] => {
  const parsers = plugins.filter((plugin): plugin is Parser => 'suffixes' in plugin && 'parse' in plugin)
  return names === undefined ? parsers : names.flatMap((name) => parsers.find(({ typedName }) => typedName.name === name) ?? [])
}

export const tokensOf = (plugins: readonly Plugin[]): TokenProducer | undefined => plugins.find((plugin) => plugin instanceof TokenProducer)

/** The headers that plugins read, each once. */
export const receivesOf = (plugins: readonly Plugin[]): readonly string[] => [...new Set(plugins.flatMap((plugin) => plugin.receives?.() ?? []))]

/** Reads requests with the configured parsers and reduces them to their shape. */
export const preparation = (parts: PreparationParts): Preparation => ({
  receives: parts.receives ?? [],
  claims: (path) => parts.parsers.some((parser) => parser.suffixes.length === 0 || parser.suffixes.some((suffix) => endsIn(path, suffix))),
  prepare: (path, headers, body) => prepare(parts, path, headers, body),
})

const endsIn = (path: string, suffix: string): boolean => path === `/${suffix}` || path.endsWith(`/${suffix}`)

const prepare = (parts: PreparationParts, path: string, headers: ReceivedHeaders, body: Uint8Array): Prepared | Refusal => {
  let parser: Parser
  let parsed: ParsedRequest
  try {
    parser = resolveParser(parts.parsers, path)
    parsed = parser.parse(body, path, headers)
  } catch (error) {
    if (!(error instanceof SchedulingError)) return { kind: 'refused', status: 400, code: 'BadRequest', message: messageOf(error), param: null }
    return { kind: 'refused', status: error.denial.status, code: error.denial.code, message: error.denial.message, param: null }
  }
  const { api, model, rewritable, streaming, maxOutputTokens } = parsed
  const refusal = parsed.body.kind === 'raw' ? undefined : parts.refuses?.(body)
  if (refusal !== undefined) return { kind: 'refused', status: 400, code: 'BadRequest', message: refusal, param: null, headers: ROUTING_FAILED }
  return {
    kind: 'prepared',
    api, model, rewritable, streaming, maxOutputTokens,
    parser: parser.typedName.name,
    ...shapeAndCount(parts, parsed, headers, body),
  }
}

/** The shape, and how to count the tokens where it waits for them; where nobody counts, nobody waits. */
const shapeAndCount = (parts: PreparationParts, parsed: ParsedRequest, headers: ReceivedHeaders, body: Uint8Array): Pick<Prepared, 'shape' | 'count'> => {
  if (parsed.body.kind === 'raw') return { shape: emptyRequestShape() }
  const wanted = parts.wanted()
  const model = targetModel(parsed, headers)
  const blocks = routingBlocks(parts, wanted, parsed, body)
  const shape = withBlocks((parts.tokens?.shape(parsed, headers, model, wanted, parts.secret) ?? untokenized('no token producer is configured')) as RequestShape, blocks)
  if (shape.problem !== AWAITED_TOKENS) return { shape }
  // What is known of the text is known before its tokens, and also where they never come.
  const count = parts.counting?.counting(parsed, model, body, (counted) => withBlocks(counted, blocks))
  return count === undefined ? { shape: { ...shape, problem: 'nobody counts the tokens here' } } : { shape, count }
}

/** Hashes and lengths of the routing text, where a router wants them. */
const routingBlocks = (parts: PreparationParts, wanted: readonly WantedKeys[], parsed: ParsedRequest, body: Uint8Array): readonly BlockKeys[] => {
  if (!wanted.some(({ kind }) => kind.startsWith('aibrix/') || kind === ROUTING_TOKENS)) return NO_BLOCKS
  const text = routingTextOf(parsed.body.kind, new TextDecoder().decode(body))
  return routingKeys(text, wanted, cl100k, parts.secret) as readonly BlockKeys[]
}

const NO_BLOCKS: readonly BlockKeys[] = []

/** They belong to the first prompt: AIBrix's router knows of one. A prompt whose tokens nobody knows has these alone. */
const withBlocks = (shape: RequestShape, blocks: readonly BlockKeys[]): RequestShape => {
  if (blocks.length === 0) return shape
  const [first = emptyPromptShape(), ...others] = shape.prompts
  return { ...shape, prompts: [{ ...first, blocks: [...first.blocks, ...blocks] }, ...others] }
}

/** Block keys are of the model that the endpoint sees. */
const targetModel = (parsed: ParsedRequest, headers: ReceivedHeaders): string => {
  const wished = headers.get('x-llm-d-model-name-rewrite') ?? headers.get('x-gateway-model-name-rewrite') ?? ''
  return parsed.rewritable && wished !== '' ? wished : parsed.model
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
