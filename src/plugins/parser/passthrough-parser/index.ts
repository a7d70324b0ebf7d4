import type { ParsedRequest, Parser } from '../../../core/body.ts'
import type { PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { RAW_REQUEST } from '../raw-request.ts'

const TYPE = 'passthrough-parser'

/** The fallback: takes whatever no other parser claims and looks into none of it. (llm-d: passthrough-parser) */
export class PassthroughParser implements Parser {
  readonly typedName: TypedName
  readonly suffixes: readonly string[] = []
  readonly protocols: readonly string[] = []

  constructor(name: string) {
    this.typedName = { type: TYPE, name }
  }

  parse(_bytes: Uint8Array, _path: string, _headers: ReadonlyMap<string, string>): ParsedRequest {
    return RAW_REQUEST
  }
}

export const passthroughParser: PluginType = {
  type: TYPE,
  kinds: ['parser'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new PassthroughParser(context.name)
  },
}
