import { Worker } from 'node:worker_threads'
import { NatsLink } from '../../adapters/nats/connection.ts'
import type { StoreOptions } from '../../adapters/nats/journal/store-worker.ts'
import { StreamJournal } from '../../adapters/nats/journal/stream-journal.ts'
import { ReplicaClaim } from '../../adapters/nats/replica-claim.ts'
import { endOf } from '../../adapters/sqlite/journal-end.ts'
import { SqliteJournalStore } from '../../adapters/sqlite/journal-store.ts'
import type { SignalboxSettings } from '../../config/signalbox/settings.ts'
import { SignalboxError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { millis } from '../../core/instant.ts'
import { appendRecord, JournalError, openBase, openBatch, recordsOf, RequestIndexSection, sealBatch } from '../../journal/index.ts'
import type { SealedBatch, SegmentInfo } from '../../journal/index.ts'
import type { JournalEvents, JournalLink } from '../../journal/port.ts'
import { Writer } from '../../wire/index.ts'
import type { Batch } from '../../wire/index.ts'
import type { OpenedJournal } from '../journal.ts'
import { namesOf, natsOptions } from './options.ts'
import type { FromShipper, ShipperData, ToShipper } from './shipper-protocol.ts'

/** How the journal of these settings is found in JetStream. */
const storeOptions = (settings: SignalboxSettings): StoreOptions => ({
  nats: natsOptions(settings, `signalbox journal ${settings.pool} ${settings.replica}`),
  prefix: namesOf(settings).prefix,
  pool: settings.pool,
  replica: settings.replica,
  streamReplicas: settings.natsStreamReplicas,
})

/**
 * Brings the file up to what JetStream holds of this replica's journal: on a machine that never ran it, or whose disk is
 * gone. A server that cannot be reached is no hindrance where there is a file with records.
 * @throws SignalboxError nats-connect; JournalError where file and stream tell of different runs
 */
const fetchJournal = async (settings: SignalboxSettings, warn: (message: string) => void): Promise<void> => {
  const local = SqliteJournalStore.own(settings.journalPath, 'commit', Date.now() * 1000)
  let link: NatsLink | undefined
  try {
    const { nats, replica, streamReplicas } = storeOptions(settings)
    try {
      link = await NatsLink.open(nats)
    } catch (error) {
      if (local.segments().length === 0) throw error
      warn(`the journal in JetStream cannot be looked at, the file is taken as it is: ${error instanceof Error ? error.message : String(error)}`)
      return
    }
    const names = namesOf(settings)
    // Before anything is written in its name: the writer that is there must not be fenced off by one that may not start.
    await new ReplicaClaim({ link, names, replica, runId: '', streamReplicas, taken: () => undefined, failed: () => undefined }).check()
    const remote = await StreamJournal.open({ link, names, replica, streamReplicas })
    await copyJournal(remote, local)
    remote.close()
  } finally {
    await link?.close()
    local.close()
  }
}

/** Copies what the stream has and the file has not, checked along the chain. */
const copyJournal = async (from: StreamJournal, to: SqliteJournalStore): Promise<void> => {
  const newest = (await from.segments()).at(-1)
  if (newest === undefined) return
  if (to.segments().length === 0) await copyBase(from, to, newest)
  const have = to.lastPosition()
  if ((await from.lastPosition()) <= have) return
  if (have < newest.basePosition) throw new JournalError('journal-gap', `the file ends at ${have}; delete it to begin at ${newest.basePosition} as JetStream has it`, have)
  let seal = endOf(to, have)
  let sequence = await from.sequenceAfter(have)
  for (let page = await from.page(sequence); page.length > 0; page = await from.page(sequence)) {
    for (const { bytes } of page) seal = append(to, bytes, seal)
    sequence += page.length
  }
}

const append = (to: SqliteJournalStore, bytes: Uint8Array, seal: bigint): bigint => {
  const batch = openBatch(bytes)
  const position = to.lastPosition()
  if (batch === undefined || batch.firstPosition > position + 1) {
    throw new JournalError('journal-broken-chain', `what JetStream holds after position ${position} was changed or cut`, position)
  }
  const sealed = resealed(batch, bytes, position, seal)
  to.append([sealed])
  return sealed.seal
}

/** A batch as it is where it follows, else its records after `position` in one that does. */
const resealed = (batch: Batch, bytes: Uint8Array, position: number, seal: bigint): SealedBatch => {
  const writer = new Writer()
  const index = new RequestIndexSection()
  let count = 0
  let atUs = 0
  for (const record of recordsOf(batch)) {
    if (record.position <= position) continue
    appendRecord(record, writer)
    index.add(record)
    count += 1
    atUs = record.atUs
  }
  if (batch.previousHash === seal && batch.firstPosition === position + 1) {
    return { firstPosition: batch.firstPosition, count, atUs, bytes, seal: batch.seal, index: index.take() }
  }
  return sealBatch({ firstPosition: position + 1, count, records: writer.finish() }, seal, atUs, index.take())
}

const copyBase = async (from: StreamJournal, to: SqliteJournalStore, { basePosition: position, declaresMissing }: SegmentInfo): Promise<void> => {
  const bytes = await from.base(position)
  const base = bytes === undefined ? undefined : openBase(bytes)
  if (bytes === undefined || base === undefined) throw new JournalError('journal-broken-chain', `the base at ${position} in JetStream was changed or lost`, position)
  to.openSegment({ position, atUs: base.atUs, seal: base.seal, bytes }, declaresMissing)
}

/** Opens the file for writing and brings an engine to its end; what `openJournal` does for the sqlite journal. */
export type OpenLocal = (events: JournalEvents) => Promise<OpenedJournal>

/**
 * A journal in JetStream: written to the file first, which is the spool, and carried on from there by a thread of its
 * own. With durability `commit` a record counts as written when JetStream has acknowledged it; while the server is away,
 * when the file holds it, if the engine is to go on.
 */
export const openNatsJournal = async (settings: SignalboxSettings, events: JournalEvents, openLocal: OpenLocal): Promise<OpenedJournal> => {
  await fetchJournal(settings, (reason) => events.onWriteFailed?.(reason))
  const carried = new CarriedJournal(settings, events)
  const local = await openLocal(carried.localEvents())
  carried.start()
  return {
    engine: local.engine,
    lastAt: local.lastAt,
    link: carried.link(local.link),
    close: async () => {
      carried.closing = true
      const unwritten = await local.close()
      const behind = await carried.close()
      return Math.max(unwritten, behind)
    },
  }
}

/** The engine's end of the thread that carries the journal. */
class CarriedJournal {
  private readonly settings: SignalboxSettings
  private readonly events: JournalEvents
  private worker: Worker | undefined
  private written = 0
  private shipped = 0
  private isAway = false
  /** The engine is done: what becomes of the stream is nobody's business any more. */
  closing = false
  private acknowledged = 0
  private closed: ((behind: number) => void) | undefined

  constructor(settings: SignalboxSettings, events: JournalEvents) {
    this.settings = settings
    this.events = events
  }

  localEvents(): JournalEvents {
    return {
      ...this.events,
      onAck: (position) => {
        this.written = position
        this.tell({ type: 'written', position })
        this.acknowledge()
      },
    }
  }

  link(local: JournalLink): JournalLink {
    const acknowledged = (): number => Math.max(this.acknowledged, Math.min(local.acknowledgedPosition, this.reached()))
    return {
      get lastPosition() {
        return local.lastPosition
      },
      get acknowledgedPosition() {
        return acknowledged()
      },
      append: (record) => local.append(record),
      canAccept: () => local.canAccept(),
      lag: () => {
        const { ageMs } = local.lag()
        return { records: local.lastPosition - Math.min(this.shipped, local.acknowledgedPosition), ageMs }
      },
    }
  }

  start(): void {
    const { journalPath: path, journalKeep } = this.settings
    const data: ShipperData = { path, store: storeOptions(this.settings), keep: { ageUs: millis(journalKeep.ms), bytes: journalKeep.bytes } }
    const worker = new Worker(new URL('./shipper-worker.ts', import.meta.url), { workerData: data })
    worker.on('message', (message: FromShipper) => this.hear(message))
    worker.on('error', (error) => this.fail(String(error)))
    this.worker = worker
  }

  /** Carries what is left if the server can be reached; gives how many records it could not. They stay in the file. */
  async close(): Promise<number> {
    const behind = await new Promise<number>((resolve) => {
      this.closed = resolve
      if (this.worker === undefined) resolve(0)
      else this.tell({ type: 'close' })
    })
    await this.worker?.terminate()
    return behind
  }

  private hear(message: FromShipper): void {
    switch (message.type) {
      case 'shipped':
        this.shipped = message.position
        this.acknowledge()
        return
      case 'away':
        this.isAway = true
        if (!this.closing) this.events.onWriteFailed?.(`JetStream: ${message.reason}; the journal goes on in ${this.settings.journalPath}`)
        this.acknowledge()
        return
      case 'live':
        this.isAway = false
        if (!this.closing) this.events.onWriteSucceeded?.(undefined)
        return
      case 'refused':
        this.isAway = true
        this.events.onStopped?.(new SignalboxError(message.code as ErrorCode, message.message).toString())
        this.acknowledge()
        this.closed?.(this.written - this.shipped)
        this.worker = undefined
        return
      case 'closed':
        // The file keeps what JetStream has not: nothing is lost, so nothing is said to be.
        this.closed?.(0)
    }
  }

  private fail(reason: string): void {
    this.worker = undefined
    this.isAway = true
    this.events.onWriteFailed?.(reason)
    this.acknowledge()
    this.closed?.(0)
  }

  /** How far the journal is as safe as the durability says. */
  private reached(): number {
    const goesOn = this.isAway && this.settings.onJournalFailure === 'continue'
    return this.settings.durability === 'async' || goesOn ? this.written : Math.min(this.written, this.shipped)
  }

  private acknowledge(): void {
    const position = this.reached()
    if (position <= this.acknowledged) return
    this.acknowledged = position
    this.events.onAck?.(position)
  }

  private tell(message: ToShipper): void {
    this.worker?.postMessage(message)
  }
}
