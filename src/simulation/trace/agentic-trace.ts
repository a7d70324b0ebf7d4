import { blockIdsMember, countMember, jsonLine, malformed, numberMember } from './trace-lines.ts'
import type { TraceLine } from './trace-lines.ts'
import type { TraceRequest } from './trace-request.ts'

type Row = Readonly<Record<string, unknown>>

/** Smaller blocks have no room for the text that tells them apart. */
const BLOCK_TOKENS_MIN = 16

interface Session {
  readonly line: TraceLine
  readonly scope: string
  readonly blockTokens: number
}

/**
 * Agentic coding sessions: one session a line, each with its requests at `t` seconds from the session's start and
 * sub-agents with requests of their own, at times from the sub-agent's start. Only full blocks have ids; ids mean the
 * same within one session. All sessions start together; as arrivals interleave, the whole file is read before the
 * first request comes out.
 */
export async function* readAgentic(lines: AsyncIterable<TraceLine>): AsyncGenerator<TraceRequest> {
  const found: Omit<TraceRequest, 'index'>[] = []
  const ids = new Set<string>()
  for await (const line of lines) {
    const row = jsonLine(line)
    const id = row['id']
    if (typeof id !== 'string' || id === '') throw malformed(line, '`id` is missing', 'each session needs a name')
    if (ids.has(id)) throw malformed(line, `session \`${id}\` stands twice`, 'give each session a name of its own')
    ids.add(id)
    const scope = row['hash_id_scope'] === 'global' ? '' : id
    collect({ line, scope, blockTokens: countMember(line, row, 'block_size', BLOCK_TOKENS_MIN) }, row, 0, '', found)
  }
  const byArrival = found.map((request, order) => ({ request, order }))
  byArrival.sort((a, b) => a.request.atMs - b.request.atMs || a.order - b.order)
  for (const [index, { request }] of byArrival.entries()) yield { index, ...request }
}

function collect(session: Session, owner: Row, startMs: number, place: string, found: Omit<TraceRequest, 'index'>[]): void {
  const { line, scope, blockTokens } = session
  const requests = owner['requests']
  if (!Array.isArray(requests)) throw malformed(line, `\`${place}requests\` is not a list`, 'give the requests of the session in order')
  for (const [i, request] of (requests as unknown[]).entries()) {
    const here = `${place}requests[${i}].`
    if (typeof request !== 'object' || request === null) throw malformed(line, `\`${here.slice(0, -1)}\` is not an object`, 'remove it')
    const row = request as Row
    const atMs = startMs + numberMember(line, row, 't', 0, here) * 1000
    if (row['type'] === 'subagent') {
      collect(session, row, atMs, here, found)
      continue
    }
    const inputTokens = countMember(line, row, 'in', 1, here)
    found.push({
      atMs,
      inputTokens,
      outputTokens: countMember(line, row, 'out', 0, here),
      blockTokens,
      blockIds: blockIdsMember(line, row, Math.floor(inputTokens / blockTokens), here),
      scope,
    })
  }
}
