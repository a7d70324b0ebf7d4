/**
 * What an answer waits for under `--journal nats --durability commit`: records that come steadily, from the engine's thread
 * into the file, from there into JetStream, and back.
 *
 * `node test/bench/nats/commit.ts`: starts a nats-server of its own, which shares the machine.
 */
import { join } from 'node:path'
import { JournalWriter } from '../../../src/adapters/sqlite/journal-writer.ts'
import { load } from '../../../src/app/load.ts'
import { openNatsJournal } from '../../../src/app/nats/journal.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { engineOptions } from '../../../src/replay/index.ts'
import { NatsServer } from '../../integration/nats/nats-server.ts'
import { temporaryFolder } from '../../story/server.ts'
import { sampleRecord } from '../../unit/journal/sample-records.ts'
import { median, report } from '../harness.ts'

const PER_SECOND = 10_000
const LOAD_MS = 5000

const server = await NatsServer.start()
const folder = temporaryFolder()
const flags = new Map(Object.entries({ nats: server.url, pool: 'bench', journal: 'nats', durability: 'commit', 'journal-path': join(folder.path, 'journal.sqlite') }))
const { settings } = await load({ files: [], flags, pluginModules: [], allowExperimental: false, endpoints: undefined })

const sent: { readonly position: number; readonly at: number }[] = []
/** Waits of each second. */
const waits: number[][] = Array.from({ length: LOAD_MS / 1000 }, () => [])
let begun = 0
const onAck = (position: number): void => {
  const now = performance.now()
  for (let first = sent[0]; first !== undefined && first.position <= position; first = sent[0]) {
    waits[Math.floor((first.at - begun) / 1000)]?.push(now - first.at)
    sent.shift()
  }
}
const { link, close } = await openNatsJournal(settings, { onAck }, async (events) => {
  const writer = await JournalWriter.open({ path: settings.journalPath, durability: 'commit', events })
  return { link: writer, engine: new Engine(engineOptions()), lastAt: 0, close: () => writer.close() }
})
// The thread that carries the journal takes a while to begin.
link.append(sampleRecord(1, 200))
while (link.acknowledgedPosition < 1) await new Promise((resolve) => setTimeout(resolve, 10))
begun = performance.now()
for (let now = begun; now - begun < LOAD_MS; now = performance.now()) {
  while (link.lastPosition < ((now - begun) * PER_SECOND) / 1000) link.append(sampleRecord(link.lastPosition + 1, 200))
  if ((sent.at(-1)?.position ?? 0) < link.lastPosition) sent.push({ position: link.lastPosition, at: now })
  await new Promise((resolve) => setTimeout(resolve, 1))
}
await close()
const shareOf = (share: number): number => median(waits.map((each) => each.sort((a, b) => a - b)[Math.floor(each.length * share)] ?? NaN))
report(`${PER_SECOND} records/s into JetStream by way of the file, ${link.lastPosition} in all`, [
  { name: `acknowledged after, p50, median of ${waits.length} s`, value: shareOf(0.5), unit: 'ms' },
  { name: `acknowledged after, p99, median of ${waits.length} s`, value: shareOf(0.99), unit: 'ms', goal: 10 },
])
await server.stop()
folder.remove()
