/**
 * The journal in JetStream: records stored in batches, acknowledgement at an open load, verified reading.
 *
 * `node test/bench/nats/journal.ts`: starts a nats-server of its own, which shares the machine.
 */
import { performance } from 'node:perf_hooks'
import { NatsJournalStore } from '../../../src/adapters/nats/journal/journal-store.ts'
import { StreamJournal } from '../../../src/adapters/nats/journal/stream-journal.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import { emptyJournalBase, lastPositionOf, verify } from '../../../src/journal/index.ts'
import type { SealedBatch } from '../../../src/journal/index.ts'
import { NatsServer } from '../../integration/nats/nats-server.ts'
import { sampleRecords } from '../../unit/journal/sample-records.ts'
import { batchOf, runToEnd } from '../../unit/journal/sealed-journal.ts'
import { median, report } from '../harness.ts'

const RECORDS = 500_000
const PER_BATCH = 500
const LOAD_PER_S = 10_000
const LOAD_MS = 5000
const ROUND_MS = 2

const server = await NatsServer.start()
const link = await server.link()
const options = { link, names: new Names('signalbox.v1', 'bench'), streamReplicas: 1 }

/** Batches of `size` records, chained from the base of an empty journal. */
const chained = (records: number, size: number): SealedBatch[] => {
  const batches: SealedBatch[] = []
  let seal = emptyJournalBase().seal
  for (let first = 1; first <= records; first += size) {
    const batch = batchOf(sampleRecords(first, Math.min(records, first + size - 1)), seal)
    batches.push(batch)
    seal = batch.seal
  }
  return batches
}

const journalOf = async (replica: string): Promise<StreamJournal> => {
  const journal = await StreamJournal.open({ ...options, replica })
  await journal.openSegment(emptyJournalBase())
  return journal
}

const stored = await journalOf('throughput')
const batches = chained(RECORDS, PER_BATCH)
const since = performance.now()
await stored.append(batches)
const perSecond = (RECORDS / (performance.now() - since)) * 1000

const open = await journalOf('open-load')
const rounds = chained((LOAD_PER_S * LOAD_MS) / 1000, (LOAD_PER_S * ROUND_MS) / 1000)
/** Waits of each second. */
const waits: number[][] = Array.from({ length: LOAD_MS / 1000 }, () => [])
const begin = performance.now()
let came: { readonly batch: SealedBatch; readonly due: number }[] = []
let under: Promise<void> | undefined
/** As the engine does: what came while a commit was under way goes with the next. */
const commit = async (): Promise<void> => {
  while (came.length > 0) {
    const taken = came
    came = []
    await open.append(taken.map(({ batch }) => batch))
    const now = performance.now()
    for (const { due } of taken) waits[Math.floor((due - begin) / 1000)]?.push(now - due)
  }
  under = undefined
}
for (const [index, batch] of rounds.entries()) {
  const due = begin + index * ROUND_MS
  while (performance.now() < due) await new Promise((resolve) => setTimeout(resolve, 1))
  came.push({ batch, due })
  under ??= commit()
}
await under
const shareOf = (share: number): number => median(waits.map((each) => each.sort((a, b) => a - b)[Math.floor(each.length * share)] ?? NaN))

const reader = NatsJournalStore.open({ nats: { servers: server.url, name: 'bench' }, prefix: 'signalbox.v1', pool: 'bench', replica: 'throughput', streamReplicas: 1 })
const readSince = performance.now()
const { records } = runToEnd(verify(reader))
const readPerSecond = (records / (performance.now() - readSince)) * 1000
reader.close()

report(`JetStream journal, ${PER_BATCH} records a batch, ${Math.round((batches[0]?.bytes.length ?? 0) / PER_BATCH)} B a record, up to ${lastPositionOf(batches.at(-1) as SealedBatch)}`, [
  { name: 'stored', value: perSecond, unit: 'records/s', goal: 200_000, atLeast: true },
  { name: `acknowledged at ${LOAD_PER_S} records/s, p50, median of ${waits.length} s`, value: shareOf(0.5), unit: 'ms' },
  { name: `acknowledged at ${LOAD_PER_S} records/s, p99, median of ${waits.length} s`, value: shareOf(0.99), unit: 'ms', goal: 10 },
  { name: 'read and verified', value: readPerSecond, unit: 'records/s', goal: 150_000, atLeast: true },
])
await server.stop()
