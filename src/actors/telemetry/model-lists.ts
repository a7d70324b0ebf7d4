import { byCodeUnit } from '../../core/order.ts'
import type { ModelCount } from '../../wire/endpoint.ts'
import type { ModelReport } from '../../wire/input.ts'

type Counts = ReadonlyMap<string, number>

interface Lists {
  readonly active: Counts
  readonly waiting: Counts
}

const NONE: Counts = new Map()

/** The LoRA adapters that run and wait at each endpoint, by slot: the newest lists and those that the engine took last. */
export class ModelLists {
  private readonly newest: (Lists | undefined)[] = []
  private readonly taken: (Lists | undefined)[] = []

  /** A list that is absent stays as it was. */
  set(slot: number, active: Counts | undefined, waiting: Counts | undefined): void {
    const old = this.newest[slot]
    this.newest[slot] = { active: active ?? old?.active ?? NONE, waiting: waiting ?? old?.waiting ?? NONE }
  }

  reset(slot: number): void {
    this.newest[slot] = undefined
    this.taken[slot] = undefined
  }

  /** The lists of these slots that changed since they were taken last. */
  take(slots: readonly number[]): ModelReport[] {
    const reports: ModelReport[] = []
    for (const slot of slots) {
      const lists = this.newest[slot]
      if (lists === undefined) continue
      const old = this.taken[slot]
      if (old !== undefined && equal(old.active, lists.active) && equal(old.waiting, lists.waiting)) continue
      this.taken[slot] = lists
      // Nothing running or waiting is what the engine believes of a new endpoint.
      if (old === undefined && lists.active.size === 0 && lists.waiting.size === 0) continue
      reports.push({ slot, active: sorted(lists.active), waiting: sorted(lists.waiting) })
    }
    return reports
  }
}

const equal = (a: Counts, b: Counts): boolean => {
  if (a === b) return true
  if (a.size !== b.size) return false
  for (const [model, count] of a) if (b.get(model) !== count) return false
  return true
}

const sorted = (counts: Counts): ModelCount[] =>
  [...counts].map(([model, count]) => ({ model, count })).sort((a, b) => byCodeUnit(a.model, b.model))
