import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { sealBase, sealSnapshot } from '../../../src/journal/index.ts'
import { encodeState } from '../../../src/replay/engine-at.ts'
import type { Input } from '../../../src/wire/input.ts'
import type { Record as JournalRecord } from '../../../src/wire/journal.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, progressed, sent, started } from '../../story/inputs.ts'
import { World } from '../../story/world.ts'
import { JournalFiller } from '../../unit/journal/sealed-journal.ts'
import { joinFleet } from './fleets.ts'
import { arrival } from './prompts.ts'

/** Records in one batch: what a busy engine brings together in a turn of the event loop. */
const BATCH = 256

export interface JournalPlan {
  readonly path: string
  readonly endpoints: number
  readonly records: number
  /** Records between snapshots. */
  readonly snapshotEvery: number
  /** Records between bases; without it there is none but at the end. */
  readonly baseEvery?: number
}

/** A journal of whole requests under pd-epp-config, five records each, as a live engine would have written it. */
export const writeJournal = ({ path, endpoints, records, snapshotEvery, baseEvery = Infinity }: JournalPlan): void => {
  const filler = new JournalFiller(SqliteJournalStore.own(path, 'async', 1))
  const world = new World(disaggregated(512))
  joinFleet(world, endpoints)
  let batch: JournalRecord[] = world.records.splice(0)
  let snapshotAt = snapshotEvery
  let baseAt = baseEvery
  const take = (input: Input): number => {
    const { record } = world.step(input)
    batch.push(record)
    return record.position
  }
  for (let i = 0; world.engine.position < records; i += 1) {
    const key = take(arrival(i))
    for (const input of [sent(key), started(key), progressed(key, 10), ended(key)]) take(input)
    world.records.length = 0
    world.effects.length = 0
    if (batch.length < BATCH) continue
    filler.append(batch)
    batch = []
    if (world.engine.position >= baseAt) {
      baseAt += baseEvery
      filler.store.openSegment(sealBase(encodeState(world.engine), filler.seal))
    }
    if (world.engine.position < snapshotAt) continue
    snapshotAt += snapshotEvery
    filler.store.putSnapshot(sealSnapshot(encodeState(world.engine)))
  }
  if (batch.length > 0) filler.append(batch)
  // The base at the end lets a replay compare the state that it reached.
  filler.store.openSegment(sealBase(encodeState(world.engine), filler.seal))
  filler.store.close()
}
