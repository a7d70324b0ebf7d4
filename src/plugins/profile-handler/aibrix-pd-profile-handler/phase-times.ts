import type { Instant } from '../../../core/instant.ts'

/** When a request went from one phase to the next; undefined where it did not, or nobody told. */
export interface Phases {
  /** Its pair was chosen and its prefill sent; undefined without a prefill of its own. */
  prefillStart: Instant | undefined
  prefillEnd: Instant | undefined
  firstToken: Instant | undefined
}

export type SavedPhases = readonly (readonly [key: number, prefillStart: number | null, prefillEnd: number | null, firstToken: number | null])[]

/** The phases of the requests that are under way. */
export class PhaseTimes {
  private readonly phases = new Map<number, Phases>()

  /** Begins anew: another attempt has phases of its own. */
  begin(key: number, prefillStart: Instant | undefined): void {
    this.phases.set(key, { prefillStart, prefillEnd: undefined, firstToken: undefined })
  }

  prefillEnded(key: number, at: Instant): void {
    const phases = this.phases.get(key)
    if (phases !== undefined) phases.prefillEnd ??= at
  }

  firstToken(key: number, at: Instant): void {
    const phases = this.phases.get(key)
    if (phases !== undefined) phases.firstToken ??= at
  }

  /** Gives the phases of a request that is over, and forgets them. */
  take(key: number): Phases | undefined {
    const phases = this.phases.get(key)
    this.phases.delete(key)
    return phases
  }

  save(): SavedPhases {
    return [...this.phases].sort(([a], [b]) => a - b).map(([key, { prefillStart, prefillEnd, firstToken }]) => [key, prefillStart ?? null, prefillEnd ?? null, firstToken ?? null])
  }

  load(saved: SavedPhases): void {
    for (const [key, prefillStart, prefillEnd, firstToken] of saved) {
      this.phases.set(key, { prefillStart: prefillStart ?? undefined, prefillEnd: prefillEnd ?? undefined, firstToken: firstToken ?? undefined })
    }
  }
}
