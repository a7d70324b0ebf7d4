/**
 * A journal replayed out of JetStream: each record fetched, checked along the chain, decided again and compared, as
 * `signalbox replay nats://...` does it. Whole requests under pd-epp-config at 128 endpoints.
 *
 * `node test/bench/nats/replay.ts [--records N]`: starts a nats-server of its own, which shares the machine.
 */
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { StreamJournal } from '../../../src/adapters/nats/journal/stream-journal.ts'
import { Names } from '../../../src/adapters/nats/names.ts'
import { SqliteJournalReader } from '../../../src/adapters/sqlite/journal-reader.ts'
import { openJournalAt } from '../../../src/app/journal-place.ts'
import { Shipping } from '../../../src/app/nats/shipping.ts'
import { replayInThreads } from '../../../src/app/replay-threads.ts'
import { NatsServer } from '../../integration/nats/nats-server.ts'
import { temporaryFolder } from '../../story/server.ts'
import { writeJournal } from '../engine/journals.ts'
import { report } from '../harness.ts'

const { values } = parseArgs({ options: { records: { type: 'string', default: '2000000' } } })
const records = Number(values.records)
const BASE_EVERY = 250_000

const server = await NatsServer.start()
const folder = temporaryFolder()
const path = join(folder.path, 'journal.sqlite')
writeJournal({ path, endpoints: 128, records, snapshotEvery: Infinity, baseEvery: BASE_EVERY })
const source = SqliteJournalReader.open(path)
const target = await StreamJournal.open({ link: await server.link(), names: new Names('signalbox.v1', 'bench'), replica: 'a', streamReplicas: 1 })
const shipping = new Shipping(source, target, {})
await shipping.begin()
while (await shipping.round(() => undefined)) await shipping.carryStates()
target.close()
source.close()

const place = `${server.url}/bench/a`
const reader = openJournalAt(place)
const threads = availableParallelism()
const begun = performance.now()
const { divergence, records: replayed, basesCompared } = await replayInThreads({ place, access: {}, interpreter: 'table', plugins: [], threads, progress: () => undefined }, reader, {})
const rate = (replayed / (performance.now() - begun)) * 1000
reader.close()
if (divergence !== undefined) throw new Error(`the replay diverged: ${JSON.stringify(divergence)}`)
report(`${replayed.toLocaleString('en')} records replayed out of JetStream`, [
  { name: `verified replay as the command does it, in ${threads} threads`, value: rate, unit: 'records/s', goal: 150_000, atLeast: true },
  { name: 'bases whose state was compared', value: basesCompared, unit: '' },
])
await server.stop()
folder.remove()
