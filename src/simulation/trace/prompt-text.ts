import { Buffer } from 'node:buffer'
import { createHash } from 'node:crypto'
import type { TraceRequest } from './trace-request.ts'

const BYTES_PER_TOKEN = 4
const FILLER_BYTES = 1 << 20
/** Each block's filler starts at a place chosen by its name, in the first half, so that it rarely wraps. */
const FILLER_START_MAX = 1 << 19
/** Bytes of a piece before its name, so that the name survives when the role takes the piece's first token. */
const LEAD_BYTES = 4
/** The longest name that fits beside the lead and the end mark in a block of 16 tokens. */
const NAME_BYTES_MAX = 48

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz      ABCDEFGHIJKLMNOPQRSTUVWXYZ.,0123'

let filler: Buffer | undefined

/**
 * Writes the prompt of a trace request, four ASCII bytes to a token, none of which JSON would escape.
 *
 * Each block is `blockTokens` x 4 bytes that depend on its id (and scope) alone: four bytes, the block's name, a
 * blank, filler. So prompts share exactly the prefix that their ids share, and blocks with different ids already
 * differ in their first 64 bytes. Tokens without an id get a name that only this request has.
 *
 * `roleTokens` is the shift: a chat prompt starts with its role, and `user` is four bytes, one token. That token
 * stands for the first token of the first block, whose text is left out, so that blocks still begin and end where
 * the trace says and the whole prompt has `inputTokens` tokens (2 if it is 1: content is never empty). `salt` keeps
 * the prompts of one play apart from those of another.
 */
export function promptText(request: TraceRequest, roleTokens: 0 | 1 = 1, salt = ''): Buffer {
  const { blockTokens, blockIds, inputTokens } = request
  const skipped = roleTokens * BYTES_PER_TOKEN
  const size = inputTokens * BYTES_PER_TOKEN - skipped
  if (size === 0) return Buffer.from(' ')
  const text = Buffer.allocUnsafe(size)
  const blocks = Math.ceil(inputTokens / blockTokens)
  for (let block = 0; block < blocks; block++) {
    const start = block * blockTokens * BYTES_PER_TOKEN - skipped
    const end = Math.min(start + blockTokens * BYTES_PER_TOKEN, text.length)
    const id = blockIds[block]
    const own = `~${request.index.toString(36)}.${block.toString(36)}`
    writePiece(text, start, end, salt + request.scope + (id === undefined ? own : `:${id.toString(36)}`))
  }
  return text
}

/** Fills `start` to `end` (`start` may lie before the text: what lies there is left out). */
function writePiece(text: Buffer, start: number, end: number, name: string): void {
  filler ??= makeFiller()
  const visible = Math.max(start, 0)
  text.fill(filler.subarray(startOf(name) + visible - start), visible, end)
  const nameAt = start + LEAD_BYTES
  if (nameAt >= 0 && nameAt < end) text.write(`${shortName(name)} `, nameAt, end - nameAt, 'latin1')
}

/** Names are printable ASCII without quotes or backslashes; others, and long ones, go by their digest. */
function shortName(name: string): string {
  if (name.length <= NAME_BYTES_MAX && /^[\w.:~-]*$/.test(name)) return name
  return `#${createHash('sha256').update(name).digest('base64url').slice(0, NAME_BYTES_MAX - 1)}`
}

function startOf(name: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193)
  return (hash >>> 0) % FILLER_START_MAX
}

function makeFiller(): Buffer {
  const bytes = Buffer.allocUnsafe(FILLER_BYTES)
  let state = 0x2545f491
  for (let i = 0; i < FILLER_BYTES; i++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    bytes[i] = ALPHABET.charCodeAt(state >>> 26)
  }
  return bytes
}
