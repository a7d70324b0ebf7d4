import { readdirSync } from 'node:fs'
import { constants, getPriority } from 'node:os'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { JournalWriter } from '../../../src/adapters/sqlite/journal-writer.ts'
import type { JournalWriterOptions } from '../../../src/adapters/sqlite/journal-writer.ts'
import { openJournal } from '../../../src/adapters/sqlite/open-journal.ts'
import { arrivalsOf, readRecords, startingPoint, UNACKNOWLEDGED_RECORDS_MAX, verify } from '../../../src/journal/index.ts'
import type { JournalReader } from '../../../src/journal/index.ts'
import type { Record } from '../../../src/wire/index.ts'
import { requestIdOf, sampleRecord, sampleRecords } from '../../unit/journal/sample-records.ts'
import { runToEnd } from '../../unit/journal/sealed-journal.ts'
import { temporaryFolder } from './temporary-folder.ts'

const FOLLOWER = new URL('./counting-follower.ts', import.meta.url)

let folder = temporaryFolder()
let journal: JournalWriter | undefined
beforeEach(() => {
  folder = temporaryFolder()
})
afterEach(async () => {
  await journal?.terminate()
  journal = undefined
  folder.remove()
})

/** Resolves with what the first call of it is given. */
function event<T extends readonly unknown[]>(): { readonly fire: (...args: T) => void; readonly fired: Promise<T> } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { fire: (...args) => resolve(args), fired: promise }
}

async function open(options: Partial<JournalWriterOptions> = {}): Promise<JournalWriter> {
  journal = await JournalWriter.open({ path: folder.file, ...options })
  return journal
}

/** Appends records up to a position, and waits until they are acknowledged. */
async function write(to: number, options: Partial<JournalWriterOptions> = {}): Promise<JournalWriter> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const onAck = (position: number): void => {
    if (position >= to) resolve()
  }
  const writer = await open({ ...options, events: { ...options.events, onAck } })
  for (let position = writer.lastPosition + 1; position <= to; position++) writer.append(sampleRecord(position))
  await promise
  return writer
}

/** Writes rounds of 50 records, each acknowledged before the next, until the journal shows what is wanted. */
async function writeUntil(options: Partial<JournalWriterOptions>, shown: (reader: JournalReader) => boolean): Promise<number> {
  let acknowledged = event<[]>()
  const onAck = (position: number): void => {
    if (position === writer.lastPosition) acknowledged.fire()
  }
  const writer = await open({ ...options, events: { ...options.events, onAck } })
  do {
    acknowledged = event<[]>()
    for (const record of sampleRecords(writer.lastPosition + 1, writer.lastPosition + 50)) writer.append(record)
    await acknowledged.fired
  } while (!withReader(shown))
  expect(await writer.close()).toBe(0)
  return writer.lastPosition
}

function withReader<T>(read: (reader: JournalReader) => T): T {
  const reader = openJournal(folder.file)
  try {
    return read(reader)
  } finally {
    reader.close()
  }
}

describe('the writer', () => {
  it.each(['async', 'commit'] as const)('given records under durability %s, when acknowledged, then a reader sees them at once', async durability => {
    const writer = await write(500, { durability })
    expect(writer.acknowledgedPosition).toBe(500)
    expect(writer.lag()).toEqual({ records: 0, ageMs: 0 })
    expect(withReader(reader => [...readRecords(reader, 1)])).toEqual(sampleRecords(1, 500))
    expect(withReader(reader => arrivalsOf(reader, requestIdOf(201)))).toEqual([201])
  })

  it('given many records in one turn, when written, then they share batches', async () => {
    await write(2000)
    expect(withReader(reader => reader.segments()[0]?.batches)).toBeLessThan(20)
  })

  it('given it is closed and opened again, then it goes on at the next position', async () => {
    expect(await (await write(100)).close()).toBe(0)
    const again = await write(200)
    expect(again.lastPosition).toBe(200)
    expect(await again.close()).toBe(0)
    expect(withReader(reader => runToEnd(verify(reader)))).toMatchObject({ records: 200, lastPosition: 200 })
  })

  it('given records were appended, when closed at once, then they are written first', async () => {
    const writer = await open()
    for (const record of sampleRecords(1, 300)) writer.append(record)
    expect(await writer.close()).toBe(0)
    expect(withReader(reader => reader.lastPosition())).toBe(300)
  })

  it('given a record out of turn, when appended, then it is refused', async () => {
    const writer = await open()
    expect(() => writer.append(sampleRecord(2))).toThrow(RangeError)
  })

  it('given another writer has the journal, when opened, then it is refused and told who writes', async () => {
    await write(1)
    const first = journal
    await expect(JournalWriter.open({ path: folder.file })).rejects.toMatchObject({
      code: 'journal-locked', message: expect.stringContaining(`process ${process.pid}`) as string,
    })
    expect(await first?.close()).toBe(0)
    await write(2)
  })

  it('given a place that cannot be written, when opened, then that is a named error', async () => {
    await expect(JournalWriter.open({ path: '/proc/nowhere/journal.sqlite' })).rejects.toMatchObject({ code: 'journal-write' })
  })

  it('given too many records are not acknowledged, then it takes no more until there is room', async () => {
    const room = event<[]>()
    const writer = await open({ events: { onRoom: room.fire } })
    expect(writer.canAccept()).toBe(true)
    for (const record of sampleRecords(1, UNACKNOWLEDGED_RECORDS_MAX)) writer.append(record)
    expect(writer.canAccept()).toBe(false)
    expect(writer.lag().records).toBe(UNACKNOWLEDGED_RECORDS_MAX)
    await room.fired
    expect(writer.canAccept()).toBe(true)
  })

  it('given durability commit, then it takes any number, since each answer waits for its own', async () => {
    const writer = await open({ durability: 'commit' })
    for (const record of sampleRecords(1, UNACKNOWLEDGED_RECORDS_MAX + 1)) writer.append(record)
    expect(writer.canAccept()).toBe(true)
  })
})

describe('the writer and its follower', () => {
  const follower = { module: FOLLOWER, options: { stateBytes: 600_000 } }

  it('given segments are small, when written, then each opens with the state at its position and the chain goes through', async () => {
    const last = await writeUntil({ follower, segments: { bytesMax: 20_000, ageMaxUs: Infinity } }, reader => reader.segments().length > 2)
    withReader(reader => {
      expect(runToEnd(verify(reader))).toMatchObject({ records: last, lastPosition: last, missing: [] })
      for (const { basePosition } of reader.segments().slice(1)) {
        const { kind, state } = startingPoint(reader, basePosition, 'ignore')
        expect(kind).toBe('base')
        expect(new DataView(state.buffer, state.byteOffset).getFloat64(0)).toBe(basePosition)
      }
    })
  })

  it('given it is closed, then the next start begins at a snapshot of its end', async () => {
    await (await write(300, { follower })).close()
    const start = withReader(reader => startingPoint(reader))
    expect(start).toMatchObject({ kind: 'snapshot', position: 300, atUs: sampleRecord(300).atUs })
    await (await write(310, { follower })).close()
    const next = withReader(reader => startingPoint(reader))
    expect(next).toMatchObject({ kind: 'snapshot', position: 310 })
    expect(new DataView(next.state.buffer, next.state.byteOffset).getFloat64(0)).toBe(310)
  })

  it('given records enough, then snapshots are saved on the way and only the newest two are kept', async () => {
    const seen = new Set<number>()
    const last = await writeUntil({ follower: { ...follower, snapshots: { everyRecords: 100, everyUs: Infinity } } }, reader => {
      for (const { position } of reader.snapshots()) seen.add(position)
      return seen.size > 3
    })
    const snapshots = withReader(reader => reader.snapshots().map(each => each.position))
    expect(snapshots.at(-1)).toBe(last)
    expect(snapshots).toHaveLength(2)
  })

  it('given segments beyond what is kept, then whole old segments go and the rest is whole', async () => {
    const options = { follower: { module: FOLLOWER }, segments: { bytesMax: 20_000, ageMaxUs: Infinity }, keep: { bytes: 60_000 } }
    const last = await writeUntil(options, reader => (reader.segments()[0]?.basePosition ?? 0) > 0)
    withReader(reader => {
      expect(runToEnd(verify(reader)).lastPosition).toBe(last)
    })
  })

  /** A record to which the follower comes to another answer. */
  const divergent = (): Record => {
    const arrival = sampleRecord(1)
    const input = arrival.input?.input
    if (input?.kind === 'requestReceived') input.value.model = 'divergent'
    return arrival
  }

  it('given the follower comes to another answer, then the engine is told where', async () => {
    const divergence = event<[number, string]>()
    const writer = await open({ follower, events: { onDivergence: divergence.fire } })
    writer.append(divergent())
    expect(await divergence.fired).toEqual([1, 'another endpoint'])
  })

  it.runIf(process.platform === 'linux')('given the follower runs, then it gives way to the threads that somebody waits for', async () => {
    const divergence = event<[number, string]>()
    const writer = await open({ follower, events: { onDivergence: divergence.fire } })
    writer.append(divergent())
    await divergence.fired
    const priorities = readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))
    expect(priorities).toContain(getPriority() + constants.priority.PRIORITY_BELOW_NORMAL)
  })

  it('given the follower fails, then the engine is told and writing goes on', async () => {
    const failed = event<[string]>()
    const writer = await open({ follower: { module: FOLLOWER, options: { failAt: 5 } }, events: { onFollowerFailed: failed.fire } })
    for (const record of sampleRecords(1, 10)) writer.append(record)
    expect((await failed.fired)[0]).toContain('made to fail')
    for (const record of sampleRecords(11, 20)) writer.append(record)
    expect(await writer.close()).toBe(0)
    expect(withReader(reader => reader.lastPosition())).toBe(20)
  })

  it('given a follower that cannot be loaded, then the engine is told', async () => {
    const failed = event<[string]>()
    await open({ follower: { module: new URL('./store-contract-missing.ts', import.meta.url) }, events: { onFollowerFailed: failed.fire } })
    expect((await failed.fired)[0]).toContain('store-contract-missing')
  })
})
