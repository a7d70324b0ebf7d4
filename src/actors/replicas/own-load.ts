import type { Turn } from '../../engine/engine.ts'
import { requestsOf } from '../../journal/request-index.ts'
import type { LoadAssigned, LoadReleased } from '../../wire/input.ts'

/** What one request holds of an endpoint now. */
export type HeldLoad = Omit<LoadAssigned, 'request'>

/** What changed of the load. */
export interface LoadChange {
  readonly assigned: LoadAssigned[]
  readonly released: LoadReleased[]
}

/**
 * The load that this replica's own requests are, told as changes: after each turn the requests that it touched are
 * compared with what was told of them, so that nothing is told twice or forgotten however a request went.
 */
export class OwnLoad {
  private readonly heldBy: (request: number) => readonly HeldLoad[]
  private readonly told = new Map<number, readonly LoadAssigned[]>()

  /** `heldBy` gives what a request holds now; nothing for one that is over. */
  constructor(heldBy: (request: number) => readonly HeldLoad[]) {
    this.heldBy = heldBy
  }

  /** What changed by a turn, added to `change`: of the requests that its record names, and of those that it ended by a timer. */
  taken({ record, effects }: Turn, change: LoadChange): void {
    for (const request of requestsOf(record)) this.compare(request, change)
    for (const effect of effects) if (effect.kind === 'closed') this.compare(effect.request, change)
  }

  /** Takes up a request that was there before: after a restart. */
  adopt(request: number): void {
    this.compare(request, { assigned: [], released: [] })
  }

  /** All that is held, in order of arrival; without the block keys, which peers have learned already. */
  open(): LoadAssigned[] {
    const requests = [...this.told].sort(([a], [b]) => a - b)
    return requests.flatMap(([, held]) => held)
  }

  private compare(request: number, { assigned, released }: LoadChange): void {
    const before = this.told.get(request) ?? NOTHING
    const held = this.heldBy(request)
    if (before.length === 0 && held.length === 0) return
    const now: LoadAssigned[] = []
    for (const load of held) {
      const old = before.find((each) => isSamePart(each, load))
      const known = old !== undefined && sameLoad(old, load)
      // Kept without its block keys: these are told once, and would hold the request's memory to its end.
      now.push(known ? old : { ...load, request, blocks: [] })
      if (!known) assigned.push({ ...load, request, blocks: old?.endpoint === load.endpoint ? [] : load.blocks })
    }
    for (const old of before) {
      if (!now.some((each) => isSamePart(each, old))) released.push({ request, attempt: old.attempt, profile: old.profile })
    }
    if (now.length === 0) this.told.delete(request)
    else this.told.set(request, now)
  }
}

/** Requests hold one or two loads, so lists are looked through. */
const NOTHING: readonly LoadAssigned[] = []

const isSamePart = (a: Pick<HeldLoad, 'attempt' | 'profile'>, b: Pick<HeldLoad, 'attempt' | 'profile'>): boolean => a.attempt === b.attempt && a.profile === b.profile

const sameLoad = (a: LoadAssigned, b: HeldLoad): boolean =>
  a.endpoint === b.endpoint && a.incarnation === b.incarnation && a.promptTokens === b.promptTokens && a.outputTokens === b.outputTokens
