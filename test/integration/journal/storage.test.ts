import { copyFileSync, existsSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openForWriting } from '../../../src/adapters/sqlite/connection.ts'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { openJournal } from '../../../src/adapters/sqlite/open-journal.ts'
import { SignalboxError } from '../../../src/core/errors.ts'
import { JournalError, readRecords, SCHEMA_VERSION, sealBase, sealSnapshot, verify } from '../../../src/journal/index.ts'
import { sampleRecords } from '../../unit/journal/sample-records.ts'
import { JournalFiller, runToEnd } from '../../unit/journal/sealed-journal.ts'
import { temporaryFolder } from './temporary-folder.ts'

let folder = temporaryFolder()
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(() => folder.remove())

const own = (connect = openForWriting): SqliteJournalStore => SqliteJournalStore.own(folder.file, 'async', 0, connect)

/** What can be read of a journal file, and the error that ends it. */
function readAll(path: string): { readonly good: number; readonly error: SignalboxError | undefined } {
  let good = 0
  try {
    const reader = openJournal(path)
    try {
      const expected = sampleRecords(1, 40)
      for (const record of readRecords(reader, 1)) {
        expect(record).toEqual(expected[record.position - 1])
        good = record.position
      }
      runToEnd(verify(reader))
    } finally {
      reader.close()
    }
    return { good, error: undefined }
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error
    return { good, error }
  }
}

describe('a journal file', () => {
  it('given it was closed, then it is one file, readable where nothing can be written', () => {
    const store = own()
    new JournalFiller(store).append(sampleRecords(1, 40), 4)
    store.close()
    expect(existsSync(`${folder.file}-wal`)).toBe(false)
    const copy = join(folder.path, 'copy.sqlite')
    copyFileSync(folder.file, copy)
    expect(readAll(copy)).toEqual({ good: 40, error: undefined })
    expect(existsSync(`${copy}-wal`)).toBe(false)
  })

  it('given it is copied while open, with its log, then everything committed is in the copy', () => {
    const store = own()
    new JournalFiller(store).append(sampleRecords(1, 40), 4)
    const copy = join(folder.path, 'copy.sqlite')
    for (const part of ['', '-wal']) copyFileSync(folder.file + part, copy + part)
    store.close()
    expect(readAll(copy)).toEqual({ good: 40, error: undefined })
  })

  it('given a reader has it open, when it is closed, then the reader reads on', () => {
    const store = own()
    new JournalFiller(store).append(sampleRecords(1, 40), 4)
    const reader = openJournal(folder.file)
    const batches = reader.batches(0)[Symbol.iterator]()
    batches.next()
    store.close()
    expect([...readRecords(reader, 1)]).toEqual(sampleRecords(1, 40))
    reader.close()
    own().close()
  })

  it('given it is opened again, then writing goes on where it ended', () => {
    const first = own()
    const filler = new JournalFiller(first).append(sampleRecords(1, 20), 3)
    first.close()
    const second = own()
    const again = new JournalFiller(second)
    again.seal = filler.seal
    again.append(sampleRecords(21, 40), 3)
    expect(second.recordsOf(21)).toEqual([21, 22, 23, 24])
    second.close()
    expect(readAll(folder.file)).toEqual({ good: 40, error: undefined })
  })

  it('given a newer schema, then it is refused by name, for reading and for writing', () => {
    own().close()
    const database = new DatabaseSync(folder.file)
    database.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
    database.close()
    expect(readAll(folder.file).error).toMatchObject({ code: 'journal-newer-schema', position: 0 })
    expect(own).toThrow(expect.objectContaining({ code: 'journal-newer-schema' }))
  })

  it('given no file, no journal or another database, then that is said, with the path', () => {
    expect(readAll(folder.file).error).toMatchObject({ code: 'journal-not-found', place: { file: folder.file } })
    writeFileSync(folder.file, 'something else, long enough to be looked at')
    expect(readAll(folder.file).error).toMatchObject({ code: 'journal-not-a-journal', place: { file: folder.file } })
    const other = join(folder.path, 'other.sqlite')
    const database = new DatabaseSync(other)
    database.exec('CREATE TABLE thing (id)')
    database.close()
    expect(readAll(other).error).toMatchObject({ code: 'journal-not-a-journal' })
    expect(() => SqliteJournalStore.own(other, 'async', 0)).toThrow(expect.objectContaining({ code: 'journal-not-a-journal' }))
    expect(new DatabaseSync(other).prepare('SELECT count(*) AS count FROM sqlite_schema').get()).toEqual({ count: 1 })
  })

  it('given a folder, then the journal in it is meant', () => {
    const store = own()
    new JournalFiller(store).append(sampleRecords(1, 4))
    store.close()
    expect(readAll(folder.path)).toEqual({ good: 4, error: undefined })
  })
})

describe('a journal that one part of a process writes', () => {
  it('given another part wants to write it, then it is refused and told who writes', () => {
    const store = own()
    expect(own).toThrow(expect.objectContaining({ code: 'journal-locked', message: expect.stringContaining(`process ${process.pid}`) as string }))
    store.close()
    own().close()
  })
})

describe('a journal file that is damaged', () => {
  const write = (): void => {
    const store = own()
    new JournalFiller(store).append(sampleRecords(1, 20), 4).roll().append(sampleRecords(21, 40), 4)
    store.close()
  }

  it('given its log is cut at any byte of the last batch, then all batches before it are there and the chain is whole', () => {
    const store = own()
    const filler = new JournalFiller(store).append(sampleRecords(1, 8), 4)
    const before = statSync(`${folder.file}-wal`).size
    filler.append(sampleRecords(9, 12))
    const copy = join(folder.path, 'copy.sqlite')
    const log = readFileSync(`${folder.file}-wal`)
    const main = readFileSync(folder.file)
    store.close()
    const seen = new Set<number>()
    for (let length = before; length <= log.length; length += length > log.length - 64 ? 1 : 61) {
      writeFileSync(copy, main)
      writeFileSync(`${copy}-wal`, log.subarray(0, length))
      const { good, error } = readAll(copy)
      expect(error, `cut at ${length}`).toBeUndefined()
      seen.add(good)
    }
    expect([...seen].sort((a, b) => a - b)).toEqual([8, 12])
  })

  it('given a bit flipped anywhere in it, then nothing that is read is wrong, and what is missing is named', () => {
    write()
    const whole = readFileSync(folder.file)
    const copy = join(folder.path, 'copy.sqlite')
    let named = 0
    for (let at = 0; at < whole.length; at += 97) {
      const damaged = Buffer.from(whole)
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8))
      writeFileSync(copy, damaged)
      const { good, error } = readAll(copy)
      if (error instanceof JournalError) expect(error.position, `byte ${at}: ${error.message}`).toBeLessThanOrEqual(40)
      if (error === undefined) expect(good, `byte ${at}`).toBe(40)
      else named += 1
    }
    expect(named).toBeGreaterThan(0)
  })

  it('given a bit flipped in the records of a batch, then that batch is named and the ones before it are good', () => {
    write()
    const bytes = readFileSync(folder.file)
    const at = bytes.indexOf('request-29-')
    bytes[at] = (bytes[at] as number) ^ 4
    writeFileSync(folder.file, bytes)
    const { good, error } = readAll(folder.file)
    expect(good).toBe(28)
    expect(error).toMatchObject({ code: 'journal-broken-chain', position: 28 })
  })

  it('given its end was cut off, then that is a named error', () => {
    write()
    truncateSync(folder.file, statSync(folder.file).size - 4096)
    expect(readAll(folder.file).error).toBeInstanceOf(SignalboxError)
  })

  it('given its last batch was taken out, then the missing end is named', () => {
    write()
    const database = new DatabaseSync(folder.file)
    database.exec('DELETE FROM batch WHERE first_position = 37')
    database.close()
    const { good, error } = readAll(folder.file)
    expect(good).toBe(36)
    expect(error).toMatchObject({ code: 'journal-torn', position: 36 })
  })
})

describe('a disk that is full', () => {
  it('given there is no room for a batch, then that is a named error, nothing of it is stored, and later it is written', () => {
    let database: DatabaseSync | undefined
    const store = own((path, durability) => (database = openForWriting(path, durability)))
    const filler = new JournalFiller(store).append(sampleRecords(1, 20), 4)
    const pages = database?.prepare('PRAGMA page_count').get()?.['page_count'] as number
    database?.exec(`PRAGMA max_page_count = ${pages}`)
    const refuse = (): unknown => filler.append(sampleRecords(21, 400), 40)
    expect(refuse).toThrow(expect.objectContaining({ code: 'journal-write', message: expect.stringContaining('full') as string }))
    const stored = store.lastPosition()
    expect(runToEnd(verify(store))).toMatchObject({ lastPosition: stored, records: stored })
    expect(() => store.probe()).toThrow(SignalboxError)
    database?.exec('PRAGMA max_page_count = 1000000')
    store.probe()
    filler.append(sampleRecords(stored + 1, 400), 40)
    expect(runToEnd(verify(store))).toMatchObject({ records: 400 })
    expect(store.recordsOf(21)).toEqual([21, 22, 23, 24])
    while (store.sweep());
    store.close()
  })
})

describe('work that a crash interrupted', () => {
  const chunks = (): number => Number(new DatabaseSync(folder.file, { readOnly: true }).prepare('SELECT count(*) AS count FROM chunk').get()?.['count'])

  it('given a state was written halfway, when opened again, then its pieces are swept away', () => {
    const store = own()
    const filler = new JournalFiller(store).append(sampleRecords(1, 4))
    const large = { position: 4, atUs: 4, stateHash: 1n, state: new Uint8Array(1_000_000) }
    const pending = store.beginState(sealSnapshot(large), { kind: 'snapshot' })
    expect(store.writePart(pending)).toBe(true)
    const other = store.beginState(sealBase(large, filler.seal), { kind: 'base', declaresMissing: false })
    expect(store.writePart(other)).toBe(true)
    store.close()
    expect(chunks()).toBe(3)
    const again = own()
    expect(again.snapshots()).toEqual([])
    expect(again.segments()).toHaveLength(1)
    while (again.sweep());
    again.close()
    expect(chunks()).toBe(1)
  })

  it('given a segment was dropped halfway, when opened again, then the rest of it is swept away', () => {
    const store = own()
    const filler = new JournalFiller(store).append(sampleRecords(1, 200), 1)
    filler.roll().append(sampleRecords(201, 208), 4)
    store.releaseOldestSegment(0)
    store.sweep()
    store.close()
    const again = own()
    expect(runToEnd(verify(again))).toMatchObject({ records: 8, bases: 1 })
    while (again.sweep());
    expect([...again.batches(0)].map(batch => batch.firstPosition)).toEqual([201, 205])
    const before = statSync(folder.file).size
    while (again.compact());
    again.close()
    expect(statSync(folder.file).size).toBeLessThan(before)
  })
})
