import type { DatabaseSync } from 'node:sqlite'
import { MessageChannel, Worker } from 'node:worker_threads'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openForWriting } from '../../../src/adapters/sqlite/connection.ts'
import type { FollowerWorkerData } from '../../../src/adapters/sqlite/follower-worker.ts'
import { JournalWriting } from '../../../src/adapters/sqlite/journal-writing.ts'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { openJournal } from '../../../src/adapters/sqlite/open-journal.ts'
import type { FromWriter, RecordsChunk } from '../../../src/adapters/sqlite/writer-protocol.ts'
import { appendRecord, readRecords, RequestIndexSection, SEGMENT_RULES, startingPoint, verify } from '../../../src/journal/index.ts'
import type { OnJournalFailure } from '../../../src/journal/index.ts'
import { Writer } from '../../../src/wire/index.ts'
import { sampleRecords } from '../../unit/journal/sample-records.ts'
import { runToEnd } from '../../unit/journal/sealed-journal.ts'
import { temporaryFolder } from './temporary-folder.ts'

const FOLLOWER = new URL('../../../src/adapters/sqlite/follower-worker.ts', import.meta.url)
const MODULE = new URL('./counting-follower.ts', import.meta.url).href

let folder = temporaryFolder()
let follower: Worker | undefined
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  await follower?.terminate()
  follower = undefined
  folder.remove()
})

function chunkOf(from: number, to: number): RecordsChunk {
  const records = new Writer()
  const index = new RequestIndexSection()
  let atUs = 0
  for (const record of sampleRecords(from, to)) {
    appendRecord(record, records)
    index.add(record)
    atUs = record.atUs
  }
  return { firstPosition: from, count: to - from + 1, atUs, records: records.finish(), index: index.take() }
}

/** A writer in this thread, with a real follower, on a file whose growth can be stopped as a full disk stops it. */
class Rig {
  readonly writing: JournalWriting
  readonly messages: FromWriter[] = []
  private database: DatabaseSync | undefined
  private waiting: { readonly when: (message: FromWriter) => boolean; readonly resolve: (message: FromWriter) => void }[] = []

  constructor(onFailure: OnJournalFailure, spoolBytesMax: number, followerAheadBytesMax: number = 10_000_000) {
    const { port1, port2 } = new MessageChannel()
    const data: FollowerWorkerData = { module: MODULE, options: {}, rules: { everyRecords: Infinity, everyUs: Infinity }, port: port2 }
    follower = new Worker(FOLLOWER, { workerData: data, transferList: [port2] })
    const store = SqliteJournalStore.own(folder.file, 'async', 0, (path, durability) => (this.database = openForWriting(path, durability)))
    const options = { path: folder.file, durability: 'async', onFailure, keep: {}, segments: SEGMENT_RULES, spoolBytesMax, followerAheadBytesMax } as const
    this.writing = new JournalWriting(store, { options, follower: port1 }, message => this.hear(message))
  }

  /** The first message of the kind that is still to come. */
  next(when: (message: FromWriter) => boolean): Promise<FromWriter> {
    return new Promise(resolve => this.waiting.push({ when, resolve }))
  }

  fillDisk(): void {
    const pages = this.database?.prepare('PRAGMA page_count').get()?.['page_count']
    this.database?.exec(`PRAGMA max_page_count = ${String(pages)}`)
  }

  freeDisk(): void {
    this.database?.exec('PRAGMA max_page_count = 1000000')
  }

  async close(): Promise<FromWriter> {
    const closed = this.next(message => message.type === 'closed')
    this.writing.close()
    return closed
  }

  private hear(message: FromWriter): void {
    this.messages.push(message)
    const due = this.waiting.filter(each => each.when(message))
    this.waiting = this.waiting.filter(each => !due.includes(each))
    for (const each of due) each.resolve(message)
  }
}

const isAck = (position: number) => (message: FromWriter): boolean => message.type === 'ack' && message.position >= position
const isFailure = (message: FromWriter): boolean => message.type === 'write-failed'
const isSuccess = (message: FromWriter): boolean => message.type === 'write-succeeded'

/** Writes 100 records, fills the disk, and appends until writing fails: gives the last position appended. */
async function fail(rig: Rig): Promise<number> {
  const written = rig.next(isAck(100))
  rig.writing.receive(chunkOf(1, 100))
  await written
  rig.fillDisk()
  const failed = rig.next(isFailure)
  let position = 100
  let failing = false
  void failed.then(() => {
    failing = true
  })
  while (!failing) {
    rig.writing.receive(chunkOf(position + 1, position + 100))
    position += 100
    await new Promise(resolve => setImmediate(resolve))
  }
  expect(await failed).toMatchObject({ reason: expect.stringContaining('full') as string })
  return position
}

function verified(): ReturnType<typeof runToEnd<ReturnType<typeof verify> extends Generator<unknown, infer V, undefined> ? V : never>> {
  const reader = openJournal(folder.file)
  try {
    return runToEnd(verify(reader))
  } finally {
    reader.close()
  }
}

describe('a journal that cannot be written', () => {
  it.each(['continue', 'refuse'] as const)('given it can be written again soon, under %s, then nothing is missing', async onFailure => {
    const rig = new Rig(onFailure, 10_000_000)
    const position = await fail(rig)
    rig.writing.receive(chunkOf(position + 1, position + 50))
    const succeeded = rig.next(isSuccess)
    const acknowledged = rig.next(isAck(position + 50))
    rig.freeDisk()
    expect(await succeeded).toEqual({ type: 'write-succeeded', missing: undefined })
    await acknowledged
    expect(await rig.close()).toEqual({ type: 'closed', unwritten: 0 })
    expect(verified()).toMatchObject({ records: position + 50, missing: [] })
  })

  it('given it fails for longer than what may wait, then the range is declared missing and the state goes on from the follower', async () => {
    const rig = new Rig('continue', 50_000)
    let position = await fail(rig)
    for (let round = 0; round < 20; round++, position += 100) {
      rig.writing.receive(chunkOf(position + 1, position + 100))
      await new Promise(resolve => setImmediate(resolve))
    }
    const succeeded = rig.next(isSuccess)
    rig.freeDisk()
    const message = await succeeded
    if (message.type !== 'write-succeeded' || message.missing === undefined) throw new Error('nothing was declared missing')
    const { first, last } = message.missing
    expect(last).toBeLessThanOrEqual(position)
    const acknowledged = rig.next(isAck(position + 100))
    rig.writing.receive(chunkOf(position + 1, position + 100))
    await acknowledged
    expect(await rig.close()).toMatchObject({ type: 'closed' })

    const { missing, lastPosition, records } = verified()
    expect(missing).toEqual([{ first, last, reason: expect.stringContaining('full') as string }])
    expect(lastPosition).toBe(position + 100)
    expect(records).toBe(position + 100 - (last - first + 1))
    const reader = openJournal(folder.file)
    const { state } = startingPoint(reader, last, 'ignore')
    expect(new DataView(state.buffer, state.byteOffset).getFloat64(0)).toBe(last)
    expect([...readRecords(reader, last + 1)]).toEqual(sampleRecords(last + 1, position + 100))
    reader.close()
  })

  it('given refuse, when it fails for long, then nothing is given up', async () => {
    const rig = new Rig('refuse', 50_000)
    let position = await fail(rig)
    for (let round = 0; round < 20; round++, position += 100) rig.writing.receive(chunkOf(position + 1, position + 100))
    const acknowledged = rig.next(isAck(position))
    rig.freeDisk()
    await acknowledged
    await rig.close()
    expect(verified()).toMatchObject({ records: position, missing: [] })
  })

  it('given it is closed while it fails, then it says how many records are lost and the rest is whole', async () => {
    const rig = new Rig('continue', 10_000_000)
    const position = await fail(rig)
    const closed = await rig.close()
    const { lastPosition, records } = verified()
    expect(records).toBe(lastPosition)
    expect(closed).toEqual({ type: 'closed', unwritten: position - lastPosition })
    expect(position - lastPosition).toBeGreaterThan(0)
  })
})

describe('a follower that is behind', () => {
  it.each([['may hold little', 1000], ['may hold nothing', 0]])('given it %s, then it is fed from the journal and misses nothing', async (_, ahead) => {
    const rig = new Rig('continue', 10_000_000, ahead)
    const acknowledged = rig.next(isAck(5000))
    for (let position = 0; position < 5000; position += 50) {
      rig.writing.receive(chunkOf(position + 1, position + 50))
      if (position % 500 === 0) await new Promise(resolve => setImmediate(resolve))
    }
    await acknowledged
    expect(await rig.close()).toEqual({ type: 'closed', unwritten: 0 })
    const reader = openJournal(folder.file)
    const { kind, position, atUs, state } = startingPoint(reader)
    reader.close()
    expect({ kind, position, atUs }).toEqual({ kind: 'snapshot', position: 5000, atUs: sampleRecords(5000, 5000)[0]?.atUs })
    expect(new DataView(state.buffer, state.byteOffset).getFloat64(0)).toBe(5000)
  })

  it('given writing fails while it is behind, then nothing is given up before it has followed', async () => {
    const rig = new Rig('continue', 20_000, 1000)
    let position = await fail(rig)
    for (let round = 0; round < 20; round++, position += 100) {
      rig.writing.receive(chunkOf(position + 1, position + 100))
      await new Promise(resolve => setImmediate(resolve))
    }
    const succeeded = rig.next(isSuccess)
    rig.freeDisk()
    const message = await succeeded
    const acknowledged = rig.next(isAck(position + 100))
    rig.writing.receive(chunkOf(position + 1, position + 100))
    await acknowledged
    expect(await rig.close()).toEqual({ type: 'closed', unwritten: 0 })
    const declared = message.type === 'write-succeeded' && message.missing !== undefined ? [message.missing] : []
    expect(verified()).toMatchObject({ lastPosition: position + 100, missing: declared })
  })
})
