import { SESSION_ID, type DataKey } from '../../../core/attribute.ts'
import type { PluginContext } from '../../../core/contract.ts'
import { decodeParametersOf, list, number, object, ParameterError, text } from '../../../core/parameters.ts'

/** Where a request says which session it belongs to: a header, or a request attribute. */
type SessionSource = { readonly header: string } | { readonly attribute: DataKey<string> }

export type SessionAffinitySettings = {
  /** Whose first endpoint the session is bound to; '' for the primary profile. */
  readonly profileName: string
} & (
  | { readonly strategy: 'encoded_endpoint_header'; readonly header: string }
  | { readonly strategy: 'session_id'; readonly sources: readonly SessionSource[]; readonly evictionTtlSeconds: number; readonly evictionSweepSeconds: number }
)

const FIELDS = {
  strategy: text('encoded_endpoint_header'),
  encodedEndpointHeaderConfig: object({ header: text('x-session-token') }),
  sessionIdConfig: object({
    sources: list(object({ header: text(''), attribute: text(''), producer: text('') })),
    evictionTtlSeconds: number(300),
    evictionSweepSeconds: number(10),
  }),
  profileName: text(''),
}

/** Reads the parameters that the filter and the scorer share. */
export const sessionAffinitySettingsOf = (type: string, context: PluginContext): SessionAffinitySettings => {
  const given = decodeParametersOf(`failed to parse the parameters of '${type}' - `, context.parameters, FIELDS)
  const { strategy, profileName, encodedEndpointHeaderConfig, sessionIdConfig } = given
  if (strategy === 'encoded_endpoint_header') {
    return { strategy, profileName, header: encodedEndpointHeaderConfig.header.trim().toLowerCase() || 'x-session-token' }
  }
  if (strategy !== 'session_id') {
    throw new ParameterError(`strategy must be "encoded_endpoint_header" or "session_id", got "${strategy}"`, ['strategy'])
  }
  const { evictionTtlSeconds, evictionSweepSeconds } = sessionIdConfig
  for (const name of ['evictionTtlSeconds', 'evictionSweepSeconds'] as const) {
    if (sessionIdConfig[name] <= 0) throw new ParameterError(`${name} must be > 0, got ${sessionIdConfig[name]}`, ['sessionIdConfig', name])
  }
  const sources = sessionIdConfig.sources.map(({ header, attribute, producer }, index): SessionSource => {
    if ((header === '') === (attribute === '')) {
      throw new ParameterError(`sources[${index}]: exactly one of header or attribute must be set`, ['sessionIdConfig', 'sources', String(index)])
    }
    if (header !== '') return { header: header.trim().toLowerCase() }
    return { attribute: { dataType: attribute, producer: producer || SESSION_ID.producer } }
  })
  return { strategy, profileName, sources: sources.length > 0 ? sources : [{ header: 'x-session-id' }], evictionTtlSeconds, evictionSweepSeconds }
}
