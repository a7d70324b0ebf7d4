import type { Endpoint } from './endpoint.ts'
import type { InFlightLoad } from './attribute.ts'

/** One request's share of an endpoint's load, held until released. Identified, so it can be released only once. */
export interface Assignment {
  readonly profile: string
  readonly endpoint: Endpoint
  /** The part that goes when the prompt has been computed, in tokens. */
  readonly promptTokens: number
  /** The part that goes at the end, in tokens. */
  readonly outputTokens: number
}

interface Held extends Assignment {
  promptHeld: boolean
}

class Cell implements InFlightLoad {
  requests = 0
  tokens = 0
}

const NOTHING: InFlightLoad = { requests: 0, tokens: 0 }

/**
 * Load as a fold over identified assignments: (request, profile, endpoint, life) counts from assign to release.
 *
 * The sums in the cells are only a cache of that fold. What is not held cannot be released, so nothing goes negative
 * and nothing is counted twice; a cell belongs to one life of an endpoint, so a late release never touches the next.
 */
export class LoadLedger {
  private readonly held = new Map<number, Held[]>()
  private readonly cells = new Map<number, Cell>()

  /** Counts an assignment. Assigning the same request and profile again first releases what was held for it. */
  assign(request: number, assignment: Assignment): void {
    const list = this.held.get(request)
    if (list === undefined) this.held.set(request, [this.count(assignment)])
    else {
      const index = list.findIndex((held) => held.profile === assignment.profile && held.endpoint.id === assignment.endpoint.id)
      if (index >= 0) this.uncount(list.splice(index, 1))
      list.push(this.count(assignment))
    }
  }

  /** Takes the prompt's tokens off; the request stays counted. With a profile only that one's. */
  releasePrompt(request: number, profile?: string): void {
    for (const held of this.held.get(request) ?? []) {
      if (profile !== undefined && held.profile !== profile) continue
      if (held.promptHeld) this.cellOf(held.endpoint.life).tokens -= held.promptTokens
      held.promptHeld = false
    }
  }

  /** Releases one profile's assignments of a request. */
  releaseProfile(request: number, profile: string): void {
    const list = this.held.get(request)
    if (list === undefined) return
    this.uncount(list.filter((held) => held.profile === profile))
    const rest = list.filter((held) => held.profile !== profile)
    if (rest.length === 0) this.held.delete(request)
    else this.held.set(request, rest)
  }

  /** Releases all that a request holds; again is harmless. */
  release(request: number): void {
    const list = this.held.get(request)
    if (list === undefined) return
    this.held.delete(request)
    this.uncount(list)
  }

  /** Load of this life of the endpoint. */
  load(endpoint: Endpoint): InFlightLoad {
    return this.cells.get(endpoint.life) ?? NOTHING
  }

  assignmentsOf(request: number): readonly Assignment[] {
    return this.held.get(request) ?? NONE
  }

  /** Whether the prompt's tokens of an assignment are still counted. */
  holdsPrompt(assignment: Assignment): boolean {
    return (assignment as Held).promptHeld
  }

  /** Requests with something held, in order of arrival. */
  requests(): number[] {
    return [...this.held.keys()].sort((a, b) => a - b)
  }

  private count(assignment: Assignment): Held {
    const cell = this.cellOf(assignment.endpoint.life)
    cell.requests += 1
    cell.tokens += assignment.promptTokens + assignment.outputTokens
    return { ...assignment, promptHeld: true }
  }

  private uncount(list: readonly Held[]): void {
    for (const held of list) {
      const cell = this.cellOf(held.endpoint.life)
      cell.requests -= 1
      cell.tokens -= held.outputTokens + (held.promptHeld ? held.promptTokens : 0)
      if (cell.requests === 0) this.cells.delete(held.endpoint.life)
    }
  }

  private cellOf(life: number): Cell {
    let cell = this.cells.get(life)
    if (cell === undefined) {
      cell = new Cell()
      this.cells.set(life, cell)
    }
    return cell
  }
}

const NONE: readonly Assignment[] = []
