import type { SqliteJournalReader } from '../../adapters/sqlite/journal-reader.ts'
import type { StreamJournal, StreamTail } from '../../adapters/nats/journal/stream-journal.ts'
import { SignalboxError } from '../../core/errors.ts'
import {
  appendRecord, chainAfter, droppableSegments, droppableSnapshots, itemsAfter, JournalError, lastPositionOf, openBase, openBatch, readRecord, recordsOf, sealBase, sealBatch,
} from '../../journal/index.ts'
import type { Keep, SealedBatch } from '../../journal/index.ts'
import { Writer } from '../../wire/index.ts'
import type { Record } from '../../wire/index.ts'

/** Bytes of batches handed to the stream at once, so that progress is told often. */
const ROUND_BYTES = 4_194_304
const ROUND_BATCHES = 256
/** Below the least that a NATS server takes in one message by default, headers included. */
const MESSAGE_BYTES_MAX = 1_000_000
/** A base is written some seconds after the batch that it follows. */
const SEALS_MAX = 65_536
/** Records of a batch that is too large for a message go on in batches of at most these many bytes. */
const PART_BYTES_MAX = 500_000

/**
 * Carries a journal from the file in which it is written into JetStream, in order and each record once. The file is the
 * spool: while the server is away it grows within its own bounds, and afterwards this goes on where the stream ends.
 */
export class Shipping {
  private readonly source: SqliteJournalReader
  private readonly target: StreamJournal
  private readonly keep: Keep
  /** Position and seal of the last batch in the stream. */
  private position = 0
  private seal = 0n
  /** Seals of the newest batches in the stream, by the position of their last record: what a base there follows. */
  private readonly seals = new Map<number, bigint>()
  private baseShipped = 0
  private snapshotShipped = 0

  constructor(source: SqliteJournalReader, target: StreamJournal, keep: Keep) {
    this.source = source
    this.target = target
    this.keep = keep
  }

  /** Position of the last record that the stream holds. */
  get shipped(): number {
    return this.position
  }

  /**
   * Finds where to go on. A stream that lost some of what it held is begun anew from the file.
   * @throws SignalboxError journal-locked where the stream holds another journal than the file
   */
  async begin(): Promise<void> {
    let tail = await this.target.settle()
    if (tail.seal !== undefined && !(await this.target.isWhole())) {
      await this.target.reset()
      tail = { position: 0, seal: undefined }
    }
    if (tail.seal === undefined) await this.openFirst()
    else await this.goOn(tail, tail.seal)
    this.snapshotShipped = (await this.target.snapshots()).at(-1)?.position ?? 0
  }

  /** Carries the records that are there now; `progress` is told the position that the stream holds. True when more may be there. */
  async round(progress: (position: number) => void): Promise<boolean> {
    const batches: SealedBatch[] = []
    let bytes = 0
    let seal = this.seal
    let after = this.position
    for (const item of itemsAfter(this.source, this.position, 'needed')) {
      if (item.kind === 'base') {
        if (batches.length > 0) break
        await this.declareMissing(item.position)
        return true
      }
      for (const batch of this.batchesOf(item.bytes, seal, after)) {
        batches.push(batch)
        bytes += batch.bytes.length
        seal = batch.seal
        after = lastPositionOf(batch)
      }
      if (bytes >= ROUND_BYTES || batches.length >= ROUND_BATCHES) break
    }
    if (batches.length > 0) {
      await this.target.append(batches, (count) => progress(lastPositionOf(batches[count - 1] as SealedBatch)))
      this.position = after
      this.seal = seal
      for (const batch of batches) this.remember(lastPositionOf(batch), batch.seal)
    }
    return batches.length > 0
  }

  /** Carries bases and snapshots of what is carried already, which the file has and the stream not yet; then drops what need not be kept. */
  async carryStates(): Promise<void> {
    for (const { basePosition, atUs } of this.source.segments()) {
      if (basePosition <= this.baseShipped || basePosition > this.position) continue
      const bytes = this.source.base(basePosition)
      const base = bytes === undefined ? undefined : openBase(bytes)
      if (bytes === undefined || base === undefined) continue
      const seal = this.seals.get(basePosition)
      // Written before this process came: the next base will be carried.
      if (seal === undefined) continue
      // Where the stream's chain is its own, the base must name its seal.
      const sealed = base.previousHash === seal ? { position: basePosition, atUs, seal: base.seal, bytes } : sealBase(base, seal)
      await this.target.openSegment(sealed)
      this.baseShipped = basePosition
      for (const dropped of droppableSegments(await this.target.segments(), this.keep, atUs)) await this.target.dropOldestSegment(dropped)
    }
    const newest = this.source.snapshots().at(-1)
    if (newest === undefined || newest.position <= this.snapshotShipped || newest.position > this.position) return
    const bytes = this.source.snapshot(newest.position)
    if (bytes === undefined) return
    await this.target.putSnapshot({ position: newest.position, atUs: newest.atUs, seal: 0n, bytes })
    this.snapshotShipped = newest.position
    for (const position of droppableSnapshots((await this.target.snapshots()).map((each) => each.position))) await this.target.dropSnapshot(position)
  }

  private remember(position: number, seal: bigint): void {
    this.seals.set(position, seal)
    if (this.seals.size > SEALS_MAX) this.seals.delete(this.seals.keys().next().value as number)
  }

  /** Whether the stream still holds what was carried. */
  isWhole(): Promise<boolean> {
    return this.target.isWhole()
  }

  private async openFirst(): Promise<void> {
    const [oldest] = this.source.segments()
    const bytes = oldest === undefined ? undefined : this.source.base(oldest.basePosition)
    const base = bytes === undefined ? undefined : openBase(bytes)
    if (bytes === undefined || base === undefined) throw new JournalError('journal-broken-chain', 'the journal has no base', 0)
    await this.target.openSegment({ position: base.position, atUs: base.atUs, seal: base.seal, bytes }, base.missing !== undefined)
    this.position = this.baseShipped = base.position
    this.seal = chainAfter(base)
  }

  private async goOn({ position }: StreamTail, seal: bigint): Promise<void> {
    this.position = position
    this.seal = seal
    this.remember(position, seal)
    this.baseShipped = (await this.target.segments()).at(-1)?.basePosition ?? 0
    const oldest = this.source.segments()[0]?.basePosition ?? 0
    if (position < oldest) await this.declareMissing(oldest)
    else if (position > oldest) await this.compareAt(position)
  }

  /** The last record of the stream must be the file's own: else it is of another engine with the same name. */
  private async compareAt(position: number): Promise<void> {
    const [page] = await this.target.page(await this.target.sequenceAfter(position - 1))
    if (page === undefined) return
    const batch = openBatch(page.bytes)
    const theirs = batch === undefined ? undefined : [...recordsOf(batch)].find((record) => record.position === position)
    if (theirs === undefined || this.source.lastPosition() < position || !sameRecord(theirs, readRecord(this.source, position))) {
      throw new SignalboxError('journal-locked', `the stream holds another journal than ${this.source.path}: they differ at position ${position}`)
    }
  }

  /** Opens a segment at a base of the file that does not follow what the stream holds, and says what is missing. */
  private async declareMissing(position: number): Promise<void> {
    const bytes = this.source.base(position)
    const base = bytes === undefined ? undefined : openBase(bytes)
    if (base === undefined) throw new JournalError('journal-broken-chain', `the base at ${position} is not there`, this.position)
    const reason = base.missing?.reason ?? 'the NATS server was away for longer than the journal on disk reaches back'
    const sealed = sealBase(base, this.seal, { first: this.position + 1, last: base.position, reason })
    await this.target.openSegment(sealed, true)
    this.position = this.baseShipped = base.position
    this.seal = sealed.seal
  }

  /** A batch as it is where it follows and fits, else its records in batches that do. */
  private *batchesOf(bytes: Uint8Array, seal: bigint, after: number): Generator<SealedBatch, void, undefined> {
    const batch = openBatch(bytes)
    if (batch === undefined) throw new JournalError('journal-broken-chain', `the batch at position ${after + 1} was changed or cut`, after)
    const { firstPosition, count } = batch
    if (batch.previousHash === seal && bytes.length <= MESSAGE_BYTES_MAX && firstPosition === after + 1) {
      let atUs = 0
      for (const record of recordsOf(batch, 0, firstPosition + count - 1)) atUs = record.atUs
      yield { firstPosition, count, atUs, bytes, seal: batch.seal, index: NO_INDEX }
      return
    }
    let previous = seal
    let part: Record[] = []
    const writer = new Writer()
    const close = (): SealedBatch => {
      const first = part[0]?.position ?? 0
      const sealed = sealBatch({ firstPosition: first, count: part.length, records: writer.finish() }, previous, part.at(-1)?.atUs ?? 0, NO_INDEX)
      previous = sealed.seal
      part = []
      return sealed
    }
    for (const record of recordsOf(batch)) {
      if (record.position <= after) continue
      appendRecord(record, writer)
      part.push(record)
      if (writer.length >= PART_BYTES_MAX) yield close()
    }
    if (part.length > 0) yield close()
  }
}

/** The stream has no index. */
const NO_INDEX = new Uint8Array(0)

const sameRecord = (a: Record, b: Record): boolean => {
  const bytes = [a, b].map((record) => {
    const writer = new Writer()
    appendRecord(record, writer)
    return Buffer.from(writer.finish())
  })
  return (bytes[0] as Buffer).equals(bytes[1] as Buffer)
}
