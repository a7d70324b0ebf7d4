import { PendingDecodeTracker, PrefillRequestTracker, PrefixTable, type SavedPrefixTable } from '../../../aibrix/index.ts'
import { MICROS_PER_S } from '../../../core/instant.ts'
import { loadJson, saveJson } from '../../saved-json.ts'
import { PhaseTimes, type SavedPhases } from './phase-times.ts'
import type { AibrixPdSettings } from './settings.ts'

interface SavedState {
  readonly pending: readonly (readonly [key: number, life: string])[]
  readonly prefills: readonly (readonly [key: number, life: string])[]
  readonly table: SavedPrefixTable
  readonly phases: SavedPhases
}

/** What the router remembers: who waits and who prefills where, by request and by the endpoint's life; since when; and the prefix table. */
export class RouterState {
  readonly pending = new PendingDecodeTracker<number>()
  readonly prefills = new PrefillRequestTracker<number>()
  readonly phases = new PhaseTimes()
  readonly table: PrefixTable

  constructor({ blocksMax, timeToLiveMinutes, sweepSeconds }: Pick<AibrixPdSettings, 'blocksMax' | 'timeToLiveMinutes' | 'sweepSeconds'>) {
    this.table = new PrefixTable({ blocks: blocksMax, timeToLiveUs: timeToLiveMinutes * 60 * MICROS_PER_S, sweepIntervalUs: sweepSeconds * MICROS_PER_S })
  }

  /** Lets go of all that a request holds; again is harmless. */
  release(key: number): void {
    this.pending.removePendingDecode(key)
    this.prefills.removePrefillRequest(key)
  }

  save(): Uint8Array {
    const byKey = (entries: SavedState['pending']): SavedState['pending'] => [...entries].sort(([a], [b]) => a - b)
    return saveJson({ pending: byKey(this.pending.entries()), prefills: byKey(this.prefills.entries()), table: this.table.save(), phases: this.phases.save() } satisfies SavedState)
  }

  load(bytes: Uint8Array): void {
    const { pending, prefills, table, phases } = loadJson(bytes, 'an aibrix-pd-profile-handler', isSavedState)
    for (const [key, life] of pending) this.pending.addPendingDecode(key, life)
    for (const [key, life] of prefills) this.prefills.addPrefillRequest(key, life)
    this.table.load(table)
    this.phases.load(phases)
  }
}

const isSavedState = (value: unknown): value is SavedState => {
  const state = value as Partial<SavedState> | null | undefined
  return Array.isArray(state?.pending) && Array.isArray(state.prefills) && Array.isArray(state.phases) && Array.isArray(state.table?.blocks)
}
