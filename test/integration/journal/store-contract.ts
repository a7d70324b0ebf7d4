import { afterEach, describe, expect, it } from 'vitest'
import { SignalboxError } from '../../../src/core/errors.ts'
import { arrivalsOf, JournalError, readRecord, readRecords, sealBase, sealSnapshot, startingPoint, verify } from '../../../src/journal/index.ts'
import type { JournalReader, JournalStore } from '../../../src/journal/index.ts'
import { requestIdOf, sampleRecords } from '../../unit/journal/sample-records.ts'
import { batchOf, JournalFiller, runToEnd } from '../../unit/journal/sealed-journal.ts'

/** How a backend is made for one test. */
export interface Backend {
  /** A new journal; the same one each time until `clean`. */
  open(): JournalStore
  /** A second look at the journal that is open, where the backend allows one. */
  openReader(): JournalReader
  clean(): void
}

/** What every backend of the journal must do. */
export function storeContract(name: string, makeBackend: () => Backend): void {
  describe(`the journal on ${name}`, () => {
    let backend: Backend | undefined

    afterEach(() => {
      backend?.clean()
      backend = undefined
    })

    const opened = (): JournalFiller<JournalStore> => {
      backend = makeBackend()
      return new JournalFiller(backend.open())
    }
    const positions = (reader: JournalReader, from: number, to?: number): number[] =>
      [...readRecords(reader, from, to)].map(record => record.position)
    const snapshotAt = (position: number): ReturnType<typeof sealSnapshot> =>
      sealSnapshot({ position, atUs: position, stateHash: 5n, state: new Uint8Array(600_000).fill(position) })

    it('given nothing was written, then it has one segment and no records', () => {
      const { store } = opened()
      expect(store.lastPosition()).toBe(0)
      expect(store.segments()).toMatchObject([{ basePosition: 0, lastPosition: 0, bytes: 0, batches: 0 }])
      expect(positions(store, 1)).toEqual([])
      expect(runToEnd(verify(store))).toMatchObject({ records: 0, bases: 1, lastPosition: 0 })
    })

    it('given batches of any size, when read, then every record is as it was', () => {
      const { store } = opened().append(sampleRecords(1, 40), 1).append(sampleRecords(41, 90), 7).append(sampleRecords(91, 120))
      expect([...readRecords(store, 1)]).toEqual(sampleRecords(1, 120))
      expect(store.lastPosition()).toBe(120)
    })

    it('given several batches in one append, when read, then all are there', () => {
      const filler = opened()
      const first = batchOf(sampleRecords(1, 3), filler.seal)
      filler.store.append([first, batchOf(sampleRecords(4, 9), first.seal)])
      expect(positions(filler.store, 1)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('given any span, when read, then exactly that is given', () => {
      const { store } = opened().append(sampleRecords(1, 100), 7)
      expect(positions(store, 50, 52)).toEqual([50, 51, 52])
      expect(positions(store, 99)).toEqual([99, 100])
      expect(positions(store, 101)).toEqual([])
      expect(readRecord(store, 77)).toEqual(sampleRecords(77, 77)[0])
      expect(() => readRecord(store, 101)).toThrow(/position 101/)
      expect(() => positions(store, 0)).toThrow(/position 0/)
    })

    it('given a base in the middle, when segments are listed, then each has its own batches', () => {
      const { store } = opened().append(sampleRecords(1, 10), 5).roll().append(sampleRecords(11, 30), 10).roll()
      expect(store.segments()).toMatchObject([
        { basePosition: 0, lastPosition: 10, batches: 2, declaresMissing: false },
        { basePosition: 10, lastPosition: 30, batches: 2, declaresMissing: false },
        { basePosition: 30, lastPosition: 30, batches: 0, bytes: 0 },
      ])
      expect(runToEnd(verify(store))).toMatchObject({ bases: 3, records: 30 })
      expect(runToEnd(verify(store, 10))).toMatchObject({ bases: 2, records: 20 })
    })

    it('given a base that comes later than the batches after it, when read, then those belong to its segment', () => {
      const filler = opened().append(sampleRecords(1, 4))
      const base = sealBase({ position: 4, atUs: 4, stateHash: 1n, state: new Uint8Array([1]) }, filler.seal)
      filler.append(sampleRecords(5, 8))
      filler.store.openSegment(base)
      expect(filler.store.segments()).toMatchObject([{ lastPosition: 4, batches: 1 }, { basePosition: 4, lastPosition: 8, batches: 1 }])
      expect(runToEnd(verify(filler.store))).toMatchObject({ records: 8, bases: 2 })
    })

    it('given a declared range is missing, when read, then the rest is there and the range is named', () => {
      const { store } = opened().append(sampleRecords(1, 4)).lose(10).append(sampleRecords(15, 16))
      expect(positions(store, 1)).toEqual([1, 2, 3, 4, 15, 16])
      expect(runToEnd(verify(store)).missing).toMatchObject([{ first: 5, last: 14 }])
      expect(() => positions(store, 8)).toThrow(/position 8/)
    })

    it('given an undeclared gap, when read, then the records before it are given and the gap is named', () => {
      const { store } = opened().append(sampleRecords(1, 4)).append(sampleRecords(6, 7))
      const seen: number[] = []
      const read = (): void => {
        for (const record of readRecords(store, 1)) seen.push(record.position)
      }
      expect(read).toThrow(JournalError)
      expect(seen).toEqual([1, 2, 3, 4])
    })

    it('given snapshots, when replay begins somewhere, then it begins at the newest state before', () => {
      const filler = opened().append(sampleRecords(1, 20), 5)
      filler.store.putSnapshot(snapshotAt(5))
      filler.store.putSnapshot(snapshotAt(15))
      filler.roll().append(sampleRecords(21, 30), 5)
      const { store } = filler
      expect(startingPoint(store, 14)).toMatchObject({ kind: 'snapshot', position: 5 })
      const { state, ...start } = startingPoint(store, 19)
      expect(start).toMatchObject({ kind: 'snapshot', position: 15, stateHash: 5n })
      expect(Buffer.compare(state, new Uint8Array(600_000).fill(15))).toBe(0)
      expect(startingPoint(store)).toMatchObject({ kind: 'base', position: 20, stateHash: 7n })
      expect(startingPoint(store, 19, 'ignore')).toMatchObject({ kind: 'base', position: 0 })
    })

    it('given a damaged snapshot, when replay begins, then it is passed over', () => {
      const { store } = opened().append(sampleRecords(1, 20), 5)
      const damaged = snapshotAt(15)
      damaged.bytes[100] = (damaged.bytes[100] ?? 0) ^ 1
      store.putSnapshot(snapshotAt(5))
      store.putSnapshot(damaged)
      expect(startingPoint(store)).toMatchObject({ kind: 'snapshot', position: 5 })
      expect(runToEnd(verify(store)).unusableSnapshots).toEqual([15])
    })

    it('given a snapshot is put again or dropped, then only the last word counts', () => {
      const { store } = opened().append(sampleRecords(1, 20), 5)
      store.putSnapshot(snapshotAt(5))
      store.putSnapshot(sealSnapshot({ position: 5, atUs: 5, stateHash: 1n, state: new Uint8Array([7]) }))
      expect(startingPoint(store)).toMatchObject({ position: 5, state: new Uint8Array([7]) })
      store.dropSnapshot(5)
      expect(store.snapshots()).toEqual([])
    })

    it('given a request id, when looked up, then its arrival and all its records are found', () => {
      const { store } = opened().append(sampleRecords(1, 400), 9)
      expect(arrivalsOf(store, requestIdOf(201))).toEqual([201])
      expect(store.recordsOf(201)).toEqual([201, 202, 203, 204])
      expect(arrivalsOf(store, 'nobody')).toEqual([])
    })

    it('given more than one segment, when the oldest is dropped, then the rest is whole', () => {
      const filler = opened().append(sampleRecords(1, 20), 5)
      filler.store.putSnapshot(snapshotAt(10))
      filler.roll().append(sampleRecords(21, 40), 5).roll().append(sampleRecords(41, 60), 5)
      const { store } = filler
      const before = store.segments()
      store.dropOldestSegment(0)
      expect(store.segments()).toEqual(before.slice(1))
      expect(store.snapshots()).toEqual([])
      expect(positions(store, 21)).toHaveLength(40)
      expect(() => positions(store, 20)).toThrow(/begins at 21/)
      expect(store.arrivalsOf(requestIdOf(1))).toEqual([])
      expect(arrivalsOf(store, requestIdOf(25))).toEqual([25])
      expect(runToEnd(verify(store))).toMatchObject({ bases: 2, records: 40 })
      expect(() => startingPoint(store, 19)).toThrow(/oldest base/)
    })

    it('given any other segment, or the only one, when dropped, then it is refused', () => {
      const { store } = opened().append(sampleRecords(1, 4)).roll().append(sampleRecords(5, 8)).roll()
      expect(() => store.dropOldestSegment(4)).toThrow(SignalboxError)
      store.dropOldestSegment(0)
      store.dropOldestSegment(4)
      expect(() => store.dropOldestSegment(8)).toThrow(SignalboxError)
      expect(store.segments()).toHaveLength(1)
    })

    it('given a reader beside the writer, when more is written, then the reader sees it', () => {
      const filler = opened().append(sampleRecords(1, 4))
      const reader = backend?.openReader() as JournalReader
      expect(reader.lastPosition()).toBe(4)
      filler.append(sampleRecords(5, 40), 3).roll()
      expect(positions(reader, 1)).toHaveLength(40)
      expect(reader.segments()).toHaveLength(2)
      reader.close()
    })
  })
}
