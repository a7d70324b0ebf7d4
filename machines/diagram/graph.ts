import type { AnyStateMachine } from 'xstate'
import type { ChartState, ChartTransition, GuardExpression, StateKind } from '../interpreter/chart.ts'
import { readChart } from '../interpreter/chart-reader.ts'
import { constantDelays } from '../interpreter/meanings.ts'

export interface GraphNode {
  /** The state's path; empty for the machine itself. */
  readonly id: string
  readonly key: string
  readonly kind: StateKind
  /** Id of the node around it; null for the machine itself. */
  readonly parent: string | null
  /** Whether it is where its parent begins. */
  readonly isInitial: boolean
  readonly entry: readonly string[]
  readonly exit: readonly string[]
  readonly description: string | null
}

/** What makes a transition happen. */
export type Trigger =
  | { readonly kind: 'event'; readonly type: string }
  | { readonly kind: 'always' }
  /** `ms` is null when only a running machine knows. */
  | { readonly kind: 'after'; readonly delay: string; readonly ms: number | null }
  | { readonly kind: 'done' }

export interface GraphEdge {
  /** As in `Transition.edges` of the interpreters' observer. */
  readonly id: string
  readonly source: string
  /** Ids of nodes; empty when the transition leaves the states alone. */
  readonly targets: readonly string[]
  readonly trigger: Trigger
  /** In words: `not isDenied`, `a and (b or c)`. */
  readonly guard: string | null
  readonly actions: readonly string[]
  readonly reenter: boolean
  /** Place from 1 among the source's transitions on the same trigger, which are tried in this order. */
  readonly rank: number
  /** How many of them there are. */
  readonly ranks: number
}

/** A machine as nodes and edges, `always` and `after` included. */
export interface MachineGraph {
  readonly id: string
  /** In document order, the machine itself first. */
  readonly nodes: readonly GraphNode[]
  readonly edges: readonly GraphEdge[]
}

/**
 * Reads the graph off the machine's state nodes.
 * @throws MachineError `machine-not-covered`, as `compile` does
 */
export function toGraph(machine: AnyStateMachine): MachineGraph {
  const chart = readChart(machine)
  const delays = constantDelays(machine)
  return {
    id: chart.id,
    nodes: chart.states.map(node),
    edges: chart.states.flatMap((state) =>
      [...state.on.values(), state.always].flatMap((list) => list.map((t, i) => edge(t, i, list.length, delays))),
    ),
  }
}

function node(state: ChartState): GraphNode {
  const { path, key, kind, parent, entry, exit, description } = state
  const isInitial = parent?.kind === 'compound' && parent.initial === state
  return { id: path, key, kind, parent: parent?.path ?? null, isInitial, entry, exit, description }
}

function edge(
  transition: ChartTransition,
  index: number,
  ranks: number,
  delays: Readonly<Record<string, number>>,
): GraphEdge {
  return {
    id: transition.id,
    source: transition.source.path,
    targets: transition.targets.map((target) => target.path),
    trigger: trigger(transition, delays),
    guard: transition.guard === null ? null : guardText(transition.guard),
    actions: transition.actions,
    reenter: transition.reenter,
    rank: index + 1,
    ranks,
  }
}

function trigger({ eventType, source }: ChartTransition, delays: Readonly<Record<string, number>>): Trigger {
  if (eventType === '') return { kind: 'always' }
  if (eventType === source.doneType) return { kind: 'done' }
  const timer = source.timers.find((each) => each.eventType === eventType)
  if (timer === undefined) return { kind: 'event', type: eventType }
  const ms = typeof timer.delay === 'number' ? timer.delay : (delays[timer.delay] ?? null)
  return { kind: 'after', delay: `${timer.delay}`, ms }
}

/** The guard in words, with brackets only where they are needed. */
export function guardText(guard: GuardExpression): string {
  const inner = (part: GuardExpression): string =>
    part.kind === 'and' || part.kind === 'or' ? `(${guardText(part)})` : guardText(part)
  switch (guard.kind) {
    case 'name':
      return guard.name
    case 'not':
      return `not ${inner(guard.of)}`
    case 'and':
    case 'or':
      return guard.of.map(inner).join(` ${guard.kind} `)
  }
}
