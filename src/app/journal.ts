import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { JournalWriter } from '../adapters/sqlite/journal-writer.ts'
import { SqliteJournalReader } from '../adapters/sqlite/journal-reader.ts'
import type { SignalboxSettings } from '../config/signalbox/settings.ts'
import { Engine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { JournalEvents, JournalLink } from '../journal/port.ts'
import { finish, recover } from '../replay/index.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import { openNatsJournal } from './nats/journal.ts'

/** A journal that is open for writing, and the engine that it leads to. */
export interface OpenedJournal {
  readonly link: JournalLink
  readonly engine: Engine
  /** No later turn may be before it, in microseconds since the Unix epoch. */
  readonly lastAt: number
  close(): Promise<number>
}

/** Opens the journal that the settings name and brings an engine to its end. */
export const openJournal = async (settings: SignalboxSettings, options: EngineOptions, plugins: readonly string[], events: JournalEvents): Promise<OpenedJournal> => {
  if (settings.journal === 'memory') return inMemory(options)
  mkdirSync(dirname(settings.journalPath), { recursive: true })
  if (settings.journal === 'nats') return openNatsJournal(settings, events, (own) => openFile(settings, options, plugins, own))
  return openFile(settings, options, plugins, events)
}

const openFile = async (settings: SignalboxSettings, options: EngineOptions, plugins: readonly string[], events: JournalEvents): Promise<OpenedJournal> => {
  const writer = await JournalWriter.open({
    path: settings.journalPath,
    durability: settings.durability,
    onFailure: settings.onJournalFailure,
    keep: settings.journalKeep,
    events,
    follower: {
      module: followerModule(),
      options: { plugins },
      ...(settings.snapshotEvery === 0 ? {} : { snapshots: { everyRecords: settings.snapshotEvery, everyUs: SNAPSHOT_EVERY_US } }),
    },
  })
  const reader = SqliteJournalReader.open(settings.journalPath)
  try {
    const { engine } = finish(recover(options, reader))
    return { link: writer, engine, lastAt: writer.lastAtUs, close: () => writer.close() }
  } finally {
    reader.close()
  }
}

/** However few records there were, a snapshot is this old at most. */
const SNAPSHOT_EVERY_US = 300_000_000

const followerModule = (): URL => new URL('./follower.ts', import.meta.url)

/** No journal: records are numbered and forgotten. For trying things out, and for tests of what is above. */
const inMemory = (options: EngineOptions): OpenedJournal => {
  let last = 0
  const link: JournalLink = {
    get lastPosition() {
      return last
    },
    get acknowledgedPosition() {
      return last
    },
    append: (record: JournalRecord) => {
      last = record.position
    },
    canAccept: () => true,
    lag: () => ({ records: 0, ageMs: 0 }),
  }
  return { link, engine: new Engine(options), lastAt: 0, close: () => Promise.resolve(0) }
}
