/**
 * Which transitions are taken, as a tree of looks at guards: worked out beforehand for a configuration
 * and an event, so that at run time no state is searched and no combination of guards is interpreted.
 */

import type { ChartState, ChartTransition, GuardExpression } from './chart.ts'
import { statesAbove } from './chart.ts'

export type Decision<Leaf> =
  | { readonly kind: 'look'; readonly guard: string; readonly yes: Decision<Leaf>; readonly no: Decision<Leaf> }
  | { readonly kind: 'take'; readonly leaf: Leaf }
  | { readonly kind: 'nothing' }

/** Makes the end of a branch out of the transitions taken on it. */
export type LeafMaker<Leaf> = (taken: readonly ChartTransition[]) => Decision<Leaf>

/** Event selection: the innermost state that has an enabled transition wins; regions choose apart. */
export function decideEvent<Leaf>(
  root: ChartState,
  active: ReadonlySet<ChartState>,
  eventType: string,
  leaf: LeafMaker<Leaf>,
): Decision<Leaf> {
  const own = (state: ChartState, none: () => Decision<Leaf>, some: LeafMaker<Leaf>): Decision<Leaf> =>
    firstOf(candidates(state, eventType), none, some)
  const decide = (state: ChartState, none: () => Decision<Leaf>, some: LeafMaker<Leaf>): Decision<Leaf> => {
    const children = state.children.filter((child) => active.has(child))
    const region = (index: number, taken: readonly ChartTransition[]): Decision<Leaf> => {
      const child = children[index]
      if (child === undefined) return taken.length > 0 ? some(taken) : own(state, none, some)
      return decide(
        child,
        () => region(index + 1, taken),
        (more) => region(index + 1, [...taken, ...more]),
      )
    }
    return region(0, [])
  }
  return decide(root, () => ({ kind: 'nothing' }), leaf)
}

/** `always` selection. All that can be enabled together lie on one line of descent (see chart-rules). */
export function decideAlways<Leaf>(active: ReadonlySet<ChartState>, leaf: LeafMaker<Leaf>): Decision<Leaf> {
  for (const state of active) {
    if (state.children.length > 0) continue
    const line = [state, ...statesAbove(state, null)].flatMap((s) => s.always)
    if (line.length > 0) return firstOf(line, () => ({ kind: 'nothing' }), leaf)
  }
  return { kind: 'nothing' }
}

const NONE: readonly ChartTransition[] = []

/** What a state tries on an event, in order: its exact transitions, then its wildcard's. */
export function candidates(state: ChartState, eventType: string): readonly ChartTransition[] {
  const exact = eventType === '*' ? undefined : state.on.get(eventType)
  const wildcard = state.on.get('*')
  if (exact === undefined || wildcard === undefined) return exact ?? wildcard ?? NONE
  return [...exact, ...wildcard]
}

function firstOf<Leaf>(
  transitions: readonly ChartTransition[],
  none: () => Decision<Leaf>,
  some: LeafMaker<Leaf>,
): Decision<Leaf> {
  if (transitions.length === 0) return none()
  const unguarded = transitions.findIndex((transition) => transition.guard === null)
  const tried = unguarded < 0 ? transitions : transitions.slice(0, unguarded)
  const last = transitions[unguarded]
  const otherwise = last === undefined ? none() : some([last])
  return tried.reduceRight<Decision<Leaf>>(
    (no, transition) => (transition.guard === null ? no : look(transition.guard, some([transition]), no)),
    otherwise,
  )
}

function look<Leaf>(guard: GuardExpression, yes: Decision<Leaf>, no: Decision<Leaf>): Decision<Leaf> {
  switch (guard.kind) {
    case 'name':
      return { kind: 'look', guard: guard.name, yes, no }
    case 'not':
      return look(guard.of, no, yes)
    case 'and':
      return guard.of.reduceRight((then, part) => look(part, then, no), yes)
    case 'or':
      return guard.of.reduceRight((then, part) => look(part, yes, then), no)
  }
}
