import { membersOf } from '../../core/json-scan.ts'
import { ANNOTATIONS, int32, type Pod } from '../pod.ts'
import { BodyError, edited, kindOf } from './body-edit.ts'
import { ONE_TOKEN } from './prefill-body.ts'
import type { EngineProtocol, LegBodies } from './protocol.ts'

/** Port of SGLang's bootstrap server where no annotation tells another. */
const DEFAULT_BOOTSTRAP_PORT = 8998

/** Members that the router sets or takes out: with two of one name nobody could say which counts. */
const CONTROLLED: readonly string[] = [
  'bootstrap_host', 'bootstrap_port', 'bootstrap_room', 'max_tokens', 'max_completion_tokens', 'stream', 'stream_options', 'min_tokens',
]

/** The bootstrap port of a prefill pod; zero and negative ones are taken as they are. */
export const bootstrapPortOf = (pod: Pod): number => int32(pod.annotations.get(ANNOTATIONS.bootstrapPort)) ?? DEFAULT_BOOTSTRAP_PORT

/** Refuses a body of which the two legs could not be made. @throws BodyError for the client to read */
export const validateSglangBody = (body: Uint8Array): void => {
  let kind
  try {
    kind = kindOf(body)
  } catch {
    throw new BodyError('SGLang request body is not valid JSON')
  }
  if (kind !== 'object') throw new BodyError('SGLang request body is not a JSON object')
  const names = membersOf(new TextDecoder().decode(body)).map(({ name }) => name)
  const doubled = CONTROLLED.find((name) => names.indexOf(name) !== names.lastIndexOf(name))
  if (doubled !== undefined) throw new BodyError(`duplicate top-level key "${doubled}" in SGLang request body`)
}

/** Where a decode finds its prefill. */
export interface Bootstrap {
  readonly host: string
  readonly port: number
  readonly room: bigint
}

/** Both bodies: the client's with the meeting point, and that as a prefill. (AIBrix: sglang) @throws BodyError */
export const sglangBodies = (body: Uint8Array, { host, port, room }: Bootstrap): LegBodies => {
  let kind: string = 'other'
  try {
    kind = kindOf(body)
  } catch {
    // Told below: to the client it is the same.
  }
  if (kind !== 'object') throw new BodyError('SGLang prefill request body is not a JSON object')
  const decode = edited(body, { set: [['bootstrap_host', JSON.stringify(host)], ['bootstrap_port', String(port)], ['bootstrap_room', String(room)]] })
  return { decode, prefill: edited(decode, ONE_TOKEN) }
}

/** SGLang: both legs start at once and meet at the prefill's bootstrap server. (AIBrix: sglang) */
export const sglang: EngineProtocol = {
  engine: 'sglang',
  isAsync: true,
  prepare: (body, prefill, ids) => sglangBodies(body, { host: prefill.address, port: bootstrapPortOf(prefill), room: ids.bootstrapRoom() }),
  merge: (decodeBody) => decodeBody,
}
