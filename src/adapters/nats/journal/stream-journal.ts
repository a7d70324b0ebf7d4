import type { JetStreamManager, StoredMsg } from '@nats-io/jetstream'
import { SignalboxError } from '../../../core/errors.ts'
import { chainAfter, openBase, openBatch } from '../../../journal/index.ts'
import type { SealedBatch, SealedState, SegmentInfo, SnapshotInfo, StoredBatch } from '../../../journal/index.ts'
import { notDroppable } from '../../../journal/memory.ts'
import type { NatsLink } from '../connection.ts'
import type { Names } from '../names.ts'
import { infoOf } from '../streams.ts'
import { AcknowledgedPublisher } from './acknowledged-publisher.ts'
import { makeStream, othersOf } from './journal-stream.ts'
import { StateObjects } from './state-objects.ts'
import type { StoredState } from './state-objects.ts'
import { apartOf, headAfter, headersOf, headOf, lastOf } from './stored-batch.ts'
import type { BatchHead } from './stored-batch.ts'

/** What a message has besides its batch: headers. */
const HEADERS_MAX = 1024
/** The least that a server takes by default. */
const PAYLOAD_MAX = 1_048_576
const NOTHING = new Uint8Array(0)

/** Messages fetched at once when batches are read; there are two such pages in memory. */
export const PAGE = 32

export interface StreamJournalOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly streamReplicas: number
}

interface Bounds {
  /** Sequences in the stream; they mean nothing but what comes next when there are no messages. */
  readonly first: number
  readonly last: number
  readonly messages: number
}

/** The end of what is stored. */
export interface StreamTail {
  /** Position of the last record, or of the newest base when none is after it. */
  readonly position: number
  /** What the next batch must follow; undefined where there is no base. */
  readonly seal: bigint | undefined
}

/**
 * A journal in JetStream: one message a batch in a stream of its own; bases, snapshots and batches that are too large for
 * a message in an object store. Each batch says which sequence it follows, so a second writer is refused by the server, and so is the first from then on.
 */
export class StreamJournal {
  private readonly options: StreamJournalOptions
  private readonly manager: JetStreamManager
  private readonly publisher: AcknowledgedPublisher
  private states: StateObjects
  /** Sequence and head of the last batch known to be stored. */
  private sequence = 0
  private head: BatchHead | undefined = undefined

  private constructor(options: StreamJournalOptions, manager: JetStreamManager, states: StateObjects) {
    this.options = options
    this.manager = manager
    this.states = states
    this.publisher = new AcknowledgedPublisher(options.link)
  }

  /** Opens the journal of a replica, and makes its stream and bucket when they are not there. */
  static async open(options: StreamJournalOptions): Promise<StreamJournal> {
    const manager = await options.link.manager()
    await makeStream(manager, options)
    const journal = new StreamJournal(options, manager, await openStates(options))
    await journal.settle()
    return journal
  }

  /** Opens a journal that is there, to read it; makes nothing. @throws SignalboxError journal-not-found */
  static async look(options: StreamJournalOptions): Promise<StreamJournal> {
    const { link, names, replica } = options
    const manager = await link.manager()
    const stream = names.journalStream(replica)
    if ((await infoOf(manager, stream)) === undefined) throw new SignalboxError('journal-not-found', `the server has no stream ${stream}${await othersOf(manager)}`)
    return new StreamJournal(options, manager, await StateObjects.look(link, names.journalStates(replica)))
  }

  /**
   * Looks anew where the stream ends, and makes what is missing. To be called before writing goes on after a failure.
   */
  async settle(): Promise<StreamTail> {
    await makeStream(this.manager, this.options)
    this.states = await openStates(this.options)
    const { first, last } = await this.bounds()
    this.sequence = last
    const message = last >= first ? await this.message(last) : undefined
    this.head = message === undefined ? undefined : headOf(message)
    return this.tail(message)
  }

  /** Whether the stream still holds every batch from its first to its last, and the last is the one known. */
  async isWhole(): Promise<boolean> {
    const { first, last, messages } = await this.bounds()
    if (last !== this.sequence || messages !== Math.max(0, last - first + 1)) return false
    if (this.head === undefined) return true
    const oldest = messages > 0 ? headOf(await this.message(first)) : undefined
    const [base] = await this.states.list('base')
    return oldest !== undefined && base !== undefined && oldest.firstPosition <= base.position + 1
  }

  /** Stores batches that follow what is there; `stored` is told how many of them are. Throws as `publishAll`. */
  async append(batches: readonly SealedBatch[], stored: (count: number) => void = () => undefined): Promise<void> {
    const { link, names, replica } = this.options
    const subject = names.journal(replica)
    const largest = (link.connection.info?.max_payload ?? PAYLOAD_MAX) - HEADERS_MAX
    const apart = ({ bytes }: SealedBatch): boolean => bytes.length > largest
    // First the bytes, then the message that says where they are.
    for (const { firstPosition: position, atUs, bytes } of batches.filter(apart)) await this.states.put('batch', { position, atUs, bytes }, false)
    let { head } = this
    let after = this.sequence
    const publications = batches.map((batch) => {
      head = headAfter(batch, head)
      const id = batch.seal.toString(16)
      return apart(batch)
        ? { subject, data: NOTHING, headers: headersOf(head, id, after++, batch.bytes.length) }
        : { subject, data: batch.bytes, headers: headersOf(head, id, after++, undefined) }
    })
    await this.publisher.publishAll(publications, stored)
    this.sequence = after
    this.head = head
  }

  /** To be called when the connection broke. */
  abandon(reason: string): void {
    this.publisher.abandon(reason)
  }

  async lastPosition(): Promise<number> {
    const { first, last } = await this.bounds()
    const bases = await this.states.list('base')
    return Math.max(last >= first ? lastOf(headOf(await this.message(last))) : 0, bases.at(-1)?.position ?? 0)
  }

  async segments(): Promise<SegmentInfo[]> {
    const bases = await this.states.list('base')
    const bounds = await this.bounds()
    const ends = await Promise.all(bases.map((_, index) => this.headAt(bounds, bases[index + 1]?.position ?? Infinity)))
    const dropped = bounds.last >= bounds.first ? before(await this.message(bounds.first)) : undefined
    return bases.map((base, index) => segmentOf(base, ends[index], ends[index - 1] ?? dropped))
  }

  base(position: number): Promise<Uint8Array | undefined> {
    return this.states.get('base', position)
  }

  snapshot(position: number): Promise<Uint8Array | undefined> {
    return this.states.get('snapshot', position)
  }

  async snapshots(): Promise<SnapshotInfo[]> {
    return (await this.states.list('snapshot')).map(({ position, atUs, bytes }) => ({ position, atUs, bytes }))
  }

  /** Sequence of the first batch with a record above `after`. */
  async sequenceAfter(after: number): Promise<number> {
    const bounds = await this.bounds()
    return (await this.find(bounds, (head) => lastOf(head) > after)) ?? bounds.last + 1
  }

  /** Up to `PAGE` batches from a sequence on; empty at the end. */
  async page(from: number): Promise<StoredBatch[]> {
    const { last } = await this.bounds()
    const sequences = Array.from({ length: Math.max(0, Math.min(PAGE, last - from + 1)) }, (_, index) => from + index)
    const messages = await Promise.all(sequences.map((sequence) => this.message(sequence)))
    return Promise.all(messages.map(async (message) => {
      const { firstPosition, count } = headOf(message)
      return { firstPosition, count, bytes: await this.bytesOf(message) }
    }))
  }

  openSegment(base: SealedState, declaresMissing: boolean = false): Promise<void> {
    return this.states.put('base', base, declaresMissing)
  }

  putSnapshot(snapshot: SealedState): Promise<void> {
    return this.states.put('snapshot', snapshot, false)
  }

  async dropSnapshot(position: number): Promise<void> {
    for (const state of await this.states.list('snapshot')) if (state.position === position) await this.states.drop(state)
  }

  async dropOldestSegment(basePosition: number): Promise<void> {
    const [oldest, next] = await this.states.list('base')
    if (oldest?.position !== basePosition || next === undefined) throw notDroppable(basePosition)
    const snapshots = (await this.states.list('snapshot')).filter(({ position }) => position < next.position)
    await this.manager.streams.purge(this.stream, { seq: await this.sequenceAfter(next.position) })
    const { first, last } = await this.bounds()
    const kept = last >= first ? headOf(await this.message(first)).firstPosition : Infinity
    const batches = (await this.states.list('batch')).filter(({ position }) => position < kept)
    for (const state of [...snapshots, ...batches, oldest]) await this.states.drop(state)
  }

  /** Deletes all that is stored and begins anew: for a stream that is damaged, when the journal is whole elsewhere. */
  async reset(): Promise<void> {
    await this.manager.streams.delete(this.stream).catch(() => false)
    await this.states.destroy().catch(() => undefined)
    await this.settle()
  }

  close(): void {
    this.publisher.close()
  }

  private get stream(): string {
    return this.options.names.journalStream(this.options.replica)
  }

  private async tail(message: StoredMsg | undefined): Promise<StreamTail> {
    const base = (await this.states.list('base')).at(-1)
    const last = message === undefined ? 0 : lastOf(headOf(message))
    if (message !== undefined && last > (base?.position ?? 0)) return { position: last, seal: openBatch(await this.bytesOf(message))?.seal }
    const bytes = base === undefined ? undefined : await this.base(base.position)
    const opened = bytes === undefined ? undefined : openBase(bytes)
    return { position: base?.position ?? 0, seal: opened === undefined ? undefined : chainAfter(opened) }
  }

  private async bounds(): Promise<Bounds> {
    const info = await infoOf(this.manager, this.stream)
    if (info === undefined) throw new SignalboxError('journal-write', 'the stream of the journal is not there')
    const { first_seq: first, last_seq: last, messages } = info.state
    return { first: messages === 0 ? last + 1 : first, last, messages }
  }

  private async bytesOf(message: StoredMsg): Promise<Uint8Array> {
    if (apartOf(message) === undefined) return message.data
    const bytes = await this.states.get('batch', headOf(message).firstPosition)
    if (bytes === undefined) throw new SignalboxError('journal-gap', `the batch of message ${message.seq} is gone from the object store`)
    return bytes
  }

  private async message(sequence: number): Promise<StoredMsg> {
    const message = await this.manager.direct.getMessage(this.stream, { seq: sequence })
    if (message === null) throw new SignalboxError('journal-gap', `message ${sequence} of the stream is gone`)
    return message
  }

  /** Head of the last batch that begins at or before a position. */
  private async headAt(bounds: Bounds, position: number): Promise<BatchHead | undefined> {
    const after = position === Infinity ? bounds.last + 1 : ((await this.find(bounds, (head) => head.firstPosition > position)) ?? bounds.last + 1)
    return after <= bounds.first || bounds.messages === 0 ? undefined : headOf(await this.message(after - 1))
  }

  /** The first sequence whose batch is as wanted, all later ones being so too. */
  private async find({ first, last, messages }: Bounds, wanted: (head: BatchHead) => boolean): Promise<number | undefined> {
    if (messages === 0) return undefined
    let low = first
    let high = last + 1
    while (low < high) {
      const middle = Math.floor((low + high) / 2)
      if (wanted(headOf(await this.message(middle)))) high = middle
      else low = middle + 1
    }
    return low > last ? undefined : low
  }
}

const openStates = ({ link, names, replica, streamReplicas }: StreamJournalOptions): Promise<StateObjects> =>
  StateObjects.open(link, names.journalStates(replica), streamReplicas)

/** How the batches stood before this one. */
const before = (message: StoredMsg): Pick<BatchHead, 'number' | 'total'> => {
  const { number, total } = headOf(message)
  return { number: number - 1, total: total - (apartOf(message) ?? message.data.length) }
}

const segmentOf = (base: StoredState, end: BatchHead | undefined, start: Pick<BatchHead, 'number' | 'total'> | undefined): SegmentInfo => {
  const own = end !== undefined && lastOf(end) > base.position
  return {
    basePosition: base.position,
    atUs: base.atUs,
    declaresMissing: base.declaresMissing,
    baseBytes: base.bytes,
    lastPosition: own ? lastOf(end) : base.position,
    lastAtUs: own ? end.atUs : base.atUs,
    bytes: own ? end.total - (start?.total ?? 0) : 0,
    batches: own ? end.number - (start?.number ?? 0) : 0,
  }
}
