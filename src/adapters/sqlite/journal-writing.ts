import { emptyJournalBase } from '../../journal/state-message.ts'
import type { SealedState } from '../../journal/state-message.ts'
import { lastPositionOf } from '../../journal/batch.ts'
import { isFull } from '../../journal/segment.ts'
import type { FromFollower } from './follower-protocol.ts'
import { FollowerLink } from './follower-link.ts'
import { endOf, pruneSegments } from './journal-end.ts'
import type { SqliteJournalStore } from './journal-store.ts'
import { batchesOf, RecordQueue } from './record-queue.ts'
import { StateQueue } from './state-queue.ts'
import type { FromWriter, RecordsChunk, WriterOptions, WriterWorkerData } from './writer-protocol.ts'

const RETRY_FIRST_MS = 10
const RETRY_MAX_MS = 1000

/** Positions that were given up because they could not be written. */
interface Lost {
  readonly first: number; last: number
  /** Whether writing works again and the base that declares the range is on its way. */
  asked: boolean
}

/**
 * Writes a journal: group commit without a timer (the next transaction takes all that came during the last one),
 * segments, snapshots, retention, and what to do while nothing can be written.
 *
 * A segment is opened without stopping: the base is asked of the follower at the end of a batch and written, in pieces,
 * while later batches are; those belong to the new segment by their positions as soon as its row is there.
 */
export class JournalWriting {
  private readonly store: SqliteJournalStore
  private readonly options: WriterOptions
  private readonly post: (message: FromWriter) => void
  private follower: FollowerLink | undefined
  private readonly queue: RecordQueue = new RecordQueue()
  private readonly states: StateQueue
  /** Seal of the last batch committed: what the next one follows. */
  private seal: bigint
  private committed: number
  private lastAtUs: number
  private segmentBytes: number
  private segmentAtUs: number
  private baseAsked = false
  private lost: Lost | undefined
  private failure: { readonly reason: string; waitMs: number; timer: NodeJS.Timeout | undefined } | undefined
  private scheduled = false
  private closing: 'no' | 'draining' | 'finishing' | 'closed' = 'no'

  /** Takes over the store, and closes it at the end. Throws `JournalError` when the end of the journal is damaged. */
  constructor(store: SqliteJournalStore, { options, follower }: WriterWorkerData, post: (message: FromWriter) => void) {
    this.options = options
    this.post = post
    this.store = store
    this.states = new StateQueue(store, (base, declaresMissing) => this.segmentOpened(base, declaresMissing))
    try {
      if (this.store.segments().length === 0) this.store.openSegment(emptyJournalBase())
      const segment = this.store.segments().at(-1)
      this.committed = this.store.lastPosition()
      this.seal = endOf(this.store, this.committed)
      this.lastAtUs = segment?.lastAtUs ?? 0
      this.segmentBytes = segment?.bytes ?? 0
      this.segmentAtUs = segment?.atUs ?? 0
      pruneSegments(store, options.keep, this.lastAtUs)
    } catch (error) {
      this.store.close()
      throw error
    }
    if (follower !== undefined) {
      this.follower = new FollowerLink(follower, options.followerAheadBytesMax, message => this.receiveFromFollower(message))
      this.follower.start(options.path, this.committed)
    }
    post({ type: 'opened', lastPosition: this.committed, lastAtUs: this.lastAtUs })
    this.schedule()
  }

  receive(chunk: RecordsChunk): void {
    if (this.lost !== undefined && !this.lost.asked) {
      this.lost.last = lastPositionOf(chunk)
      this.forward([chunk], false)
      return
    }
    this.queue.push(chunk)
    if (this.failure === undefined) this.schedule()
    else this.spool()
  }

  /** Goes on without the follower. */
  dropFollower(): void {
    this.follower?.close()
    this.follower = undefined
    this.baseAsked = false
    if (this.lost !== undefined) this.stop('the follower is gone, so that the missing range cannot be declared')
    if (this.closing === 'finishing') this.finish()
  }

  /** Writes what is there, has the follower save its state, and closes the file. */
  close(): void {
    if (this.closing !== 'no') return
    this.retry()
    this.closing = 'draining'
    if (this.failure !== undefined) this.finish()
    else this.schedule()
  }

  private schedule(): void {
    if (this.scheduled) return
    this.scheduled = true
    setImmediate(() => {
      this.scheduled = false
      this.step()
    })
  }

  private step(): void {
    if (this.failure !== undefined || this.closing === 'closed') return
    try {
      if (this.lost === undefined) this.commit()
      const more = this.states.step()
      const swept = this.store.sweep()
      if (more || swept || (this.lost === undefined && !this.queue.isEmpty)) this.schedule()
      else if (this.closing === 'draining' && this.lost === undefined) this.drained()
      else if (this.closing === 'finishing' && this.follower === undefined) this.finish()
    } catch (error) {
      this.fail(error)
    }
  }

  private commit(): void {
    const chunks = this.queue.next()
    if (chunks.length === 0) return
    const batches = batchesOf(chunks, this.seal)
    this.store.append(batches)
    this.queue.shift(chunks)
    const last = batches.at(-1)
    if (last === undefined) return
    const inStep = this.follower !== undefined && this.follower.sentPosition >= this.committed && !this.follower.isFull
    this.seal = last.seal
    this.committed = lastPositionOf(last)
    this.lastAtUs = last.atUs
    // The base of an empty journal has no time of its own.
    if (this.segmentAtUs === 0) this.segmentAtUs = last.atUs
    this.segmentBytes += batches.reduce((sum, batch) => sum + batch.bytes.length, 0)
    this.post({ type: 'ack', position: this.committed })
    if (inStep) this.forward(chunks.filter(chunk => chunk.firstPosition > (this.follower?.sentPosition ?? 0)), true)
    this.rollWhenFull()
  }

  /** Hands records to the follower; their memory goes along. */
  private forward(chunks: readonly RecordsChunk[], written: boolean): void {
    const [first] = chunks
    const last = chunks.at(-1)
    if (first === undefined || last === undefined) return
    this.follower?.sendRecords({
      firstPosition: first.firstPosition,
      count: lastPositionOf(last) - first.firstPosition + 1,
      atUs: last.atUs,
      pieces: chunks.map(chunk => chunk.records),
      written,
    })
  }

  /** Feeds a follower that fell behind from the journal; and while nothing can be written, from what waits. */
  private feed(): void {
    const follower = this.follower
    if (follower === undefined) return
    if (follower.sentPosition < this.committed && !follower.isFull && !follower.feed(this.store.batches(follower.sentPosition))) {
      this.dropFollower()
      return
    }
    if (this.failure === undefined || follower.sentPosition < this.committed) return
    const waiting = this.queue.above(follower.sentPosition)
    this.forward(waiting.map(chunk => ({ ...chunk, records: chunk.records.slice() })), false)
  }

  private rollWhenFull(): void {
    const { follower } = this
    if (follower === undefined || this.baseAsked || follower.sentPosition !== this.committed) return
    if (!isFull(this.segmentBytes, this.segmentAtUs, this.lastAtUs, this.options.segments)) return
    this.baseAsked = true
    this.segmentBytes = 0
    this.segmentAtUs = this.lastAtUs
    follower.wantBase(this.seal, undefined)
  }

  private receiveFromFollower(message: FromFollower): void {
    switch (message.type) {
      case 'followed':
        this.feed()
        this.spoolBound()
        if (this.closing === 'draining') this.schedule()
        return
      case 'base':
        this.takeBase(message.state, message.declaresMissing)
        return
      case 'snapshot':
        if (message.state.position <= this.committed) this.states.pushSnapshot(message.state)
        this.schedule()
        return
      case 'finished':
        this.follower?.close()
        this.follower = undefined
        this.schedule()
    }
  }

  private takeBase(state: SealedState, declaresMissing: boolean): void {
    // A range that grew after the question will be asked for again.
    if (declaresMissing && (this.lost?.asked !== true || state.position !== this.lost.last)) return
    this.states.pushBase(state, declaresMissing)
    this.schedule()
  }

  private segmentOpened(base: SealedState, declaresMissing: boolean): void {
    if (!declaresMissing) this.baseAsked = false
    else if (this.lost !== undefined) {
      const missing = { first: this.lost.first, last: this.lost.last }
      this.lost = undefined
      this.seal = base.seal
      this.committed = base.position
      this.segmentBytes = 0
      this.segmentAtUs = base.atUs
      this.post({ type: 'write-succeeded', missing })
      this.post({ type: 'ack', position: base.position })
    }
    pruneSegments(this.store, this.options.keep, this.lastAtUs)
  }

  private fail(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error)
    if (this.closing !== 'no') return this.finish()
    this.failure = { reason, waitMs: RETRY_FIRST_MS, timer: setTimeout(() => this.retry(), RETRY_FIRST_MS) }
    this.post({ type: 'write-failed', reason })
    this.spool()
  }

  private retry(): void {
    const failure = this.failure
    if (failure === undefined || this.closing === 'closed') return
    clearTimeout(failure.timer)
    try {
      if (this.lost === undefined && !this.queue.isEmpty) this.commit()
      else this.store.probe()
      this.failure = undefined
      if (this.lost === undefined) this.post({ type: 'write-succeeded', missing: undefined })
      else this.askForMissing(this.lost, failure.reason)
      this.schedule()
    } catch {
      failure.waitMs = Math.min(failure.waitMs * 2, RETRY_MAX_MS)
      failure.timer = setTimeout(() => this.retry(), failure.waitMs)
    }
  }

  private askForMissing(lost: Lost, reason: string): void {
    if (lost.asked) return
    lost.asked = true
    this.follower?.wantBase(this.seal, { first: lost.first, last: lost.last, reason })
  }

  private spool(): void {
    this.feed()
    this.spoolBound()
  }

  /** Gives up what waits when it is too much; the follower must have it, since only it can go on from there. */
  private spoolBound(): void {
    const first = this.queue.firstPosition
    if (this.failure === undefined || first === undefined || this.options.onFailure === 'refuse' || this.follower === undefined) return
    if (this.queue.bytes <= this.options.spoolBytesMax || this.queue.above(this.follower.sentPosition).length > 0) return
    this.states.abandon()
    this.baseAsked = false
    this.lost = { first: this.lost?.first ?? first, last: this.follower.sentPosition, asked: false }
    this.queue.clear()
  }

  private drained(): void {
    const { follower } = this
    if (follower === undefined) return this.finish()
    this.feed()
    // The follower finishes once it has all; until then its progress brings this back.
    if (follower.sentPosition < this.committed) return
    this.closing = 'finishing'
    follower.finish()
  }

  private finish(): void {
    if (this.closing === 'closed') return
    this.closing = 'closed'
    clearTimeout(this.failure?.timer)
    this.follower?.close()
    this.store.close()
    const given = this.lost === undefined ? 0 : this.lost.last - this.lost.first + 1
    this.post({ type: 'closed', unwritten: this.queue.records + given })
  }

  private stop(reason: string): void {
    clearTimeout(this.failure?.timer)
    this.failure = { reason, waitMs: RETRY_MAX_MS, timer: undefined }
    this.post({ type: 'stopped', reason })
  }
}
