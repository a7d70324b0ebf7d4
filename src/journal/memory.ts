import { SignalboxError } from '../core/errors.ts'
import { lastPositionOf } from './batch.ts'
import type { SealedBatch } from './batch.ts'
import type { JournalStore, SnapshotInfo, StoredBatch } from './port.ts'
import { arrivalsIn, recordsIn } from './request-index.ts'
import type { SegmentInfo } from './segment.ts'
import type { SealedState } from './state-message.ts'

interface Opening {
  readonly base: SealedState
  readonly declaresMissing: boolean
}

/** A journal in memory: for tests, and for an engine that is not to leave traces. */
export class MemoryJournal implements JournalStore {
  private openings: Opening[] = []
  private stored: SealedBatch[] = []
  private saved: SealedState[] = []

  lastPosition(): number {
    const batch = this.stored.at(-1)
    return Math.max(batch === undefined ? 0 : lastPositionOf(batch), this.openings.at(-1)?.base.position ?? 0)
  }

  segments(): readonly SegmentInfo[] {
    return this.openings.map((opening, index) => this.segment(opening, this.openings[index + 1]?.base.position ?? Infinity))
  }

  base(position: number): Uint8Array | undefined {
    return this.openings.find(opening => opening.base.position === position)?.base.bytes
  }

  *batches(after: number): Generator<StoredBatch, void, undefined> {
    for (const batch of this.stored) if (lastPositionOf(batch) > after) yield batch
  }

  snapshots(): readonly SnapshotInfo[] {
    return this.saved.map(({ position, atUs, bytes }) => ({ position, atUs, bytes: bytes.length }))
  }

  snapshot(position: number): Uint8Array | undefined {
    return this.saved.find(snapshot => snapshot.position === position)?.bytes
  }

  arrivalsOf(requestId: string): readonly number[] {
    return this.stored.flatMap(batch => arrivalsIn(batch.index, requestId))
  }

  recordsOf(request: number): readonly number[] {
    return this.stored.flatMap(batch => (lastPositionOf(batch) < request ? [] : recordsIn(batch.index, request)))
  }

  append(batches: readonly SealedBatch[]): void {
    this.stored.push(...batches)
  }

  openSegment(base: SealedState, declaresMissing: boolean = false): void {
    this.openings.push({ base, declaresMissing })
  }

  putSnapshot(snapshot: SealedState): void {
    this.saved = [...this.saved.filter(each => each.position !== snapshot.position), snapshot].sort((a, b) => a.position - b.position)
  }

  dropSnapshot(position: number): void {
    this.saved = this.saved.filter(each => each.position !== position)
  }

  dropOldestSegment(basePosition: number): void {
    const [oldest, next] = this.openings
    if (oldest?.base.position !== basePosition || next === undefined) throw notDroppable(basePosition)
    const kept = next.base.position
    this.openings = this.openings.slice(1)
    this.stored = this.stored.filter(batch => batch.firstPosition > kept)
    this.saved = this.saved.filter(snapshot => snapshot.position >= kept)
  }

  close(): void {
    // Nothing is held that outlives the object.
  }

  private segment({ base, declaresMissing }: Opening, end: number): SegmentInfo {
    const own = this.stored.filter(batch => batch.firstPosition > base.position && batch.firstPosition <= end)
    const last = own.at(-1)
    return {
      basePosition: base.position,
      atUs: base.atUs,
      lastPosition: last === undefined ? base.position : lastPositionOf(last),
      lastAtUs: last?.atUs ?? base.atUs,
      bytes: own.reduce((sum, batch) => sum + batch.bytes.length, 0),
      baseBytes: base.bytes.length,
      batches: own.length,
      declaresMissing,
    }
  }
}

/** The error for a segment that is not the oldest, or the only one. */
export function notDroppable(basePosition: number): SignalboxError {
  return new SignalboxError('journal-position', `the segment at ${basePosition} cannot be dropped: only the oldest can, and never the newest`)
}
