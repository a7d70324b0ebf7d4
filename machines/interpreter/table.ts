/** The table itself: a machine's plan with its functions bound, a configuration at a time, when it is first entered. */

import type { ChartTransition } from './chart.ts'
import type { Decision } from './decision.ts'
import { MachineError } from './errors.ts'
import type { ActorRecord, Implementations, InternalEvent, Observer } from './interpreter.ts'
import type { Meanings } from './meanings.ts'
import type { Operation } from './microstep.ts'
import type { Plan, PlannedRow, PlannedStep, Raised } from './plan.ts'

export type BoundOperation<A, E> = (actor: A, event: E | InternalEvent) => void

/** One microstep, ready to run. */
export interface Step<A, E> {
  readonly operations: readonly BoundOperation<A, E>[]
  readonly to: Row<A, E>
  readonly raised: readonly Raised[] | null
  readonly changesState: boolean
}

/** A node of a decision, in one shape so that the engine's inline caches stay monomorphic. */
export interface Branch<A, E> {
  readonly guard: ((actor: A, event: E | InternalEvent) => boolean) | null
  readonly yes: Branch<A, E> | null
  readonly no: Branch<A, E> | null
  readonly step: Step<A, E> | null
}

/** Everything that can happen in one configuration; `on` and `always` are empty until it is bound. */
export interface Row<A, E> {
  readonly index: number
  readonly path: string
  readonly isDone: boolean
  readonly accepts: readonly boolean[]
  readonly isBound: boolean
  readonly on: readonly (Branch<A, E> | null)[]
  readonly always: Branch<A, E> | null
}

type Known<A, E> = Map<Decision<PlannedStep>, Branch<A, E> | null>
type Building<T> = { -readonly [K in keyof T]: T[K] }

export class Table<A extends ActorRecord, E extends { readonly type: string }> {
  readonly rows: readonly Row<A, E>[]
  readonly start: { readonly row: Row<A, E>; readonly operations: readonly BoundOperation<A, E>[] }
  readonly #plan: Plan
  readonly #meanings: Meanings<A, E>
  readonly #host: Implementations<A, E>
  readonly #observer: Observer<A>

  constructor(plan: Plan, meanings: Meanings<A, E>, host: Implementations<A, E>, observer: Observer<A>) {
    this.#plan = plan
    this.#meanings = meanings
    this.#host = host
    this.#observer = observer
    this.rows = plan.rows.map(({ index, path, isDone, accepts }) => ({ index, path, isDone, accepts, isBound: isDone, on: [], always: null }))
    this.start = { row: this.#row(plan.start.row), operations: plan.start.operations.map((operation) => this.#operation(operation)) }
  }

  /** Makes ready what can happen in a configuration. */
  bind(row: Building<Row<A, E>>): void {
    const planned = this.#plan.rows[row.index] as PlannedRow
    const steps = new Map<PlannedStep, Branch<A, E>>()
    const known: Known<A, E> = new Map()
    row.on = planned.on.map((decision) => (decision === null ? null : this.#branch(row, decision, known, steps)))
    row.always = planned.always === null ? null : this.#branch(row, planned.always, known, steps)
    row.isBound = true
  }

  #branch(row: Row<A, E>, decision: Decision<PlannedStep>, known: Known<A, E>, steps: Map<PlannedStep, Branch<A, E>>): Branch<A, E> | null {
    const shared = known.get(decision)
    if (shared !== undefined) return shared
    const branch = this.#newBranch(row, decision, known, steps)
    known.set(decision, branch)
    return branch
  }

  #newBranch(row: Row<A, E>, decision: Decision<PlannedStep>, known: Known<A, E>, steps: Map<PlannedStep, Branch<A, E>>): Branch<A, E> | null {
    switch (decision.kind) {
      case 'nothing':
        return null
      case 'take': {
        const leaf = steps.get(decision.leaf) ?? { guard: null, yes: null, no: null, step: this.#step(row, decision.leaf) }
        steps.set(decision.leaf, leaf)
        return leaf
      }
      case 'look': {
        const guard = this.#meanings.guards.get(decision.guard) ?? null
        const yes = this.#branch(row, decision.yes, known, steps)
        return { guard, yes, no: this.#branch(row, decision.no, known, steps), step: null }
      }
    }
  }

  #step(from: Row<A, E>, { operations, to, raised, transitions }: PlannedStep): Step<A, E> {
    const target = this.#row(to)
    const bound = operations.map((operation) => this.#operation(operation))
    const notify = this.#notify(from, target, transitions)
    return { operations: notify === null ? bound : [...bound, notify], to: target, raised, changesState: target !== from }
  }

  #notify(from: Row<A, E>, to: Row<A, E>, transitions: readonly ChartTransition[]): BoundOperation<A, E> | null {
    const observer = this.#observer
    if (observer.transition === undefined) return null
    const edges = transitions.map(({ id }) => ({ id }))
    return (actor, event) => {
      observer.transition?.(actor, { from: from.path, to: to.path, eventType: event.type, edges })
    }
  }

  #operation(operation: Operation): BoundOperation<A, E> {
    const host = this.#host
    switch (operation.kind) {
      case 'act': {
        const action = this.#meanings.actions.get(operation.action)
        if (action !== undefined) return action
        throw new MachineError('machine-name-without-meaning', this.#plan.chart.id, `no action \`${operation.action}\``)
      }
      case 'cancel': {
        const timer = operation.timer.index
        return (actor) => host.cancel(actor, timer)
      }
      case 'schedule': {
        const timer = operation.timer.index
        const delay = this.#meanings.delays[timer] ?? (() => Number.NaN)
        return (actor, event) => host.schedule(actor, timer, delay(actor, event))
      }
    }
  }

  #row(index: number): Row<A, E> {
    return this.rows[index] as Row<A, E>
  }
}
