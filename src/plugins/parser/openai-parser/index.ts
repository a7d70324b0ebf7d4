import { badRequest, type ParsedRequest, type Parser } from '../../../core/body.ts'
import type { PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { apiOf, boundOf, type JsonObject, modelOf, readJsonBody, streamOf } from '../json-request.ts'
import { openaiBody, type OpenaiApi, requireContent } from './body.ts'

const TYPE = 'openai-parser'

const APIS: ReadonlyMap<string, OpenaiApi> = new Map([
  ['chat/completions', 'chat'],
  ['completions', 'completions'],
  ['embeddings', 'embeddings'],
  ['responses', 'responses'],
  ['conversations', 'conversations'],
  ['chat/completions/render', 'chat'],
  ['completions/render', 'completions'],
  ['images/generations', 'images'],
])

/** Reads OpenAI's APIs. (llm-d: openai-parser) */
export class OpenaiParser implements Parser {
  readonly typedName: TypedName
  readonly suffixes: readonly string[] = [...APIS.keys()]
  readonly protocols: readonly string[] = ['h2c', 'http']

  constructor(name: string) {
    this.typedName = { type: TYPE, name }
  }

  parse(bytes: Uint8Array, path: string, _headers: ReadonlyMap<string, string>): ParsedRequest {
    const api = apiOf(path, APIS) as OpenaiApi | undefined
    if (api === undefined) throw badRequest(`${TYPE} does not serve "${path}"`)
    const { object } = readJsonBody(bytes)
    requireContent(api, object)
    const body = openaiBody(api, object)
    return {
      api, model: modelOf(object), ...streamOf(object), maxOutputTokens: outputBound(api, object), body, rewritable: true, readsResponse: true,
    }
  }
}

const outputBound = (api: OpenaiApi, object: JsonObject): number | undefined => {
  if (api === 'chat') return boundOf(object, 'max_completion_tokens', 'max_tokens')
  if (api === 'completions') return boundOf(object, 'max_tokens')
  return api === 'responses' ? boundOf(object, 'max_output_tokens') : undefined
}

export const openaiParser: PluginType = {
  type: TYPE,
  kinds: ['parser'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new OpenaiParser(context.name)
  },
}
