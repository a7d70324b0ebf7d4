import { itemsAfter, startingPoint } from '../../journal/reading.ts'
import { openSnapshot, sealSnapshot } from '../../journal/state-message.ts'
import type { StateAt } from '../../journal/state-message.ts'
import { JournalError } from '../../journal/journal-error.ts'
import type { JournalReader } from '../../journal/port.ts'

/** One piece of a journal on its way to a reader elsewhere. */
export interface FeedPart {
  readonly kind: 'start' | 'base' | 'batch'
  readonly bytes: Uint8Array
}

const KINDS = ['start', 'base', 'batch'] as const
/** Kind, then the length as 32 bits, lowest first. */
const HEAD_BYTES = 5

/** The state from which the records up to `position` can be done again, and where it stands. */
export const feedStart = (reader: JournalReader, position: number): FeedPart => ({
  kind: 'start', bytes: sealSnapshot(startingPoint(reader, position)).bytes,
})

/**
 * What follows `after`, about `bytesMax` at most and at least one batch where there is one: a reader asks again after
 * the last position it got, so that nothing is lost and nothing comes twice.
 * @throws JournalError where the journal is not whole right after `after`; what is good before that is given first
 */
export const feedAfter = (reader: JournalReader, after: number, bytesMax: number): FeedPart[] => {
  const parts: FeedPart[] = []
  let bytes = 0
  try {
    for (const item of itemsAfter(reader, after, 'needed')) {
      parts.push({ kind: item.kind, bytes: item.bytes })
      bytes += item.bytes.length
      if (bytes >= bytesMax) break
    }
  } catch (error) {
    if (parts.length === 0) throw error
  }
  return parts
}

/** Parts as one run of bytes. */
export const framed = (parts: readonly FeedPart[]): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + HEAD_BYTES + part.bytes.length, 0))
  const view = new DataView(out.buffer)
  let at = 0
  for (const { kind, bytes } of parts) {
    out[at] = KINDS.indexOf(kind)
    view.setUint32(at + 1, bytes.length, true)
    out.set(bytes, at + HEAD_BYTES)
    at += HEAD_BYTES + bytes.length
  }
  return out
}

/**
 * The parts of a run of bytes, as views into it.
 * @throws JournalError journal-torn when the bytes end early
 */
export const unframed = (bytes: Uint8Array): FeedPart[] => {
  const parts: FeedPart[] = []
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  while (at < bytes.length) {
    const kind = KINDS[bytes[at] as number]
    const end = at + HEAD_BYTES + (at + HEAD_BYTES <= bytes.length ? view.getUint32(at + 1, true) : 0)
    if (kind === undefined || at + HEAD_BYTES > bytes.length || end > bytes.length) throw new JournalError('journal-torn', 'the answer ends in the middle of a part', 0)
    parts.push({ kind, bytes: bytes.subarray(at + HEAD_BYTES, end) })
    at = end
  }
  return parts
}

/** The state that a start holds. Throws JournalError when it was changed or cut. */
export const openStart = (part: FeedPart): StateAt => {
  const state = openSnapshot(part.bytes)
  if (state === undefined) throw new JournalError('journal-broken-chain', 'the state to start from was changed or cut, or is of another schema', 0)
  return state
}
