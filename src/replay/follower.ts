import type { EngineOptions } from '../engine/context.ts'
import type { StateAt } from '../journal/state-message.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import type { Divergence } from './divergence.ts'
import { Replayer } from './replayer.ts'

/**
 * Follows a live journal: does again what the engine did, and so verifies it all the time, and knows the state at every
 * record, so that the engine never has to write its own.
 */
export class Follower {
  private readonly options: EngineOptions
  private replayer: Replayer | undefined = undefined
  /** Divergences found so far. */
  divergences = 0

  constructor(options: EngineOptions) {
    this.options = options
  }

  /** Begins where the journal's state is. */
  begin(from: StateAt): void {
    this.replayer = new Replayer(this.options, from)
  }

  get position(): number {
    return this.replayer?.position ?? 0
  }

  /** Takes the next record. After a divergence it goes on: what the live engine did stays recorded, and is reported. */
  apply(record: JournalRecord): Divergence | undefined {
    const divergence = this.replayer?.apply(record)
    if (divergence !== undefined) this.divergences += 1
    return divergence
  }

  state(): StateAt {
    if (this.replayer === undefined) throw new Error('the follower has not begun')
    return this.replayer.state()
  }
}
