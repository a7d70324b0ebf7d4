import type { AnyStateMachine } from 'xstate'
import type { ChartState, ChartTransition } from '../interpreter/chart.ts'
import { readChart } from '../interpreter/chart-reader.ts'
import { guardText } from './graph.ts'

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }

/**
 * The machine's configuration as plain JSON, for tools that open XState machines. Targets are absolute;
 * a guard made of others is named by its words.
 * @throws MachineError `machine-not-covered`, as `compile` does
 */
export function toXStateJson(machine: AnyStateMachine): Json {
  const chart = readChart(machine)
  return { id: chart.id, ...stateJson(chart.root, chart.id) }
}

function stateJson(state: ChartState, id: string): { readonly [key: string]: Json } {
  const transitions = (list: readonly ChartTransition[]): Json => list.map((each) => transitionJson(each, id))
  const after = state.timers.map(
    ({ delay, eventType }) => [`${delay}`, transitions(state.on.get(eventType) ?? [])] as const,
  )
  const internal = new Set<string>([state.doneType, ...state.timers.map((timer) => timer.eventType)])
  const on = [...state.on].filter(([type]) => !internal.has(type)).map(([type, list]) => [type, transitions(list)] as const)
  const done = state.on.get(state.doneType)
  return {
    ...(state.kind === 'parallel' || state.kind === 'final' ? { type: state.kind } : {}),
    ...(state.description === null ? {} : { description: state.description }),
    ...(state.initial === null ? {} : { initial: state.initial.key }),
    ...(state.entry.length > 0 ? { entry: state.entry } : {}),
    ...(state.exit.length > 0 ? { exit: state.exit } : {}),
    ...(state.always.length > 0 ? { always: transitions(state.always) } : {}),
    ...(on.length > 0 ? { on: Object.fromEntries(on) } : {}),
    ...(after.length > 0 ? { after: Object.fromEntries(after) } : {}),
    ...(done === undefined ? {} : { onDone: transitions(done) }),
    ...(state.children.length > 0
      ? { states: Object.fromEntries(state.children.map((child) => [child.key, stateJson(child, id)])) }
      : {}),
  }
}

function transitionJson(transition: ChartTransition, id: string): Json {
  const [first, ...more] = transition.targets.map((target) => (target.path === '' ? `#${id}` : `#${id}.${target.path}`))
  return {
    ...(first === undefined ? {} : { target: more.length > 0 ? [first, ...more] : first }),
    ...(transition.guard === null ? {} : { guard: guardText(transition.guard) }),
    ...(transition.actions.length > 0 ? { actions: transition.actions } : {}),
    ...(transition.reenter ? { reenter: true } : {}),
  }
}
