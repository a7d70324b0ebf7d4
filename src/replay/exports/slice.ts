import { emptyJournalBase, openBase, sealBase } from '../../journal/state-message.ts'
import { chainAfter } from '../../journal/state-message.ts'
import { fileParts } from '../../journal/file.ts'
import { MemoryJournal } from '../../journal/memory.ts'
import { appendRecord } from '../../journal/record.ts'
import { RequestIndexSection } from '../../journal/request-index.ts'
import { sealBatch } from '../../journal/batch.ts'
import type { StateAt } from '../../journal/state-message.ts'
import { SignalboxError } from '../../core/errors.ts'
import { Writer } from '../../wire/runtime.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'

/** Records a batch: what a reader checks as one. */
const BATCH = 256

/**
 * A journal file of its own that holds these records, from the state before the first of them.
 * @throws SignalboxError journal-position when there are none
 */
export const sliceFile = (before: StateAt, records: Iterable<JournalRecord>): Uint8Array => {
  const journal = new MemoryJournal()
  const base = before.position === 0 ? emptyJournalBase() : sealBase(before, 0n)
  journal.openSegment(base)
  const opened = openBase(base.bytes)
  if (opened === undefined) throw new SignalboxError('state-invalid', 'the state before the slice cannot be sealed')
  let previous = chainAfter(opened)
  let waiting: JournalRecord[] = []
  const flush = (): void => {
    if (waiting.length === 0) return
    const sealed = seal(waiting, previous)
    previous = sealed.seal
    journal.append([sealed])
    waiting = []
  }
  for (const record of records) {
    waiting.push(record)
    if (waiting.length === BATCH) flush()
  }
  flush()
  if (journal.lastPosition() === before.position) throw new SignalboxError('journal-position', 'there are no records in the slice')
  return joined([...fileParts(journal, { basePosition: before.position, lastPosition: journal.lastPosition() })])
}

const seal = (records: readonly JournalRecord[], previous: bigint): ReturnType<typeof sealBatch> => {
  const writer = new Writer()
  const index = new RequestIndexSection()
  for (const record of records) {
    appendRecord(record, writer)
    index.add(record)
  }
  return sealBatch({ firstPosition: records[0]?.position ?? 0, count: records.length, records: writer.finish() }, previous, records.at(-1)?.atUs ?? 0, index.take())
}

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const out = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    out.set(part, at)
    at += part.length
  }
  return out
}
