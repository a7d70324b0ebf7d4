import { fromProducer, keyText, SESSION_ID, type DataKey } from '../../../core/attribute.ts'
import type { PluginContext, PluginType, Producer, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, ParameterError, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'session-id-producer'

/** Takes the session's id from a header or from a cookie and makes it a request attribute. (llm-d: session-id-producer) */
export class SessionIdProducer implements Producer {
  readonly typedName: TypedName
  /** The header, or "cookie:name". */
  readonly source: string
  private readonly key: DataKey<string>

  constructor(name: string, source: string) {
    this.typedName = { type: TYPE, name }
    this.source = source
    this.key = fromProducer(SESSION_ID, name)
  }

  produces(): readonly DataKey<unknown>[] {
    return [this.key]
  }

  receives(): readonly string[] {
    return [this.source]
  }

  produce(request: Request): void {
    const session = (request.received.get(this.source) ?? '').trim()
    if (session !== '') request.attributes.set(keyText(this.key), session)
  }
}

const sourceOf = (context: PluginContext): string => {
  const fields = { headerName: text(''), cookieName: text('') }
  const given = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' producer: `, context.parameters, fields)
  const header = given.headerName.trim().toLowerCase()
  const cookie = given.cookieName.trim()
  const rule = `'${TYPE}' requires exactly one of headerName or cookieName to be set`
  if (header === '' && cookie === '') throw new ParameterError(rule)
  if (header !== '' && cookie !== '') throw new ParameterError(`${rule}, not both`, ['cookieName'])
  return header !== '' ? header : `cookie:${cookie}`
}

export const sessionIdProducer: PluginType = {
  type: TYPE,
  kinds: ['producer'],
  stability: 'beta',
  create: (context) => new SessionIdProducer(context.name, sourceOf(context)),
}
