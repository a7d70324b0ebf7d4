import { appendRecord, chainAfter, emptyJournalBase, MemoryJournal, openBase, RequestIndexSection, sealBase, sealBatch } from '../../../src/journal/index.ts'
import type { JournalStore, SealedBatch } from '../../../src/journal/index.ts'
import { Writer } from '../../../src/wire/index.ts'
import type { Record } from '../../../src/wire/index.ts'

/** Seals records as one batch. */
export function batchOf(records: readonly Record[], previous: bigint): SealedBatch {
  const writer = new Writer()
  const index = new RequestIndexSection()
  for (const record of records) {
    appendRecord(record, writer)
    index.add(record)
  }
  const run = { firstPosition: records[0]?.position ?? 0, count: records.length, records: writer.finish() }
  return sealBatch(run, previous, records.at(-1)?.atUs ?? 0, index.take())
}

/** Fills journals in tests, and remembers what the next batch must follow. */
export class JournalFiller<Store extends JournalStore> {
  readonly store: Store
  seal: bigint

  constructor(store: Store) {
    this.store = store
    const base = emptyJournalBase()
    if (store.segments().length === 0) store.openSegment(base)
    this.seal = base.seal
  }

  /** Appends the records in batches of `size`, one transaction each. */
  append(records: readonly Record[], size: number = records.length): this {
    for (let at = 0; at < records.length; at += size) {
      const batch = batchOf(records.slice(at, at + size), this.seal)
      this.store.append([batch])
      this.seal = batch.seal
    }
    return this
  }

  /** Opens a segment at the end. */
  roll(state: Uint8Array = new Uint8Array([1, 2, 3])): this {
    const position = this.store.lastPosition()
    const atUs = this.store.segments().at(-1)?.lastAtUs ?? 0
    this.store.openSegment(sealBase({ position, atUs, stateHash: 7n, state }, this.seal))
    return this
  }

  /** Opens a segment that declares `count` positions as missing. */
  lose(count: number): this {
    const first = this.store.lastPosition() + 1
    const atUs = this.store.segments().at(-1)?.lastAtUs ?? 0
    const missing = { first, last: first + count - 1, reason: 'the disk was full' }
    const base = sealBase({ position: missing.last, atUs, stateHash: 7n, state: new Uint8Array([9]) }, this.seal, missing)
    this.store.openSegment(base, true)
    const opened = openBase(base.bytes)
    if (opened !== undefined) this.seal = chainAfter(opened)
    return this
  }
}

export function memoryJournal(): JournalFiller<MemoryJournal> {
  return new JournalFiller(new MemoryJournal())
}

/** Runs a verification to its end. */
export function runToEnd<T>(run: Generator<unknown, T, undefined>): T {
  for (;;) {
    const step = run.next()
    if (step.done === true) return step.value
  }
}
