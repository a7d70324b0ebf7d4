import { emptyJournalBase, MemoryJournal, RequestIndexSection, sealBase, sealBatch, sealSnapshot } from '../../src/journal/index.ts'
import type { JournalStore } from '../../src/journal/index.ts'
import { appendRecord } from '../../src/journal/record.ts'
import { chainAfter, openBase } from '../../src/journal/state-message.ts'
import { Replayer } from '../../src/replay/replayer.ts'
import { engineOptions } from '../../src/replay/engine-options.ts'
import type { Record as JournalRecord } from '../../src/wire/journal.ts'
import { Writer } from '../../src/wire/runtime.ts'

export interface JournalPlan {
  /** Records a batch. */
  readonly batch?: number
  /** Records between snapshots; none without it. */
  readonly snapshotEvery?: number
  /** Records between bases; only the first without it. */
  readonly baseEvery?: number
}

/** A journal in memory that holds these records, as a live engine would have written it. */
export const journalOf = (records: readonly JournalRecord[], plan: JournalPlan = {}): MemoryJournal => fillJournal(new MemoryJournal(), records, plan)

/** Writes these records into an empty journal, as a live engine would have. */
export const fillJournal = <Store extends JournalStore>(journal: Store, records: readonly JournalRecord[], { batch = 16, snapshotEvery = Infinity, baseEvery = Infinity }: JournalPlan = {}): Store => {
  const opening = emptyJournalBase()
  journal.openSegment(opening)
  const first = openBase(opening.bytes)
  if (first === undefined) throw new Error('the base cannot be read')
  let previous = chainAfter(first)
  const replayer = new Replayer(engineOptions(), { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
  for (let at = 0; at < records.length; at += batch) {
    const some = records.slice(at, at + batch)
    const sealed = seal(some, previous)
    previous = sealed.seal
    journal.append([sealed])
    for (const record of some) replayer.apply(record)
    const done = at + some.length
    if (done % snapshotEvery < batch && done >= snapshotEvery) journal.putSnapshot(sealSnapshot(replayer.state()))
    if (done % baseEvery < batch && done >= baseEvery) journal.openSegment(sealBase(replayer.state(), previous))
  }
  return journal
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
