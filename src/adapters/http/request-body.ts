import type { Api } from '../../core/body.ts'
import { editsToSet, scanObject, splice } from './json-splice.ts'
import type { Edit } from './json-splice.ts'

/** APIs whose streams report usage only when asked to. (OpenAI: stream_options.include_usage) */
const ASKS_FOR_USAGE: ReadonlySet<Api> = new Set<Api>(['chat', 'completions'])

/** How a request's bytes are changed on their way to an endpoint; by default not at all. */
export interface BodyChange {
  /** The model that the endpoint is to see; undefined leaves the body's own. */
  readonly model: string | undefined
  /** Ask a stream for its usage even when the client did not. */
  readonly forceUsage: boolean
}

/** The bytes for the endpoint, and whether the client must not see the frame that they make it send. */
export interface UpstreamBody {
  readonly bytes: Buffer
  readonly hidesUsage: boolean
}

/**
 * The body as an endpoint gets it. Only the values named are spliced; every other byte stays, so unknown fields, the
 * order of keys and integers beyond 2^53 survive. A body that is not a JSON object is left alone.
 */
export const upstreamBody = (bytes: Buffer, api: Api, streaming: boolean, change: BodyChange): UpstreamBody => {
  const model = change.model === undefined ? [] : editsToSet(bytes, 'model', JSON.stringify(change.model))
  const usage = change.forceUsage && streaming && ASKS_FOR_USAGE.has(api) ? usageEdits(bytes) : []
  // Both may be insertions at the same place: the later one's comma then follows the former's.
  return { bytes: splice(bytes, closeUp([...model, ...usage], bytes)), hidesUsage: usage.length > 0 }
}

/** No edits when every `stream_options` of the body asks for usage already, or is of a kind the endpoint will refuse. */
const usageEdits = (bytes: Buffer): readonly Edit[] => {
  const scan = scanObject(bytes, 'stream_options')
  if (scan === undefined) return []
  if (scan.members.length === 0) return editsToSet(bytes, 'stream_options', '{"include_usage":true}')
  return scan.members.flatMap(({ valueStart, valueEnd }) => {
    if (bytes[valueStart] !== 123) {
      return bytes.toString('latin1', valueStart, valueEnd) === 'null'
        ? [{ start: valueStart, end: valueEnd, text: '{"include_usage":true}' }]
        : []
    }
    const asked = scanObject(bytes, 'include_usage', valueStart)?.members ?? []
    const isAsked = asked.length > 0 && asked.every((member) => bytes.toString('latin1', member.valueStart, member.valueEnd) === 'true')
    return isAsked ? [] : editsToSet(bytes, 'include_usage', 'true', valueStart)
  })
}

/** Two first members put into an empty object need a comma between them. */
const closeUp = (edits: readonly Edit[], bytes: Buffer): readonly Edit[] => {
  const insertions = edits.filter(({ start, end }) => start === end)
  if (insertions.length < 2 || scanObject(bytes, '')?.isEmpty !== true) return edits
  return [{ start: insertions[0]?.start ?? 0, end: insertions[0]?.end ?? 0, text: insertions.map(({ text }) => text).join(',') }]
}
