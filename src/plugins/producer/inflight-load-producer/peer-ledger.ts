import type { InFlightLoad } from '../../../core/attribute.ts'
import type { PeerHolding, PeerLoadReport } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { byCodeUnit } from '../../../core/order.ts'

interface Cell {
  requests: number
  tokens: number
}

/**
 * What peer replicas have in flight, as a fold over their identified assignments. Kept by endpoint id and incarnation, so
 * load for an endpoint that has not joined here yet waits for it.
 */
export class PeerLedger {
  private readonly held = new Map<string, Map<string, PeerHolding>>()
  private readonly cells = new Map<string, Cell>()

  take(report: PeerLoadReport): void {
    if (report.opens) this.forget(report.replica)
    let held = this.held.get(report.replica)
    if (held === undefined) {
      held = new Map()
      this.held.set(report.replica, held)
    }
    for (const assignment of report.assigned) {
      this.drop(held, keyOf(assignment))
      // A copy: what was told bears block keys, and with them the memory of a whole message.
      held.set(keyOf(assignment), plain(assignment))
      this.count(assignment, 1)
    }
    for (const released of report.released) this.drop(held, keyOf(released))
    if (held.size === 0) this.held.delete(report.replica)
  }

  /** Puts back what was remembered. */
  restore(replica: string, assignments: readonly PeerHolding[]): void {
    this.take({ replica, opens: true, assigned: assignments.map((assignment) => ({ ...assignment, blocks: [] })), released: [] })
  }

  forget(replica: string): void {
    for (const assignment of this.held.get(replica)?.values() ?? []) this.count(assignment, -1)
    this.held.delete(replica)
  }

  /** Load of all peers on this life of the endpoint; undefined when there is none. */
  load(endpoint: Endpoint): InFlightLoad | undefined {
    if (this.cells.size === 0) return undefined
    const exact = endpoint.incarnation === '' ? undefined : this.cells.get(cellKey(endpoint.id, endpoint.incarnation))
    const any = this.cells.get(cellKey(endpoint.id, ''))
    if (exact === undefined || any === undefined) return exact ?? any
    return { requests: exact.requests + any.requests, tokens: exact.tokens + any.tokens }
  }

  /** All that is held, replicas and their assignments in a fixed order. */
  remember(): readonly (readonly [replica: string, assignments: readonly PeerHolding[]])[] {
    return [...this.held]
      .sort(([a], [b]) => byCodeUnit(a, b))
      .map(([replica, held]) => [replica, [...held].sort(([a], [b]) => byCodeUnit(a, b)).map(([, assignment]) => assignment)] as const)
  }

  private drop(held: Map<string, PeerHolding>, key: string): void {
    const assignment = held.get(key)
    if (assignment === undefined) return
    held.delete(key)
    this.count(assignment, -1)
  }

  private count(assignment: PeerHolding, sign: 1 | -1): void {
    const key = cellKey(assignment.endpoint, assignment.incarnation)
    let cell = this.cells.get(key)
    if (cell === undefined) {
      cell = { requests: 0, tokens: 0 }
      this.cells.set(key, cell)
    }
    cell.requests += sign
    cell.tokens += sign * (assignment.promptTokens + assignment.outputTokens)
    if (cell.requests === 0) this.cells.delete(key)
  }
}

const keyOf = ({ request, attempt, profile }: Pick<PeerHolding, 'request' | 'attempt' | 'profile'>): string => `${request}\n${attempt}\n${profile}`

const cellKey = (endpoint: string, incarnation: string): string => `${endpoint}\n${incarnation}`

/** The fields that count, in a fixed order, so that equal states give equal bytes. */
const plain = ({ request, attempt, profile, endpoint, incarnation, promptTokens, outputTokens }: PeerHolding): PeerHolding => ({
  request, attempt, profile, endpoint, incarnation, promptTokens, outputTokens,
})
