import type { Prepared, Preparation, ReceivedHeaders, Refusal } from '../adapters/http/preparation.ts'
import { resolveParser } from '../core/body.ts'
import type { ParsedRequest, Parser } from '../core/body.ts'
import { SchedulingError } from '../core/scheduling-error.ts'
import type { WantedKeys } from '../core/shape.ts'
import { untokenized } from '../core/shape.ts'
import type { Plugin } from '../core/contract.ts'
import { TokenProducer } from '../plugins/producer/token-producer/index.ts'
import { emptyRequestShape } from '../wire/request.ts'
import type { RequestShape } from '../wire/request.ts'

export interface PreparationParts {
  /** In order of registration. */
  readonly parsers: readonly Parser[]
  /** Counts tokens; undefined where no plugin asks for them. */
  readonly tokens: TokenProducer | undefined
  /** Block keys that the engine wants of the next request. */
  wanted(): readonly WantedKeys[]
  readonly secret: Uint8Array | undefined
}

/** The parsers among the plugins, in the order of the configuration. */
export const parsersOf = (plugins: readonly Plugin[], names?: readonly string[]): readonly Parser[] => {
  const parsers = plugins.filter((plugin): plugin is Parser => 'suffixes' in plugin && 'parse' in plugin)
  return names === undefined ? parsers : names.flatMap((name) => parsers.find(({ typedName }) => typedName.name === name) ?? [])
}

export const tokensOf = (plugins: readonly Plugin[]): TokenProducer | undefined => plugins.find((plugin) => plugin instanceof TokenProducer)

/** Reads requests with the configured parsers and reduces them to their shape. */
export const preparation = (parts: PreparationParts): Preparation => ({
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
  return {
    kind: 'prepared',
    api, model, rewritable, streaming, maxOutputTokens,
    parser: parser.typedName.name,
    shape: shapeOf(parts, parsed, headers),
  }
}

const shapeOf = (parts: PreparationParts, parsed: ParsedRequest, headers: ReceivedHeaders): RequestShape => {
  if (parsed.body.kind === 'raw') return emptyRequestShape()
  const shape = parts.tokens?.shape(parsed, headers, targetModel(parsed, headers), parts.wanted(), parts.secret) ?? untokenized('no token producer is configured')
  return shape as RequestShape
}

/** Block keys are of the model that the endpoint sees. */
const targetModel = (parsed: ParsedRequest, headers: ReceivedHeaders): string => {
  const wished = headers.get('x-llm-d-model-name-rewrite') ?? headers.get('x-gateway-model-name-rewrite') ?? ''
  return parsed.rewritable && wished !== '' ? wished : parsed.model
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
