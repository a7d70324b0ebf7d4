import type { Engine } from '../../engine/engine.ts'

/** One value of each of two engines. */
export interface Both {
  readonly recorded: number
  readonly forked: number
}

/** What two engines that go side by side did in a stretch of time. */
export interface ForkStretch {
  /** Microseconds since the epoch; it lasts until the next one begins. */
  readonly fromUs: number
  readonly decisions: number
  readonly changed: number
  readonly promptTokens: number
  /** Prompt tokens found in the cache of the primary pick. */
  readonly hitTokens: Both
  /** Requests in flight at its end, on all endpoints and on the busiest. */
  readonly inFlight: Both
  readonly inFlightMost: Both
}

/** Stretches at most, an even number: two are made one when there would be more, so that memory stays the same however long it takes. */
const STRETCHES_MAX = 120
const FIRST_US = 250_000

class Stretch {
  readonly fromUs: number
  decisions = 0
  changed = 0
  promptTokens = 0
  readonly hits: [number, number] = [0, 0]
  /** In flight at the end, by endpoint. */
  loads: readonly [ReadonlyMap<string, number>, ReadonlyMap<string, number>] = [new Map<string, number>(), new Map<string, number>()]

  constructor(fromUs: number) {
    this.fromUs = fromUs
  }

  /** Takes in the stretch that follows. */
  join(next: Stretch): void {
    this.decisions += next.decisions
    this.changed += next.changed
    this.promptTokens += next.promptTokens
    this.hits[0] += next.hits[0]
    this.hits[1] += next.hits[1]
    this.loads = next.loads
  }
}

/** Follows two engines over time, in at most so many stretches of one length. */
export class OverTime {
  private readonly engines: readonly [Engine, Engine]
  private stretches: Stretch[] = []
  private lengthUs = FIRST_US

  constructor(engines: readonly [Engine, Engine]) {
    this.engines = engines
  }

  /** To be called before the engines take a record of this time; gives the stretch that it falls into. */
  at(atUs: number): Stretch {
    let current = this.stretches.at(-1)
    if (current === undefined) return this.open(atUs)
    while (atUs >= current.fromUs + this.lengthUs) {
      current.loads = [inFlight(this.engines[0]), inFlight(this.engines[1])]
      current = this.open(current.fromUs + this.lengthUs)
    }
    return current
  }

  /** The stretches, and of each endpoint what was in flight at their ends. */
  summary(): { readonly stretches: ForkStretch[]; readonly loadsOf: (id: string) => { readonly recorded: number[]; readonly forked: number[] } } {
    const { stretches } = this
    const last = stretches.at(-1)
    if (last !== undefined) last.loads = [inFlight(this.engines[0]), inFlight(this.engines[1])]
    const loads = (id: string, side: 0 | 1): number[] => stretches.map((stretch) => stretch.loads[side].get(id) ?? 0)
    return { stretches: stretches.map(told), loadsOf: (id) => ({ recorded: loads(id, 0), forked: loads(id, 1) }) }
  }

  private open(fromUs: number): Stretch {
    if (this.stretches.length === STRETCHES_MAX) this.halve()
    const opened = new Stretch(fromUs)
    this.stretches.push(opened)
    return opened
  }

  private halve(): void {
    this.lengthUs *= 2
    this.stretches = this.stretches.filter((stretch, i) => {
      const next = this.stretches[i + 1]
      if (i % 2 === 0 && next !== undefined) stretch.join(next)
      return i % 2 === 0
    })
  }
}

const inFlight = ({ view }: Engine): ReadonlyMap<string, number> => {
  const loads = new Map<string, number>()
  for (const endpoint of view.fleet.present()) {
    const { requests } = view.ledger.load(endpoint)
    if (requests > 0) loads.set(endpoint.id, requests)
  }
  return loads
}

const told = ({ fromUs, decisions, changed, promptTokens, hits, loads }: Stretch): ForkStretch => ({
  fromUs, decisions, changed, promptTokens,
  hitTokens: both((side) => hits[side]),
  inFlight: both((side) => [...loads[side].values()].reduce((sum, each) => sum + each, 0)),
  inFlightMost: both((side) => [...loads[side].values()].reduce((most, each) => (each > most ? each : most), 0)),
})

const both = (of: (side: 0 | 1) => number): Both => ({ recorded: of(0), forked: of(1) })
