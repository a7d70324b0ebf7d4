/**
 * What the journal costs: encoding on the engine's thread, appending through the writer's thread, the file's bytes,
 * reading back, and finding one request among many.
 * `node test/bench/journal/journal.ts`
 */

import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { IndexSearch, IndexWriter } from '../../../src/adapters/sqlite/index-table.ts'
import { JournalWriter } from '../../../src/adapters/sqlite/journal-writer.ts'
import { openJournal } from '../../../src/adapters/sqlite/open-journal.ts'
import { TABLES } from '../../../src/adapters/sqlite/tables.ts'
import { appendRecord, arrivalsOf, readRecord, readRecords, RequestIndexSection, verify } from '../../../src/journal/index.ts'
import type { Durability } from '../../../src/journal/index.ts'
import { decodeRecord, encodeRecord, fromBytes, toBytes, Writer } from '../../../src/wire/index.ts'
import { RECORDS_PER_REQUEST, requestIdOf, sampleRecord } from '../../unit/journal/sample-records.ts'
import { median, microseconds, report } from '../harness.ts'

/** Block keys of a prompt of 8,000 tokens in blocks of 64. */
const BLOCK_KEY_BYTES = 1000
const RECORDS = 200_000
const TURN_RECORDS = 64
const PACED_RECORDS = 20_000
const PACED_MS = 5000
const INDEXED_RECORDS = 10_000_000

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))

function codec(): void {
  const writer = new Writer(1 << 20)
  const index = new RequestIndexSection()
  for (const [name, position] of [['an arrival with its decision', 1], ['a small record', 2]] as const) {
    const record = sampleRecord(position, BLOCK_KEY_BYTES)
    const bytes = toBytes(encodeRecord, record)
    report(name, [
      { name: 'size', value: bytes.length, unit: 'B' },
      { name: 'append, with its index', value: microseconds(50_000, () => {
        appendRecord(record, writer)
        index.add(record)
        if (writer.length > 900_000) {
          writer.finish()
          index.take()
        }
      }), unit: 'µs', goal: position === 1 ? 10 : 1 },
      { name: 'decode', value: microseconds(50_000, () => fromBytes(decodeRecord, bytes)), unit: 'µs' },
    ])
  }
}

async function append(durability: Durability): Promise<string> {
  const path = join(folder, `${durability}.sqlite`)
  const records = Array.from({ length: RECORDS }, (_, index) => sampleRecord(index + 1, BLOCK_KEY_BYTES))
  let room: (() => void) | undefined
  const appended: number[] = []
  const waits: number[] = []
  const journal = await JournalWriter.open({
    path, durability,
    events: {
      onRoom: () => room?.(),
      onAck: position => {
        const sentAt = appended[position]
        if (sentAt !== undefined) waits.push(performance.now() - sentAt)
      },
    },
  })
  const begun = performance.now()
  const before = process.threadCpuUsage()
  for (let at = 0; at < RECORDS; at += TURN_RECORDS) {
    for (const record of records.slice(at, at + TURN_RECORDS)) journal.append(record)
    appended[journal.lastPosition] = performance.now()
    if (journal.canAccept()) await new Promise(resolve => setImmediate(resolve))
    else await new Promise<void>(resolve => {
      room = resolve
    })
  }
  const { user, system } = process.threadCpuUsage(before)
  await journal.close()
  const seconds = (performance.now() - begun) / 1000
  const bytes = statSync(path).size
  report(`${RECORDS} records, durability ${durability}`, [
    { name: 'appended', value: RECORDS / seconds, unit: 'records/s', goal: 100_000, atLeast: true },
    { name: 'engine thread', value: (user + system) / RECORDS, unit: 'µs a record' },
    { name: 'acknowledged after, median', value: median(waits), unit: 'ms' },
    { name: 'file', value: bytes / RECORDS, unit: 'B a record' },
    { name: 'file', value: (bytes * RECORDS_PER_REQUEST) / RECORDS, unit: 'B a request' },
  ])
  return path
}

/** Records that come steadily, as from an engine that is not at its limit: what an answer under `commit` waits for. */
async function paced(durability: Durability, perSecond: number): Promise<void> {
  const sent: { readonly position: number; readonly at: number }[] = []
  const waits: number[] = []
  const onAck = (position: number): void => {
    const now = performance.now()
    while ((sent[0]?.position ?? Infinity) <= position) waits.push(now - (sent.shift()?.at ?? now))
  }
  const journal = await JournalWriter.open({ path: join(folder, `paced-${durability}.sqlite`), durability, events: { onAck } })
  const begun = performance.now()
  for (;;) {
    const now = performance.now()
    if (now - begun > PACED_MS) break
    while (journal.lastPosition < ((now - begun) * perSecond) / 1000) journal.append(sampleRecord(journal.lastPosition + 1, BLOCK_KEY_BYTES))
    if ((sent.at(-1)?.position ?? 0) < journal.lastPosition) sent.push({ position: journal.lastPosition, at: now })
    await new Promise(resolve => setTimeout(resolve, 1))
  }
  await journal.close()
  const sorted = waits.sort((a, b) => a - b)
  report(`${perSecond} records/s, durability ${durability}`, [
    { name: 'acknowledged after, median', value: sorted[Math.floor(sorted.length / 2)] ?? 0, unit: 'ms', goal: 1 },
    { name: 'acknowledged after, 99 of 100', value: sorted[Math.floor(sorted.length * 0.99)] ?? 0, unit: 'ms', goal: 10 },
    { name: 'acknowledged after, longest', value: sorted.at(-1) ?? 0, unit: 'ms', goal: 50 },
  ])
}

function readBack(path: string): void {
  const reader = openJournal(path)
  const timed = (work: () => void): number => {
    const begun = performance.now()
    work()
    return (performance.now() - begun) / 1000
  }
  const reading = timed(() => {
    for (const record of readRecords(reader, 1)) if (record.position > RECORDS) throw new Error('too many records')
  })
  const verifying = timed(() => {
    for (const _ of verify(reader));
  })
  const finding = timed(() => {
    const [arrival = 0] = arrivalsOf(reader, requestIdOf(100_001))
    for (const position of reader.recordsOf(arrival)) readRecord(reader, position)
  })
  reader.close()
  report('reading back', [
    { name: 'records, decoded and checked', value: RECORDS / reading, unit: 'records/s' },
    { name: 'verify', value: RECORDS / verifying, unit: 'records/s' },
    { name: 'all records of one request', value: finding * 1000, unit: 'ms' },
  ])
}

/** The index alone, of as many records as would take minutes to write whole. */
function search(): void {
  const path = join(folder, 'index.sqlite')
  const database = new DatabaseSync(path)
  database.exec(`PRAGMA journal_mode = WAL; ${TABLES}`)
  const writer = new IndexWriter(database)
  const section = new RequestIndexSection()
  database.exec('BEGIN')
  for (let position = 1; position <= INDEXED_RECORDS; position++) {
    section.add(sampleRecord(position))
    if (position % TURN_RECORDS === 0) writer.add(position - TURN_RECORDS + 1, position, section.take())
  }
  database.exec('COMMIT; PRAGMA wal_checkpoint(TRUNCATE)')
  const index = new IndexSearch(database)
  const middle = INDEXED_RECORDS / 2 + 1
  const begun = performance.now()
  if (!index.arrivalsOf(requestIdOf(middle), 1).includes(middle)) throw new Error('the arrival was not found')
  const found = performance.now()
  if (index.recordsOf(middle).length !== RECORDS_PER_REQUEST) throw new Error('the records were not found')
  const done = performance.now()
  database.close()
  report(`the request index of ${INDEXED_RECORDS} records`, [
    { name: 'size', value: (statSync(path).size * RECORDS_PER_REQUEST) / INDEXED_RECORDS, unit: 'B a request' },
    { name: 'find an id', value: found - begun, unit: 'ms', goal: 700 },
    { name: 'find its records', value: done - found, unit: 'ms', goal: 300 },
  ])
}

try {
  codec()
  readBack(await append('async'))
  await append('commit')
  await paced('async', PACED_RECORDS)
  await paced('commit', PACED_RECORDS)
  search()
} finally {
  rmSync(folder, { recursive: true })
}
