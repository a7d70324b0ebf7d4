/**
 * A machine as read from XState's tree of state nodes: plain data, resolved targets, and nothing in it
 * that the interpreters do not cover. Diagrams and graphs are drawn from it too.
 */

export type StateKind = 'atomic' | 'compound' | 'parallel' | 'final'

export type GuardExpression =
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'not'; readonly of: GuardExpression }
  | { readonly kind: 'and' | 'or'; readonly of: readonly GuardExpression[] }

export interface ChartTransition {
  /** `<source path>:<event type, or empty for always>:<index among the source's transitions on it>`. */
  readonly id: string
  readonly source: ChartState
  /** Event type, `*`, an internal event's type, or empty for `always`. */
  readonly eventType: string
  readonly guard: GuardExpression | null
  readonly actions: readonly string[]
  /** Empty: the transition leaves the states alone. */
  readonly targets: readonly ChartState[]
  readonly reenter: boolean
}

export interface ChartTimer {
  readonly index: number
  readonly name: string
  readonly source: ChartState
  /** A name, or milliseconds. */
  readonly delay: string | number
  /** What comes back when it is due. */
  readonly eventType: `xstate.${string}`
}

export interface ChartState {
  /** Place in document order; 0 is the machine itself. */
  readonly order: number
  readonly key: string
  /** Keys from below the machine down to this state, joined by "."; empty for the machine itself. */
  readonly path: string
  readonly kind: StateKind
  readonly parent: ChartState | null
  readonly children: readonly ChartState[]
  /** Of a compound state. */
  readonly initial: ChartState | null
  readonly entry: readonly string[]
  readonly exit: readonly string[]
  readonly timers: readonly ChartTimer[]
  /** By event type, in the order in which they are tried. */
  readonly on: ReadonlyMap<string, readonly ChartTransition[]>
  readonly always: readonly ChartTransition[]
  /** What is raised when this state is done. */
  readonly doneType: `xstate.${string}`
  readonly description: string | null
}

export interface Chart {
  readonly id: string
  readonly root: ChartState
  /** In document order. */
  readonly states: readonly ChartState[]
  readonly timers: readonly ChartTimer[]
}

/** Whether `state` lies below `ancestor`, however deep; a state does not lie below itself. */
export function isBelow(state: ChartState, ancestor: ChartState): boolean {
  for (let s = state.parent; s !== null; s = s.parent) if (s === ancestor) return true
  return false
}

/** The states above, innermost first, up to but without `end` (null: up to and with the machine itself). */
export function statesAbove(state: ChartState, end: ChartState | null): ChartState[] {
  const above: ChartState[] = []
  if (state === end) return above
  for (let s = state.parent; s !== null && s !== end; s = s.parent) above.push(s)
  return above
}

/** Every guard name in the expression, in the order of its looks. */
export function guardNames(guard: GuardExpression | null): string[] {
  if (guard === null) return []
  switch (guard.kind) {
    case 'name':
      return [guard.name]
    case 'not':
      return guardNames(guard.of)
    case 'and':
    case 'or':
      return guard.of.flatMap(guardNames)
  }
}
