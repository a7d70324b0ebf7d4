import { droppableSnapshots } from '../../journal/retention.ts'
import type { SealedState } from '../../journal/state-message.ts'
import type { PendingState, SqliteJournalStore } from './journal-store.ts'

/** Pieces of a large state written between two commits of records: 1 MB, one or two ms. */
const PARTS_PER_STEP = 4

/** Bases and snapshots on their way into the journal, one after the other. */
export class StateQueue {
  private readonly store: SqliteJournalStore
  private readonly opened: (base: SealedState, declaresMissing: boolean) => void
  private readonly pending: PendingState[] = []

  /** `opened` is told of each base that is there now, and so of each segment. */
  constructor(store: SqliteJournalStore, opened: (base: SealedState, declaresMissing: boolean) => void) {
    this.store = store
    this.opened = opened
  }

  pushBase(state: SealedState, declaresMissing: boolean): void {
    this.pending.push(this.store.beginState(state, { kind: 'base', declaresMissing }))
  }

  pushSnapshot(state: SealedState): void {
    this.pending.push(this.store.beginState(state, { kind: 'snapshot' }))
  }

  /** Forgets what is not written yet. */
  abandon(): void {
    for (const pending of this.pending.splice(0)) this.store.abandonState(pending)
  }

  /** Writes some pieces; true when there is more. Throws `SignalboxError`; then the next step goes on where this one was. */
  step(): boolean {
    for (let part = 0; part < PARTS_PER_STEP; part++) {
      const [pending] = this.pending
      if (pending === undefined) return false
      if (this.store.writePart(pending)) continue
      this.pending.shift()
      if (pending.as.kind === 'base') this.opened(pending.state, pending.as.declaresMissing)
      else this.dropOldSnapshots()
    }
    return this.pending.length > 0
  }

  private dropOldSnapshots(): void {
    for (const position of droppableSnapshots(this.store.snapshots().map(each => each.position))) this.store.dropSnapshot(position)
  }
}
