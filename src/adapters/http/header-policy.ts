import type { Header } from '../../wire/index.ts'
import type { Destination, Routed } from './scheduler-port.ts'

/** Names and values in turn, as node:http and undici take them. */
export type FlatHeaders = string[]

/** Headers of one connection, never of the message. (RFC 9110, 7.6.1) */
const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection', 'proxy-connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer', 'trailers',
  'transfer-encoding', 'upgrade', 'http2-settings',
])

/** Headers that only the router sets: a client's or an endpoint's own are removed. (llm-d: headers) */
export const SYSTEM_OWNED: ReadonlySet<string> = new Set([
  'x-llm-d-inference-fairness-id', 'x-gateway-inference-fairness-id',
  'x-llm-d-inference-objective', 'x-gateway-inference-objective',
  'x-llm-d-model-name-rewrite', 'x-gateway-model-name-rewrite',
  'x-llm-d-slo-ttft-ms', 'x-slo-ttft-ms', 'x-llm-d-slo-tpot-ms', 'x-slo-tpot-ms',
  'x-llm-d-video-fps', 'x-llm-d-video-duration-seconds', 'x-llm-d-video-resolution',
  'x-gateway-destination-endpoint', 'x-gateway-destination-endpoint-served', 'x-gateway-destination-endpoint-subset',
  'x-gateway-destination-endpoint-scores', 'x-llm-d-request-dropped-reason', 'content-length',
  'x-prefiller-host-port', 'x-encoder-hosts-ports', 'x-data-parallel-host-port', 'x-kv-cache-source-host-port',
  'x-signalbox-decode-endpoint', 'x-signalbox-prefill-endpoint', 'x-signalbox-encode-endpoints',
])

/** Request headers that the scheduler may see and the journal may keep. Never authorization or cookies. */
export const JOURNALED: ReadonlySet<string> = new Set([
  'x-llm-d-inference-fairness-id', 'x-gateway-inference-fairness-id',
  'x-llm-d-inference-objective', 'x-gateway-inference-objective',
  'x-llm-d-model-name-rewrite', 'x-gateway-model-name-rewrite',
  'x-llm-d-slo-ttft-ms', 'x-slo-ttft-ms', 'x-llm-d-slo-tpot-ms', 'x-slo-tpot-ms',
  'x-llm-d-video-fps', 'x-llm-d-video-duration-seconds', 'x-llm-d-video-resolution',
  'x-session-token', 'x-session-id', 'session-id', 'test-epp-endpoint-selection', 'epp-profile', 'prefer',
])

const DESTINATION = 'x-gateway-destination-endpoint'
export const DROPPED_REASON = 'x-llm-d-request-dropped-reason'
export const REQUEST_ID = 'x-request-id'

/** Headers with one value by definition: of several the first counts. */
const SINGLE_VALUED: ReadonlySet<string> = new Set([
  'authorization', 'content-type', 'content-encoding', 'date', 'server', 'user-agent', 'age', 'etag', 'expires', 'last-modified',
  'location', 'retry-after', 'referer', 'from', 'max-forwards', 'x-session-token', 'x-session-id', 'traceparent',
])

const NO_NAMES: ReadonlySet<string> = new Set()
const NOTHING: ReadonlyMap<string, string> = new Map()

/** For the connection to the client; the connection to the endpoint has its own. */
const OWN_TO_REQUEST: ReadonlySet<string> = new Set(['host', 'expect', REQUEST_ID])

/** The headers of a request by name in lower case, without those that only the client may know of. */
export interface ClientHeaders {
  /** What may go on to an endpoint. */
  readonly forwarded: FlatHeaders
  /** What the journal may keep, by name; a repeated header counts once, with its last value. (llm-d: repeated keys) */
  readonly journaled: Header[]
  /** Every header, for the parsers. */
  readonly all: ReadonlyMap<string, string>
}

/** Longest x-request-id taken from a client, in characters: it goes into every record and log line. */
const REQUEST_ID_LENGTH_MAX = 256

/** What is known of a header by its name. */
interface NameFacts {
  readonly lower: string
  readonly isForwarded: boolean
  readonly isJournaled: boolean
  readonly isSingle: boolean
}

/** Names whose facts are kept as they are written: clients use few, and a hostile one must not fill the memory. */
const FACTS_MAX = 1024
const FACTS_NAME_LENGTH_MAX = 64
const factsByName = new Map<string, NameFacts>()

const factsOf = (name: string): NameFacts => {
  const known = factsByName.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const facts = {
    lower,
    isForwarded: !HOP_BY_HOP.has(lower) && !SYSTEM_OWNED.has(lower) && !OWN_TO_REQUEST.has(lower),
    isJournaled: JOURNALED.has(lower),
    isSingle: SINGLE_VALUED.has(lower),
  }
  if (factsByName.size < FACTS_MAX && name.length <= FACTS_NAME_LENGTH_MAX) factsByName.set(name, facts)
  return facts
}

/** Splits a request's headers, given as node:http's rawHeaders. */
export const readClientHeaders = (raw: readonly string[]): ClientHeaders => {
  const named = namedByConnection(raw)
  const forwarded: FlatHeaders = []
  const all = new Map<string, string>()
  let journaled: Map<string, string> | undefined
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const given = raw[i] ?? ''
    const value = raw[i + 1] ?? ''
    const facts = factsOf(given)
    const before = all.get(facts.lower)
    if (before !== undefined && facts.isSingle) continue
    all.set(facts.lower, before === undefined ? value : `${before}, ${value}`)
    if (facts.isJournaled) journaled = (journaled ?? new Map<string, string>()).set(facts.lower, value)
    if (facts.isForwarded && named?.has(facts.lower) !== true) forwarded.push(given, value)
  }
  return { forwarded, journaled: Array.from(journaled ?? NOTHING, ([name, value]) => ({ name, value })), all }
}

/** The client's own x-request-id, the first of several; undefined where one has to be made. */
export const requestIdOf = (raw: readonly string[]): string | undefined => {
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (name.length !== REQUEST_ID.length || name.toLowerCase() !== REQUEST_ID) continue
    const value = raw[i + 1] ?? ''
    return value === '' || value.length > REQUEST_ID_LENGTH_MAX ? undefined : value
  }
  return undefined
}

/**
 * The headers of one attempt: the client's, then the router's over them. Made anew for each attempt, so nothing of a
 * failed one reaches the next. `without` names more of the client's that are to stay behind.
 */
export const attemptHeaders = (
  forwarded: readonly string[], route: Routed, requestId: string, without: ReadonlySet<string> = NO_NAMES,
): FlatHeaders => {
  const set = new Map<string, string>()
  for (const [name, value] of route.headers) set.set(name.toLowerCase(), value)
  if (!set.has(DESTINATION)) set.set(DESTINATION, destinationText(route.endpoint, route.fallbacks))
  set.set(REQUEST_ID, requestId)
  const headers: FlatHeaders = []
  for (let i = 0; i + 1 < forwarded.length; i += 2) {
    const given = forwarded[i] ?? ''
    const name = factsOf(given).lower
    if (!set.has(name) && !without.has(name)) headers.push(given, forwarded[i + 1] ?? '')
  }
  for (const [name, value] of set) {
    if (value !== '' && !HOP_BY_HOP.has(name) && name !== 'content-length' && name !== 'host' && name !== 'expect') headers.push(name, value)
  }
  return headers
}

/** "host:port" of the target and then of its fallbacks, best first. */
const destinationText = (endpoint: Destination, fallbacks: readonly Destination[]): string => {
  let text = endpoint.hostPort
  for (const { hostPort } of fallbacks) text += `,${hostPort}`
  return text
}

/** An endpoint's response headers by name in lower case, as undici gives them. */
export type EndpointHeaders = Readonly<Record<string, string | string[] | undefined>>

/**
 * The headers for the client: the endpoint's, without those of its connection and those that the router owns.
 * Where the bytes of the body are not the endpoint's own any more, its content-length and content-encoding go too.
 */
export const clientResponseHeaders = (received: EndpointHeaders, own: readonly string[], bodyChanged: boolean): FlatHeaders => {
  const named = connectionTokens(received['connection'])
  const headers: FlatHeaders = [...own]
  for (const name in received) {
    const value = received[name]
    if (value === undefined || HOP_BY_HOP.has(name) || named?.has(name) === true || name === REQUEST_ID) continue
    if (name === 'content-length' ? bodyChanged : SYSTEM_OWNED.has(name)) continue
    if (bodyChanged && name === 'content-encoding') continue
    if (typeof value === 'string') headers.push(name, value)
    else pushAll(headers, name, value)
  }
  return headers
}

const pushAll = (headers: FlatHeaders, name: string, values: readonly string[]): void => {
  const count = SINGLE_VALUED.has(name) || name === 'content-length' ? 1 : values.length
  for (let i = 0; i < count; i++) headers.push(name, values[i] ?? '')
}

/** The router's own headers on a response: which endpoints serve it. */
export const routeHeaders = (route: Routed, requestId: string): FlatHeaders => {
  const headers = [REQUEST_ID, requestId, 'x-signalbox-decode-endpoint', route.stages.decode]
  if (route.stages.prefill !== undefined) headers.push('x-signalbox-prefill-endpoint', route.stages.prefill)
  if (route.stages.encode !== undefined && route.stages.encode.length > 0) {
    headers.push('x-signalbox-encode-endpoints', route.stages.encode.join(','))
  }
  for (const [name, value] of route.responseHeaders ?? []) headers.push(name, value)
  return headers
}

const namedByConnection = (raw: readonly string[]): ReadonlySet<string> | undefined => {
  let named: Set<string> | undefined
  for (let i = 0; i + 1 < raw.length; i += 2) {
    const name = raw[i] ?? ''
    if (name.length !== 10 || name.toLowerCase() !== 'connection') continue
    const value = raw[i + 1] ?? ''
    if (value === 'keep-alive' || value === 'close') continue
    named = addTokens(named ?? new Set(), value)
  }
  return named
}

const connectionTokens = (value: string | readonly string[] | undefined): ReadonlySet<string> | undefined => {
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined
  return addTokens(new Set(), typeof value === 'string' ? value : value.join(','))
}

const addTokens = (tokens: Set<string>, list: string): Set<string> => {
  for (const token of list.split(',')) tokens.add(token.trim().toLowerCase())
  return tokens
}
