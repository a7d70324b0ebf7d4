import type { Header } from '../../wire/request.ts'
import type { ClientHeaders } from './header-policy.ts'
import type { Prepared } from './preparation.ts'
import type { RequestInput } from './scheduler-port.ts'

const first = (headers: ReadonlyMap<string, string>, ...names: readonly string[]): string => {
  for (const name of names) {
    const value = headers.get(name)
    if (value !== undefined && value !== '') return value
  }
  return ''
}

/**
 * What the engine takes of a request: allow-listed headers, the body's shape and length, never the body. The target
 * model is the client's own wish (x-llm-d-model-name-rewrite), where the body's model can be replaced; the priority is
 * the engine's to find by the objective.
 */
export const requestInput = (requestId: string, headers: ClientHeaders, prepared: Prepared, bodyBytes: number, receives?: readonly string[]): RequestInput => {
  const wished = first(headers.all, 'x-llm-d-model-name-rewrite', 'x-gateway-model-name-rewrite')
  return {
    requestId,
    frontDoor: 'http',
    proxied: true,
    api: prepared.api,
    model: prepared.model,
    targetModel: prepared.rewritable && wished !== '' ? wished : prepared.model,
    priority: 0,
    objective: first(headers.all, 'x-llm-d-inference-objective', 'x-gateway-inference-objective'),
    fairnessId: first(headers.all, 'x-llm-d-inference-fairness-id', 'x-gateway-inference-fairness-id'),
    headers: journaledHeaders(headers, receives),
    bodyBytes,
    streaming: prepared.streaming,
    maxOutputTokens: prepared.maxOutputTokens,
    shape: prepared.shape,
    subset: undefined,
    parser: prepared.parser,
  }
}

const COOKIE = 'cookie:'

/** The headers that are always let through, and those that plugins ask for; "cookie:name" is the one cookie of that name. */
export const journaledHeaders = (headers: ClientHeaders, receives: readonly string[] = []): Header[] => {
  const more = receives.flatMap((name) => {
    if (headers.journaled.some((header) => header.name === name)) return []
    const value = name.startsWith(COOKIE) ? cookie(headers.all.get('cookie') ?? '', name.slice(COOKIE.length)) : headers.all.get(name)
    return value === undefined ? [] : [{ name, value }]
  })
  return more.length === 0 ? headers.journaled : [...headers.journaled, ...more]
}

/** One cookie's value from the header; the first of several. (RFC 6265) */
const cookie = (header: string, name: string): string | undefined => {
  for (const pair of header.split(';')) {
    const at = pair.indexOf('=')
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim().replace(/^"(.*)"$/, '$1')
  }
  return undefined
}
