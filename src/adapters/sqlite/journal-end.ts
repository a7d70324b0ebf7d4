import { lastPositionOf, openBatch } from '../../journal/batch.ts'
import { JournalError } from '../../journal/journal-error.ts'
import { droppableSegments } from '../../journal/retention.ts'
import type { Keep } from '../../journal/retention.ts'
import { chainAfter, openBase } from '../../journal/state-message.ts'
import type { SqliteJournalStore } from './journal-store.ts'

/** What the batch after `position`, the last one stored, must follow. Throws `JournalError` when the end is damaged. */
export function endOf(store: SqliteJournalStore, position: number): bigint {
  const bytes = store.base(store.segments().at(-1)?.basePosition ?? 0)
  const base = bytes === undefined ? undefined : openBase(bytes)
  if (base === undefined) throw new JournalError('journal-broken-chain', 'the newest base was changed or cut', 0, { file: store.path })
  if (base.position === position) return chainAfter(base)
  for (const stored of store.batches(position - 1)) {
    const batch = openBatch(stored.bytes)
    if (batch !== undefined && lastPositionOf(batch) === position) return batch.seal
  }
  throw new JournalError('journal-broken-chain', 'the last batch was changed, cut or lost', Math.max(base.position, position - 1), { file: store.path })
}

/** Takes the segments that need not be kept out of sight; what they held is swept away later. */
export function pruneSegments(store: SqliteJournalStore, keep: Keep, nowUs: number): void {
  for (const position of droppableSegments(store.segments(), keep, nowUs)) store.releaseOldestSegment(position)
}
