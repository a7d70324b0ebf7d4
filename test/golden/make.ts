/** Writes the golden journals anew: `node test/golden/make.ts`. Say in the commit why decisions changed. */
import { writeFileSync } from 'node:fs'
import { fileParts, sliceOf } from '../../src/journal/index.ts'
import { journalOf } from '../story/journal.ts'
import { stories } from './stories.ts'

for (const [name, play] of Object.entries(stories)) {
  const journal = journalOf(play().records, { batch: 16, baseEvery: 256 })
  const parts = [...fileParts(journal, sliceOf(journal, 1, journal.lastPosition()))]
  const bytes = Buffer.concat(parts)
  writeFileSync(new URL(`./${name}.sbj`, import.meta.url), bytes)
  if (name !== 'ties') continue
  // A copy with one bit of a record's bytes flipped: it must be refused.
  const corrupted = Buffer.from(bytes)
  const middle = corrupted.length >> 1
  corrupted[middle] = (corrupted[middle] ?? 0) ^ 1
  writeFileSync(new URL('./corrupted.sbj', import.meta.url), corrupted)
}
