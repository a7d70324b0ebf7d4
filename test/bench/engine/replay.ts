/**
 * What doing a journal again costs: a verified replay from SQLite, a recovery from the newest snapshot, and explaining
 * the requests that are furthest from one. The journal holds whole requests under pd-epp-config at 128 endpoints.
 * `node test/bench/engine/replay.ts [--records N] [--interpreter table|xstate]`; with more than 500,000 records in threads too.
 */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { SqliteJournalReader } from '../../../src/adapters/sqlite/journal-reader.ts'
import { replayInThreads } from '../../../src/app/replay-threads.ts'
import { explain, finish, recover, replayJournal } from '../../../src/replay/index.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { report } from '../harness.ts'
import { writeJournal } from './journals.ts'

const { values } = parseArgs({ options: { records: { type: 'string', default: '200000' }, interpreter: { type: 'string', default: 'table' } } })
const RECORDS = Number(values.records)
const ENDPOINTS = 128
/** What `serve` takes unless told otherwise. */
const SNAPSHOT_EVERY = 10_000
/** Records between bases: of a long journal threads take what is between them. */
const BASE_EVERY = 250_000

const folder = mkdtempSync(join(tmpdir(), 'signalbox-bench-'))
const path = join(folder, 'journal.sqlite')
const options = engineOptions([], { interpreter: values.interpreter === 'xstate' ? 'xstate' : 'table', receiptBytes: 1024 * 1024 })

interface Spent<T> {
  readonly result: T
  readonly wallMs: number
  /** Milliseconds that this thread computed: what else runs on the machine does not count. */
  readonly computedMs: number
}

const spent = <T>(work: () => T): Spent<T> => {
  const before = process.threadCpuUsage()
  const begun = performance.now()
  const result = work()
  const wallMs = performance.now() - begun
  const { user, system } = process.threadCpuUsage(before)
  return { result, wallMs, computedMs: (user + system) / 1000 }
}

try {
  writeJournal({ path, endpoints: ENDPOINTS, records: RECORDS, snapshotEvery: SNAPSHOT_EVERY, baseEvery: BASE_EVERY })
  const reader = SqliteJournalReader.open(path)
  const records = reader.lastPosition()
  const replayed = spent(() => finish(replayJournal(options, reader)))
  if (replayed.result.divergence !== undefined) throw new Error(`the replay diverged: ${JSON.stringify(replayed.result.divergence)}`)
  const threads = RECORDS > 2 * BASE_EVERY ? availableParallelism() : 1
  const threadsBegun = performance.now()
  const { divergence } = await replayInThreads({ place: path, access: {}, interpreter: options.interpreter, plugins: [], threads, progress: () => undefined }, reader, {})
  const inThreadsMs = performance.now() - threadsBegun
  if (divergence !== undefined) throw new Error('the replay in threads diverged')
  // As after a crash just before the next snapshot.
  const worst = Math.floor(records / SNAPSHOT_EVERY) * SNAPSHOT_EVERY - 1
  const recovered = spent(() => finish(recover(options, reader, worst)))
  const explained = [records - 10, Math.floor(records / 2), worst - 10].map((position) => {
    const request = [...Array(5).keys()].map((back) => String(position - back))
    return spent(() => {
      for (const each of request) {
        try {
          return explain(options, reader, each)
        } catch {
          // Not the position of an arrival: one of five is.
        }
      }
      throw new Error('none of five records is an arrival')
    })
  })
  report(`A journal of ${records.toLocaleString('en')} records under pd-epp-config at ${ENDPOINTS} endpoints (${values.interpreter})`, [
    { name: 'verified replay', value: (records / replayed.wallMs) * 1000, unit: 'records/s', goal: 150_000, atLeast: true },
    { name: 'verified replay, by the time computed', value: (records / replayed.computedMs) * 1000, unit: 'records/s', goal: 150_000, atLeast: true },
    ...(threads > 1 ? [{ name: `verified replay as the command does it, in ${threads} threads`, value: (records / inThreadsMs) * 1000, unit: 'records/s', goal: 150_000, atLeast: true }] : []),
    { name: 'bases whose state was compared', value: replayed.result.basesCompared, unit: '' },
    { name: `recovery, ${SNAPSHOT_EVERY - 1} records after a snapshot`, value: recovered.wallMs / 1000, unit: 's', goal: 2 },
    { name: 'recovery, time computed', value: recovered.computedMs / 1000, unit: 's', goal: 2 },
    { name: 'explain, the slowest of three requests', value: Math.max(...explained.map(({ wallMs }) => wallMs)) / 1000, unit: 's', goal: 1 },
    { name: 'the newest snapshot', value: (reader.snapshots().at(-1)?.bytes ?? 0) / 1e6, unit: 'MB' },
    { name: 'file, snapshots included', value: statSync(path).size / records, unit: 'B a record' },
  ])
  reader.close()
} finally {
  rmSync(folder, { recursive: true, force: true })
}
