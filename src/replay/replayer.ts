import type { Engine } from '../engine/engine.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { StateAt } from '../journal/state-message.ts'
import type { Receipt } from '../wire/decision.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import { compareDecisions } from './divergence.ts'
import type { Divergence } from './divergence.ts'
import { encodeState, engineAt } from './engine-at.ts'

/** Does again what a journal holds, record by record, and compares. */
export class Replayer {
  readonly engine: Engine

  constructor(options: EngineOptions, from: StateAt) {
    this.engine = engineAt(options, from)
  }

  get position(): number {
    return this.engine.position
  }

  /** Takes the next record; the difference, if there is one. Replay may go on after one: the journal's input is still the input. */
  apply(record: JournalRecord): Divergence | undefined {
    const { record: now } = this.engine.step(record.input ?? { input: undefined }, record.atUs)
    if (now.position !== record.position) {
      return { position: record.position, field: 'position', journalSays: String(record.position), codeSays: String(now.position) }
    }
    if (now.atUs !== record.atUs) return { position: record.position, field: 'atUs', journalSays: String(record.atUs), codeSays: String(now.atUs) }
    return compareDecisions(record.position, record.decisions, now.decisions)
  }

  /** Compares the state here with one that the journal holds for the same position. */
  compareState(at: StateAt): Divergence | undefined {
    const state = this.state()
    if (state.stateHash === at.stateHash) return undefined
    return { position: at.position, field: 'state', journalSays: hex(at.stateHash), codeSays: hex(state.stateHash) }
  }

  state(): StateAt {
    return encodeState(this.engine)
  }

  /** Receipts of the record applied last. */
  receipts(): readonly Receipt[] {
    return this.engine.receipts(this.engine.position)
  }
}

const hex = (hash: bigint): string => hash.toString(16).padStart(16, '0')
