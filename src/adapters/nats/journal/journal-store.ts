import { lastPositionOf, openBatch, recordsOf, requestsOf } from '../../../journal/index.ts'
import type { JournalStore, SealedBatch, SealedState, SegmentInfo, SnapshotInfo, StoredBatch } from '../../../journal/index.ts'
import type { Record } from '../../../wire/index.ts'
import { BlockingCalls } from './blocking-call.ts'
import type { StoreOptions } from './store-worker.ts'
import { PAGE } from './stream-journal.ts'

/**
 * A journal in JetStream, read and written by blocking calls: for commands and threads that do nothing else. Requests are
 * found by reading it through: a stream has no index.
 */
export class NatsJournalStore implements JournalStore {
  private readonly calls: BlockingCalls

  private constructor(calls: BlockingCalls) {
    this.calls = calls
  }

  /** Opens the journal of a replica. Throws `SignalboxError` where the server cannot be reached or refuses. */
  static open(options: StoreOptions): NatsJournalStore {
    const calls = new BlockingCalls('store-worker', options)
    try {
      calls.call('open')
      return new NatsJournalStore(calls)
    } catch (error) {
      calls.close()
      throw error
    }
  }

  lastPosition(): number {
    return this.calls.call('lastPosition') as number
  }

  segments(): readonly SegmentInfo[] {
    return this.calls.call('segments') as SegmentInfo[]
  }

  base(position: number): Uint8Array | undefined {
    return this.calls.call('base', position) as Uint8Array | undefined
  }

  *batches(after: number): Generator<StoredBatch, void, undefined> {
    let sequence = this.calls.call('sequenceAfter', after) as number
    // The next page is fetched while this one is read.
    let coming: number | undefined = this.calls.begin('page', sequence)
    try {
      while (coming !== undefined) {
        const page = this.calls.answer(coming) as StoredBatch[]
        sequence += page.length
        coming = page.length < PAGE ? undefined : this.calls.begin('page', sequence)
        for (const batch of page) if (lastPositionOf(batch) > after) yield batch
      }
    } finally {
      if (coming !== undefined) this.calls.forget(coming)
    }
  }

  snapshots(): readonly SnapshotInfo[] {
    return this.calls.call('snapshots') as SnapshotInfo[]
  }

  snapshot(position: number): Uint8Array | undefined {
    return this.calls.call('snapshot', position) as Uint8Array | undefined
  }

  arrivalsOf(requestId: string): readonly number[] {
    return this.find(0, ({ input }) => input?.input?.kind === 'requestReceived' && input.input.value.requestId === requestId)
  }

  recordsOf(request: number): readonly number[] {
    return this.find(request - 1, (record) => requestsOf(record).includes(request))
  }

  append(batches: readonly SealedBatch[]): void {
    this.calls.call('append', batches)
  }

  openSegment(base: SealedState, declaresMissing: boolean = false): void {
    this.calls.call('openSegment', base, declaresMissing)
  }

  putSnapshot(snapshot: SealedState): void {
    this.calls.call('putSnapshot', snapshot)
  }

  dropSnapshot(position: number): void {
    this.calls.call('dropSnapshot', position)
  }

  dropOldestSegment(basePosition: number): void {
    this.calls.call('dropOldestSegment', basePosition)
  }

  close(): void {
    this.calls.call('close')
    this.calls.close()
  }

  private find(after: number, wanted: (record: Record) => boolean): number[] {
    const found: number[] = []
    const oldest = Math.max(after, this.segments()[0]?.basePosition ?? 0)
    for (const { bytes } of this.batches(oldest)) {
      const batch = openBatch(bytes)
      if (batch === undefined) continue
      for (const record of recordsOf(batch)) if (record.position > oldest && wanted(record)) found.push(record.position)
    }
    return found
  }
}
