/** The table itself: decisions and steps with their functions bound, made once per machine and implementations. */

import type { Chart, ChartState, ChartTransition } from './chart.ts'
import type { Configuration } from './configurations.ts'
import { allConfigurations, initialStates, leavesPath } from './configurations.ts'
import type { Decision } from './decision.ts'
import { candidates, decideAlways, decideEvent } from './decision.ts'
import { MachineError } from './errors.ts'
import type { ActorRecord, Implementations, InternalEvent, Observer } from './interpreter.ts'
import type { Meanings } from './meanings.ts'
import type { Microstep, Operation } from './microstep.ts'
import { conflictFree, entryOperations, microstep } from './microstep.ts'

export type BoundOperation<A, E> = (actor: A, event: E | InternalEvent) => void

/** An internal event with its column. */
export interface Raised {
  readonly column: number
  readonly event: InternalEvent
}

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

/** Everything that can happen in one configuration. */
export interface Row<A, E> {
  readonly index: number
  readonly path: string
  readonly isDone: boolean
  /** By column: one per event type, `OTHER` for types that the machine does not name. Null: nothing happens. */
  readonly on: readonly (Branch<A, E> | null)[]
  readonly always: Branch<A, E> | null
  readonly accepts: readonly boolean[]
}

export interface Table<A, E> {
  readonly rows: readonly Row<A, E>[]
  readonly columns: ReadonlyMap<string, number>
  readonly start: { readonly row: Row<A, E>; readonly operations: readonly BoundOperation<A, E>[] }
  /** The event of each timer, by its index. */
  readonly due: readonly Raised[]
}

/** The column of every type that the machine does not name: only wildcards take those. */
export const OTHER = 0

/**
 * Guards that are not settled by one region multiply with those of the next. No machine that a person can
 * follow comes near; beyond, building the table would take seconds. The endpoint's has 1,200.
 */
const BRANCHES_MAX = 20_000

type Building<T> = { -readonly [K in keyof T]: T[K] }

export class TableBuilder<A extends ActorRecord, E extends { readonly type: string }> {
  readonly #chart: Chart
  readonly #meanings: Meanings<A, E>
  readonly #host: Implementations<A, E>
  readonly #observer: Observer<A>
  readonly #rows: readonly Building<Row<A, E>>[]
  readonly #configurations: readonly Configuration[]
  readonly #byPath = new Map<string, Row<A, E>>()
  readonly #columns = new Map<string, number>()
  #branches = 0

  constructor(chart: Chart, meanings: Meanings<A, E>, host: Implementations<A, E>, observer: Observer<A>) {
    this.#chart = chart
    this.#meanings = meanings
    this.#host = host
    this.#observer = observer
    this.#configurations = allConfigurations(chart)
    this.#rows = this.#configurations.map(({ index, path, isDone }) => ({
      ...{ index, path, isDone },
      ...{ on: [], always: null, accepts: [] },
    }))
    for (const row of this.#rows) this.#byPath.set(row.path, row)
    this.#columns.set('*', OTHER)
    const types = chart.states.flatMap((state) => [...state.on.keys(), state.doneType])
    for (const type of [...types, ...chart.timers.map((timer) => timer.eventType)]) {
      if (!this.#columns.has(type)) this.#columns.set(type, this.#columns.size)
    }
  }

  build(): Table<A, E> {
    for (const configuration of this.#configurations) this.#fill(configuration)
    const initial = initialStates(this.#chart.root)
    return {
      rows: this.#rows,
      columns: this.#columns,
      start: {
        row: this.#row(new Set(initial)),
        operations: initial.flatMap(entryOperations).map((operation) => this.#bind(operation)),
      },
      due: this.#chart.timers.map((timer) => this.#raised(timer.eventType)),
    }
  }

  #fill(configuration: Configuration): void {
    const row = this.#rows[configuration.index]
    if (row === undefined || configuration.isDone) {
      if (row !== undefined) row.accepts = [...this.#columns].map(() => false)
      return
    }
    const active = new Set(configuration.active)
    const steps = new Map<string, Branch<A, E>>()
    const leaf = (taken: readonly ChartTransition[]) => {
      this.#count()
      const key = taken.map((transition) => transition.id).join(' ')
      const known = steps.get(key) ?? this.#leaf(row, active, taken)
      steps.set(key, known)
      return { kind: 'take', leaf: known } as const
    }
    const branches = new Map<Decision<Branch<A, E>>, Branch<A, E> | null>()
    const root = this.#chart.root
    const types = [...this.#columns.keys()]
    row.accepts = types.map((type) => configuration.active.some((state) => candidates(state, type).length > 0))
    row.on = types.map((type, column) =>
      row.accepts[column] === true ? this.#branch(decideEvent(root, active, type, leaf), branches) : null,
    )
    row.always = this.#branch(decideAlways(active, leaf), branches)
  }

  #branch(
    decision: Decision<Branch<A, E>>,
    known: Map<Decision<Branch<A, E>>, Branch<A, E> | null>,
  ): Branch<A, E> | null {
    const shared = known.get(decision)
    if (shared !== undefined) return shared
    const branch = this.#newBranch(decision, known)
    known.set(decision, branch)
    return branch
  }

  #newBranch(
    decision: Decision<Branch<A, E>>,
    known: Map<Decision<Branch<A, E>>, Branch<A, E> | null>,
  ): Branch<A, E> | null {
    switch (decision.kind) {
      case 'nothing':
        return null
      case 'take':
        return decision.leaf
      case 'look': {
        const guard = this.#meanings.guards.get(decision.guard) ?? null
        return { guard, yes: this.#branch(decision.yes, known), no: this.#branch(decision.no, known), step: null }
      }
    }
  }

  #count(): void {
    this.#branches += 1
    if (this.#branches <= BRANCHES_MAX) return
    const message = `more than ${BRANCHES_MAX} combinations of guards: let fewer regions guard the same event`
    throw new MachineError('machine-too-large', this.#chart.id, message)
  }

  #leaf(from: Row<A, E>, active: ReadonlySet<ChartState>, taken: readonly ChartTransition[]): Branch<A, E> {
    const transitions = conflictFree(taken, active)
    const step: Microstep = microstep(transitions, active)
    const to = this.#row(step.active)
    const operations = step.operations.map((operation) => this.#bind(operation))
    const notify = this.#notify(from, to, transitions)
    const raised = step.raised.map((type) => this.#raised(type))
    return {
      guard: null,
      yes: null,
      no: null,
      step: {
        operations: notify === null ? operations : [...operations, notify],
        to,
        raised: raised.length > 0 ? raised : null,
        changesState: to !== from,
      },
    }
  }

  #notify(from: Row<A, E>, to: Row<A, E>, transitions: readonly ChartTransition[]): BoundOperation<A, E> | null {
    const observer = this.#observer
    if (observer.transition === undefined) return null
    const edges = transitions.map(({ id }) => ({ id }))
    return (actor, event) => {
      observer.transition?.(actor, { from: from.path, to: to.path, eventType: event.type, edges })
    }
  }

  #bind(operation: Operation): BoundOperation<A, E> {
    const host = this.#host
    switch (operation.kind) {
      case 'act': {
        const action = this.#meanings.actions.get(operation.action)
        if (action !== undefined) return action
        throw new MachineError('machine-name-without-meaning', this.#chart.id, `no action \`${operation.action}\``)
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

  #row(active: ReadonlySet<ChartState>): Row<A, E> {
    const path = leavesPath(active)
    const row = this.#byPath.get(path)
    if (row !== undefined) return row
    throw new MachineError('machine-not-covered', this.#chart.id, `targets that cannot be active together: \`${path}\``)
  }

  #raised(eventType: string): Raised {
    return { column: this.#columns.get(eventType) ?? OTHER, event: { type: eventType as `xstate.${string}` } }
  }
}
