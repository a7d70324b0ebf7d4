import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { SqliteJournalStore } from '../../../src/adapters/sqlite/journal-store.ts'
import { openJournalAt } from '../../../src/app/journal-place.ts'
import { replayInThreads } from '../../../src/app/replay-threads.ts'
import { engineOptions, finish, replayJournal } from '../../../src/replay/index.ts'
import type { Replayed } from '../../../src/replay/index.ts'
import type { Record as JournalRecord } from '../../../src/wire/index.ts'
import { disaggregated } from '../../story/configuration.ts'
import { ended, joined, prompt, received, sent, started } from '../../story/inputs.ts'
import { fillJournal } from '../../story/journal.ts'
import { temporaryFolder } from '../../story/server.ts'
import { World } from '../../story/world.ts'

const recorded = (): JournalRecord[] => {
  const world = new World(disaggregated(512)).take(joined('a', 'decode'), joined('b', 'decode'), joined('p', 'prefill'))
  for (let i = 0; i < 60; i += 1) {
    const { key } = world.request(received(`r-${i}`, { shape: { tokenized: true, prompts: [prompt(64 * i)], problem: '' } }))
    world.take(sent(key), started(key), ended(key))
  }
  return structuredClone(world.records)
}

/** The record at or after a position that decides something. */
const decisive = (records: readonly JournalRecord[], position: number): JournalRecord => {
  const found = records.find((record) => record.position >= position && record.decisions.length > 0)
  if (found === undefined) throw new Error('no record decides anything')
  return found
}

const divert = (record: JournalRecord): void => {
  const pick = record.decisions[0]?.profiles[0]?.picks[0]
  if (pick !== undefined) pick.endpoint = 'default/z'
}

describe('a replay in threads', () => {
  let folder = temporaryFolder()
  let path = ''
  beforeEach(() => {
    folder = temporaryFolder()
    path = join(folder.path, 'journal.sqlite')
  })
  afterEach(() => folder.remove())

  /** A journal of eight segments; `damagedAt` is the position from which on a batch's bytes are not those that were sealed. */
  const write = (records: readonly JournalRecord[], damagedAt = Infinity): void => {
    const store = SqliteJournalStore.own(path, 'async', 1)
    const { append } = store
    let isDamaged = false
    store.append = (batches) => append.call(store, batches.map((batch) => {
      if (isDamaged || batch.firstPosition < damagedAt) return batch
      isDamaged = true
      return { ...batch, bytes: batch.bytes.map((byte, at) => (at === 40 ? byte ^ 1 : byte)) }
    }))
    fillJournal(store, records, { batch: 8, baseEvery: 32 })
    store.close()
  }

  /** Threads open the journal at `place`. */
  const inThreads = async (progress: (records: number) => void = () => undefined, place: string = path, plugins: readonly string[] = []): Promise<Replayed> => {
    const reader = openJournalAt(path)
    try {
      return await replayInThreads({ place, access: {}, interpreter: 'table', plugins, threads: 2, partRecords: 20, progress }, reader, {})
    } finally {
      reader.close()
    }
  }

  const inOne = (): Replayed => {
    const reader = openJournalAt(path)
    try {
      return finish(replayJournal(engineOptions(), reader))
    } finally {
      reader.close()
    }
  }

  it('given a whole journal, then it comes to the same as one replay, and tells how far it is', async () => {
    const records = recorded()
    write(records)
    const told: number[] = []
    const result = await inThreads((done) => void told.push(done))
    expect(result).toEqual(inOne())
    expect(result).toMatchObject({ records: records.length, divergence: undefined })
    expect(result.basesCompared).toBeGreaterThan(4)
    expect(told.at(-1)).toBe(records.length)
    expect(told).toEqual([...told].sort((a, b) => a - b))
  })

  it('given two records that come out otherwise in different parts and damage after them, then the first is told, with the records up to it', async () => {
    const records = recorded()
    const first = decisive(records, 100)
    divert(first)
    divert(decisive(records, 150))
    write(records, 200)
    const result = await inThreads()
    expect(result).toEqual(inOne())
    expect(result).toMatchObject({ to: first.position, divergence: { position: first.position } })
  })

  it('given damage, then the same error', async () => {
    write(recorded(), 150)
    const told = (error: unknown): unknown => ({ ...(error as object), message: (error as Error).message })
    const one = await Promise.resolve().then(() => inOne()).catch(told)
    expect(one).toMatchObject({ code: 'journal-broken-chain' })
    expect(await inThreads().catch(told)).toEqual(one)
  })

  it('given threads that cannot open the journal, then it is replayed without them', async () => {
    write(recorded())
    expect(await inThreads(undefined, join(folder.path, 'none'))).toEqual(inOne())
  })

  it('given a plugin that ends its thread without an error, then it is replayed without threads', async () => {
    write(recorded())
    const plugin = join(folder.path, 'plugin.mjs')
    writeFileSync(plugin, "import { workerData } from 'node:worker_threads'\nif (workerData?.place !== undefined) process.exit(0)\nexport const pluginTypes = []\n")
    expect(await inThreads(undefined, path, [plugin])).toEqual(inOne())
  })
})
