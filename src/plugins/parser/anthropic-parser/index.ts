import { badRequest, type ParsedRequest, type Parser } from '../../../core/body.ts'
import type { PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { boundOf, given, isList, modelOf, readJsonBody, streamOf } from '../json-request.ts'
import { RAW_REQUEST } from '../raw-request.ts'
import { messagesBody } from './body.ts'

const TYPE = 'anthropic-parser'
const COUNT_TOKENS = 'messages/count_tokens'

/** Reads Anthropic's messages API; counting of tokens is passed on unread. (llm-d: anthropic-parser) */
export class AnthropicParser implements Parser {
  readonly typedName: TypedName
  readonly suffixes: readonly string[] = ['messages', COUNT_TOKENS]
  readonly protocols: readonly string[] = ['h2c', 'http']

  constructor(name: string) {
    this.typedName = { type: TYPE, name }
  }

  parse(bytes: Uint8Array, path: string, _headers: ReadonlyMap<string, string>): ParsedRequest {
    if (path.endsWith(COUNT_TOKENS)) return { ...RAW_REQUEST, readsResponse: false }
    const json = readJsonBody(bytes)
    const messages = given(json.object, 'messages')
    if (!isList(messages) || messages.length === 0) throw badRequest('messages is required and must not be empty')
    const model = modelOf(json.object)
    const maxOutputTokens = boundOf(json.object, 'max_tokens')
    return { api: 'messages', model, ...streamOf(json.object), maxOutputTokens, body: messagesBody(json), rewritable: true, readsResponse: true }
  }
}

export const anthropicParser: PluginType = {
  type: TYPE,
  kinds: ['parser'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new AnthropicParser(context.name)
  },
}
