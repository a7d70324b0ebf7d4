/** What a machine does in each of its configurations on each event, whoever runs it: worked out once per machine. */

import type { AnyStateMachine } from 'xstate'
import type { Chart, ChartState, ChartTransition } from './chart.ts'
import { readChart } from './chart-reader.ts'
import type { Configuration } from './configurations.ts'
import { allConfigurations, initialStates, leavesPath } from './configurations.ts'
import type { Decision } from './decision.ts'
import { candidates, decideAlways, decideEvent } from './decision.ts'
import { MachineError } from './errors.ts'
import type { InternalEvent } from './interpreter.ts'
import type { Operation } from './microstep.ts'
import { conflictFree, entryOperations, microstep } from './microstep.ts'

/** An internal event with its column. */
export interface Raised {
  readonly column: number
  readonly event: InternalEvent
}

/** One microstep. */
export interface PlannedStep {
  readonly operations: readonly Operation[]
  /** The row that it leads to. */
  readonly to: number
  readonly raised: readonly Raised[] | null
  readonly transitions: readonly ChartTransition[]
}

/** Everything that can happen in one configuration. */
export interface PlannedRow {
  readonly index: number
  readonly path: string
  readonly isDone: boolean
  /** By column: one per event type, `OTHER` for types that the machine does not name. Null: nothing happens. */
  readonly on: readonly (Decision<PlannedStep> | null)[]
  readonly always: Decision<PlannedStep> | null
  readonly accepts: readonly boolean[]
}

export interface Plan {
  readonly chart: Chart
  readonly rows: readonly PlannedRow[]
  readonly columns: ReadonlyMap<string, number>
  readonly start: { readonly row: number; readonly operations: readonly Operation[] }
  /** The event of each timer, by its index. */
  readonly due: readonly Raised[]
}

/** The column of every type that the machine does not name: only wildcards take those. */
export const OTHER = 0

/**
 * Guards that are not settled by one region multiply with those of the next. No machine that a person can
 * follow comes near; beyond, making the plan would take seconds. The endpoint's has 1,200.
 */
const BRANCHES_MAX = 20_000

const plans = new WeakMap<AnyStateMachine, Plan>()

/**
 * The plan of a machine, made when it is first asked for.
 * @throws MachineError `machine-not-covered` for a feature that is not interpreted, with its state; `machine-too-large`
 */
export function planOf(machine: AnyStateMachine): Plan {
  const known = plans.get(machine)
  if (known !== undefined) return known
  const plan = new Planner(readChart(machine)).plan()
  plans.set(machine, plan)
  return plan
}

class Planner {
  readonly #chart: Chart
  readonly #configurations: readonly Configuration[]
  readonly #byPath = new Map<string, number>()
  readonly #columns = new Map<string, number>()
  #branches = 0

  constructor(chart: Chart) {
    this.#chart = chart
    this.#configurations = allConfigurations(chart)
    for (const { path, index } of this.#configurations) this.#byPath.set(path, index)
    this.#columns.set('*', OTHER)
    const types = chart.states.flatMap((state) => [...state.on.keys(), state.doneType])
    for (const type of [...types, ...chart.timers.map((timer) => timer.eventType)]) {
      if (!this.#columns.has(type)) this.#columns.set(type, this.#columns.size)
    }
  }

  plan(): Plan {
    const initial = initialStates(this.#chart.root)
    return {
      chart: this.#chart,
      rows: this.#configurations.map((configuration) => this.#planRow(configuration)),
      columns: this.#columns,
      start: { row: this.#rowOf(new Set(initial)), operations: initial.flatMap(entryOperations) },
      due: this.#chart.timers.map((timer) => this.#raised(timer.eventType)),
    }
  }

  #planRow({ index, path, isDone, active: states }: Configuration): PlannedRow {
    const types = [...this.#columns.keys()]
    if (isDone) return { index, path, isDone, on: [], always: null, accepts: types.map(() => false) }
    const active = new Set(states)
    const steps = new Map<string, PlannedStep>()
    const leaf = (taken: readonly ChartTransition[]) => {
      this.#count()
      const key = taken.map((transition) => transition.id).join(' ')
      const known = steps.get(key) ?? this.#step(active, taken)
      steps.set(key, known)
      return { kind: 'take', leaf: known } as const
    }
    const { root } = this.#chart
    const accepts = types.map((type) => states.some((state) => candidates(state, type).length > 0))
    const on = types.map((type, column) => (accepts[column] === true ? decideEvent(root, active, type, leaf) : null))
    return { index, path, isDone, on, always: decideAlways(active, leaf), accepts }
  }

  #count(): void {
    this.#branches += 1
    if (this.#branches <= BRANCHES_MAX) return
    const message = `more than ${BRANCHES_MAX} combinations of guards: let fewer regions guard the same event`
    throw new MachineError('machine-too-large', this.#chart.id, message)
  }

  #step(active: ReadonlySet<ChartState>, taken: readonly ChartTransition[]): PlannedStep {
    const transitions = conflictFree(taken, active)
    const { operations, active: after, raised } = microstep(transitions, active)
    return {
      operations,
      to: this.#rowOf(after),
      raised: raised.length > 0 ? raised.map((type) => this.#raised(type)) : null,
      transitions,
    }
  }

  #rowOf(active: ReadonlySet<ChartState>): number {
    const path = leavesPath(active)
    const row = this.#byPath.get(path)
    if (row !== undefined) return row
    throw new MachineError('machine-not-covered', this.#chart.id, `targets that cannot be active together: \`${path}\``)
  }

  #raised(eventType: string): Raised {
    return { column: this.#columns.get(eventType) ?? OTHER, event: { type: eventType as `xstate.${string}` } }
  }
}
