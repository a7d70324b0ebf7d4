import { extname } from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { MessagePort } from 'node:worker_threads'
import { SignalboxError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import type { Durability, JournalEvents, JournalLink, OnJournalFailure } from '../../journal/port.ts'
import { UNACKNOWLEDGED_AGE_MAX_MS, UNACKNOWLEDGED_RECORDS_MAX } from '../../journal/port.ts'
import { appendRecord } from '../../journal/record.ts'
import { RequestIndexSection } from '../../journal/request-index.ts'
import type { Keep } from '../../journal/retention.ts'
import { SEGMENT_RULES } from '../../journal/segment.ts'
import type { SegmentRules } from '../../journal/segment.ts'
import { Writer } from '../../wire/index.ts'
import type { Record } from '../../wire/index.ts'
import { SNAPSHOT_RULES } from './follower-protocol.ts'
import type { FollowerReport, SnapshotRules } from './follower-protocol.ts'
import type { FollowerWorkerData } from './follower-worker.ts'
import { FOLLOWER_AHEAD_BYTES_MAX, SPOOL_BYTES_MAX } from './writer-protocol.ts'
import type { FromWriter, ToWriter } from './writer-protocol.ts'
import type { WriterWorkerData } from './writer-worker.ts'

/** Records go to the writer at the end of the turn of the event loop, or when they are as many bytes. */
const FLUSH_BYTES = 262_144
/** In `async` durability they go at most this often: waking the other threads costs more than the records. */
const FLUSH_EVERY_MS = 5

export interface JournalWriterOptions {
  readonly path: string
  readonly durability?: Durability
  readonly onFailure?: OnJournalFailure
  readonly keep?: Keep
  readonly segments?: SegmentRules
  readonly spoolBytesMax?: number
  /** The module that exports `createFollower`, and what it is given. Without one there are no snapshots and one segment. */
  readonly follower?: { readonly module: URL; readonly options?: unknown; readonly snapshots?: SnapshotRules }
  readonly events?: JournalEvents
}

interface Sent {
  readonly position: number
  readonly sinceMs: number
}

/** The engine's end of a journal in a SQLite file, which threads of its own write and follow. */
export class JournalWriter implements JournalLink {
  private readonly writer: Worker
  private readonly follower: Worker | undefined
  private readonly events: JournalEvents
  private readonly bounded: boolean
  private readonly goesOn: boolean
  private readonly records: Writer = new Writer(FLUSH_BYTES)
  private readonly index: RequestIndexSection = new RequestIndexSection()
  private readonly sent: Sent[] = []
  private first = 0
  private count = 0
  private sinceMs = 0
  private flushedMs = -Infinity
  private atUs = 0
  private last = 0
  private acknowledged = 0
  private flushing = false
  private failing = false
  private waiting = false
  private stopped = false
  private closed: ((unwritten: number) => void) | undefined

  private constructor(options: JournalWriterOptions) {
    const { durability = 'async', onFailure = 'continue', follower } = options
    this.events = options.events ?? {}
    this.bounded = durability === 'async'
    this.goesOn = onFailure === 'continue'
    const channel = new MessageChannel()
    this.writer = thread<WriterWorkerData>('writer-worker', {
      options: {
        path: options.path, durability, onFailure,
        keep: options.keep ?? {},
        segments: options.segments ?? SEGMENT_RULES,
        spoolBytesMax: options.spoolBytesMax ?? SPOOL_BYTES_MAX,
        followerAheadBytesMax: FOLLOWER_AHEAD_BYTES_MAX,
      },
      follower: follower === undefined ? undefined : channel.port1,
    }, follower === undefined ? [] : [channel.port1])
    this.follower = follower === undefined ? undefined : thread<FollowerWorkerData>('follower-worker', {
      module: follower.module.href, options: follower.options, rules: follower.snapshots ?? SNAPSHOT_RULES, port: channel.port2,
    }, [channel.port2])
    this.follower?.on('message', (report: FollowerReport) => this.hearFollower(report))
    this.follower?.on('error', error => this.loseFollower(String(error)))
  }

  /**
   * Opens the journal for writing, and makes it when it is not there.
   * Throws `SignalboxError`: 'journal-locked' when another process writes it, 'journal-write' when it cannot be written.
   */
  static async open(options: JournalWriterOptions): Promise<JournalWriter> {
    const journal = new JournalWriter(options)
    try {
      await journal.opening()
      return journal
    } catch (error) {
      await journal.terminate()
      throw error
    }
  }

  get lastPosition(): number {
    return this.last
  }

  get acknowledgedPosition(): number {
    return this.acknowledged
  }

  /** Time of the last record, in microseconds since the Unix epoch: no record may be before it. */
  get lastAtUs(): number {
    return this.atUs
  }

  append(record: Record): void {
    if (record.position !== this.last + 1) throw new RangeError(`record ${record.position} cannot follow record ${this.last}`)
    if (this.count === 0) {
      this.first = record.position
      this.sinceMs = performance.now()
    }
    appendRecord(record, this.records)
    this.index.add(record)
    this.count += 1
    this.last = record.position
    this.atUs = record.atUs
    if (this.records.length >= FLUSH_BYTES) this.flush()
    else if (!this.flushing) this.flushSoon()
  }

  private flushSoon(): void {
    this.flushing = true
    const flush = (): void => {
      this.flushing = false
      this.flush()
    }
    const waitMs = this.bounded ? this.flushedMs + FLUSH_EVERY_MS - this.sinceMs : 0
    if (waitMs > 0) setTimeout(flush, waitMs)
    else setImmediate(flush)
  }

  /** Sends what was appended to the writer now, not at the end of the turn. */
  flush(): void {
    if (this.count === 0 || this.stopped) return
    const { first: firstPosition, count, atUs } = this
    const chunk = { firstPosition, count, atUs, records: this.records.finish(), index: this.index.take() }
    this.sent.push({ position: this.last, sinceMs: this.sinceMs })
    this.count = 0
    this.flushedMs = performance.now()
    this.tell({ type: 'records', chunk }, [chunk.records.buffer, chunk.index.buffer])
  }

  canAccept(): boolean {
    const room = this.hasRoom()
    if (!room) this.waiting = true
    return room
  }

  lag(): { readonly records: number; readonly ageMs: number } {
    const records = this.last - this.acknowledged
    const since = this.sent[0]?.sinceMs ?? this.sinceMs
    return { records, ageMs: records === 0 ? 0 : performance.now() - since }
  }

  /** Writes what was appended, saves a snapshot, ends the threads. Gives how many records could not be written. */
  async close(): Promise<number> {
    this.flush()
    const unwritten = this.stopped ? this.lag().records : await new Promise<number>(resolve => {
      this.closed = resolve
      this.tell({ type: 'close' })
    })
    await this.terminate()
    return unwritten
  }

  /** Ends the threads at once; what was not acknowledged may be lost. */
  async terminate(): Promise<void> {
    this.stopped = true
    await Promise.all([this.writer.terminate(), this.follower?.terminate()])
  }

  private async opening(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.writer.on('message', (message: FromWriter) => {
        if (message.type === 'opened') {
          this.last = this.acknowledged = message.lastPosition
          this.atUs = message.lastAtUs
          resolve()
        } else if (message.type === 'refused') reject(new SignalboxError(message.code as ErrorCode, message.message))
        else this.hear(message)
      })
      this.writer.on('error', error => {
        reject(error)
        this.stop(String(error))
      })
      this.writer.on('exit', () => this.stop('the thread that writes the journal ended'))
    })
  }

  private hear(message: Exclude<FromWriter, { type: 'opened' | 'refused' }>): void {
    switch (message.type) {
      case 'ack':
        this.acknowledge(message.position)
        return
      case 'write-failed':
        this.failing = true
        this.events.onWriteFailed?.(message.reason)
        this.makeRoom()
        return
      case 'write-succeeded':
        this.failing = false
        this.events.onWriteSucceeded?.(message.missing)
        this.makeRoom()
        return
      case 'stopped':
        this.stop(message.reason)
        return
      case 'closed':
        this.stopped = true
        this.closed?.(message.unwritten)
    }
  }

  private acknowledge(position: number): void {
    this.acknowledged = position
    let done = 0
    while ((this.sent[done]?.position ?? Infinity) <= position) done += 1
    this.sent.splice(0, done)
    this.events.onAck?.(position)
    this.makeRoom()
  }

  private hasRoom(): boolean {
    if (this.failing) return this.goesOn
    if (!this.bounded) return true
    const { records, ageMs } = this.lag()
    return records < UNACKNOWLEDGED_RECORDS_MAX && ageMs < UNACKNOWLEDGED_AGE_MAX_MS
  }

  private makeRoom(): void {
    if (!this.waiting || !this.hasRoom()) return
    this.waiting = false
    this.events.onRoom?.()
  }

  private hearFollower(report: FollowerReport): void {
    if (report.type === 'divergence') this.events.onDivergence?.(report.position, report.message)
    else this.loseFollower(report.message)
  }

  private loseFollower(reason: string): void {
    if (this.stopped) return
    this.tell({ type: 'follower-gone' })
    this.events.onFollowerFailed?.(reason)
  }

  private stop(reason: string): void {
    if (this.stopped) return
    this.stopped = true
    this.events.onStopped?.(reason)
    this.closed?.(this.lag().records)
  }

  private tell(message: ToWriter, transfer: readonly ArrayBuffer[] = []): void {
    this.writer.postMessage(message, transfer)
  }
}

function thread<Data>(name: string, data: Data, transfer: readonly MessagePort[]): Worker {
  // The same file ending as this one: source when run from source, else what it was built into.
  return new Worker(new URL(`./${name}${extname(import.meta.url)}`, import.meta.url), { workerData: data, transferList: [...transfer] })
}
