import { PendingDecodeTracker, PrefillRequestTracker, PrefixTable, type SavedPrefixTable } from '../../../aibrix/index.ts'
import { SignalboxError } from '../../../core/errors.ts'
import { MICROS_PER_S } from '../../../core/instant.ts'
import { loadJson, saveJson } from '../../saved-json.ts'
import { PhaseTimes, type SavedPhases } from './phase-times.ts'
import type { AibrixPdSettings } from './settings.ts'

/** What is saved as JSON, before the blocks of the table. */
interface SavedState {
  readonly pending: readonly (readonly [key: number, life: string])[]
  readonly prefills: readonly (readonly [key: number, life: string])[]
  readonly table: Omit<SavedPrefixTable, 'blocks'>
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

  /** The length of a JSON text in four bytes, the text, the blocks of the table. */
  save(): Uint8Array {
    const byKey = (entries: SavedState['pending']): SavedState['pending'] => [...entries].sort(([a], [b]) => a - b)
    const { blocks, ...table } = this.table.save()
    const text = saveJson({ pending: byKey(this.pending.entries()), prefills: byKey(this.prefills.entries()), table, phases: this.phases.save() } satisfies SavedState)
    const bytes = new Uint8Array(LENGTH_BYTES + text.length + blocks.length)
    new DataView(bytes.buffer).setUint32(0, text.length, true)
    bytes.set(text, LENGTH_BYTES)
    bytes.set(blocks, LENGTH_BYTES + text.length)
    return bytes
  }

  /** @throws SignalboxError state-invalid on bytes that the router did not write */
  load(bytes: Uint8Array): void {
    const length = bytes.length < LENGTH_BYTES ? 0 : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true)
    const { pending, prefills, table, phases } = loadJson(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + length), WHAT, isSavedState)
    for (const [key, life] of pending) this.pending.addPendingDecode(key, life)
    for (const [key, life] of prefills) this.prefills.addPrefillRequest(key, life)
    this.phases.load(phases)
    try {
      this.table.load({ ...table, blocks: bytes.subarray(LENGTH_BYTES + length) })
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      throw new SignalboxError('state-invalid', `the saved state of ${WHAT} cannot be read: ${error.message}`)
    }
  }
}

const LENGTH_BYTES = 4
const WHAT = 'an aibrix-pd-profile-handler'

const isSavedState = (value: unknown): value is SavedState => {
  const state = value as Partial<SavedState> | null | undefined
  return Array.isArray(state?.pending) && Array.isArray(state.prefills) && Array.isArray(state.phases) && Array.isArray(state.table?.models) && Array.isArray(state.table.pods)
}
