/**
 * What one microstep does, worked out beforehand for a configuration and the transitions taken in it:
 * SCXML's algorithm (exit set, transition content, entry set) in XState's reading of it.
 */

import type { ChartState, ChartTimer, ChartTransition } from './chart.ts'
import { isBelow, statesAbove } from './chart.ts'
import { isInFinal } from './configurations.ts'

export type Operation =
  | { readonly kind: 'act'; readonly action: string }
  | { readonly kind: 'schedule'; readonly timer: ChartTimer }
  | { readonly kind: 'cancel'; readonly timer: ChartTimer }

export interface Microstep {
  readonly operations: readonly Operation[]
  readonly active: ReadonlySet<ChartState>
  /** Types of the internal events raised on the way, in order. */
  readonly raised: readonly string[]
}

/**
 * The transitions that are left when several would leave the same state: the first in document order. That an
 * inner state goes before an outer one is settled by then: transitions taken together come from different regions.
 */
export function conflictFree(
  transitions: readonly ChartTransition[],
  active: ReadonlySet<ChartState>,
): readonly ChartTransition[] {
  const left = new Set<ChartState>()
  return transitions.filter((transition) => {
    const exits = exitSet([transition], active)
    if ([...exits].some((state) => left.has(state))) return false
    for (const state of exits) left.add(state)
    return true
  })
}

/** The microstep for transitions without conflict. */
export function microstep(transitions: readonly ChartTransition[], before: ReadonlySet<ChartState>): Microstep {
  const operations: Operation[] = []
  const active = new Set(before)
  for (const state of inOrder(exitSet(transitions, before)).reverse()) {
    operations.push(...exitOperations(state))
    active.delete(state)
  }
  for (const action of transitions.flatMap((transition) => transition.actions)) operations.push({ kind: 'act', action })
  const completion = new Completion(active)
  for (const state of inOrder(entrySet(transitions))) {
    active.add(state)
    operations.push(...entryOperations(state))
    if (state.kind === 'final') completion.entered(state)
  }
  if (completion.isOver) for (const state of inOrder(active).reverse()) operations.push(...exitOperations(state))
  return { operations, active, raised: completion.raised }
}

/** What entering the state does, apart from what lies below it. */
export function entryOperations(state: ChartState): Operation[] {
  const actions = state.entry.map((action): Operation => ({ kind: 'act', action }))
  return [...actions, ...state.timers.map((timer): Operation => ({ kind: 'schedule', timer }))]
}

function exitOperations(state: ChartState): Operation[] {
  const actions = state.exit.map((action): Operation => ({ kind: 'act', action }))
  return [...actions, ...state.timers.map((timer): Operation => ({ kind: 'cancel', timer }))]
}

/** Watches final states being entered: which compound and parallel states are done by that, and whether the machine is. */
class Completion {
  readonly raised: string[] = []
  isOver = false
  readonly #active: ReadonlySet<ChartState>
  readonly #completed = new Set<ChartState>()

  constructor(active: ReadonlySet<ChartState>) {
    this.#active = active
  }

  entered(final: ChartState): void {
    const parent = final.parent
    if (parent?.kind === 'compound') this.raised.push(parent.doneType)
    let above = parent?.kind === 'parallel' ? parent : (parent?.parent ?? null)
    while (above?.kind === 'parallel' && !this.#completed.has(above) && isInFinal(above, this.#active)) {
      this.#completed.add(above)
      this.raised.push(above.doneType)
      above = above.parent
    }
    if (above === null) this.isOver = true
  }
}

function inOrder(states: Iterable<ChartState>): ChartState[] {
  return [...states].sort((a, b) => a.order - b.order)
}

/** The state within which a transition happens; null when it leaves the machine itself. */
function domain(transition: ChartTransition): ChartState | null {
  const { source, targets, reenter } = transition
  if (!reenter && targets.every((target) => target === source || isBelow(target, source))) return source
  const [head, ...tail] = [...targets, source]
  const lowest = statesAbove(head ?? source, null).find((above) => tail.every((state) => isBelow(state, above)))
  if (lowest !== undefined) return lowest
  return reenter ? null : machineOf(source)
}

function machineOf(state: ChartState): ChartState {
  return state.parent === null ? state : machineOf(state.parent)
}

function exitSet(transitions: readonly ChartTransition[], active: ReadonlySet<ChartState>): Set<ChartState> {
  const exits = new Set<ChartState>()
  for (const transition of transitions) {
    if (transition.targets.length === 0) continue
    const within = domain(transition)
    for (const state of active) if (within === null || isBelow(state, within)) exits.add(state)
  }
  return exits
}

function entrySet(transitions: readonly ChartTransition[]): ReadonlySet<ChartState> {
  const entries = new Set<ChartState>()
  for (const transition of transitions) {
    const within = domain(transition)
    for (const target of transition.targets) {
      const staysInside = transition.source === target && transition.source === within && !transition.reenter
      if (!staysInside) entries.add(target)
      addBelow(target, entries)
    }
    const bound = transition.source.parent === null && transition.reenter ? null : within
    for (const target of transition.targets) {
      const above = statesAbove(target, within)
      if (within?.kind === 'parallel') above.push(within)
      addAbove(above, bound, entries)
    }
  }
  return entries
}

function addBelow(state: ChartState, entries: Set<ChartState>): void {
  if (state.kind === 'compound' && state.initial !== null) {
    entries.add(state.initial)
    addBelow(state.initial, entries)
  } else if (state.kind === 'parallel') {
    addMissingRegions(state, entries)
  }
}

function addAbove(above: readonly ChartState[], bound: ChartState | null, entries: Set<ChartState>): void {
  for (const state of above) {
    if (bound === null || isBelow(state, bound)) entries.add(state)
    if (state.kind === 'parallel') addMissingRegions(state, entries)
  }
}

function addMissingRegions(parallel: ChartState, entries: Set<ChartState>): void {
  for (const region of parallel.children) {
    if ([...entries].some((state) => isBelow(state, region))) continue
    entries.add(region)
    addBelow(region, entries)
  }
}
