import { JournalWriter } from '../../../src/adapters/sqlite/journal-writer.ts'
import type { Durability } from '../../../src/journal/index.ts'
import { sampleRecord } from '../../unit/journal/sample-records.ts'

// A process that writes a journal as fast as it may and prints each position that was acknowledged, until it is killed.
const [path = '', durability = 'async'] = process.argv.slice(2)
let room: (() => void) | undefined
const journal = await JournalWriter.open({
  path,
  durability: durability as Durability,
  segments: { bytesMax: 200_000, ageMaxUs: Infinity },
  follower: { module: new URL('./counting-follower.ts', import.meta.url), options: { stateBytes: 400_000 }, snapshots: { everyRecords: 500, everyUs: Infinity } },
  events: { onAck: position => process.stdout.write(`${position}\n`), onRoom: () => room?.() },
})
process.stdout.write(`${journal.lastPosition}\n`)
for (;;) {
  for (let count = 0; count < 20; count++) journal.append(sampleRecord(journal.lastPosition + 1))
  if (journal.canAccept()) await new Promise(resolve => setImmediate(resolve))
  else await new Promise<void>(resolve => {
    room = resolve
  })
}
