import { and, not, or } from 'xstate'
import type { AnyStateMachine, AnyStateNode } from 'xstate'
import type { Chart, ChartState, ChartTimer, ChartTransition, GuardExpression, StateKind } from './chart.ts'
import { MachineError } from './errors.ts'
import { refuseHalfRestart, refuseUnorderedAlways, refuseUnsettledStart } from './chart-rules.ts'

const STATE_KEYS = [
  ...['id', 'type', 'initial', 'states', 'on', 'onDone', 'always', 'after', 'entry', 'exit'],
  ...['description', 'meta', 'tags', 'context', 'version', 'types'],
]
const TRANSITION_KEYS = [
  ...['target', 'actions', 'guard', 'reenter', 'description', 'meta'],
  // Added by XState when it reads the configuration.
  ...['source', 'eventType', 'toJSON', 'event', 'delay'],
]

// Told apart by what they check: function names do not survive a minifier.
const checkOf = (guard: unknown): unknown => (guard as { readonly check?: unknown }).check
const NOT = checkOf(not(''))
const AND = checkOf(and([]))
const OR = checkOf(or([]))

type Mutable<T> = { -readonly [K in keyof T]: T[K] }
type TransitionLike = NonNullable<AnyStateNode['always']>[number]

/**
 * Reads a machine, or refuses it.
 * @throws MachineError `machine-not-covered`, naming the state and the feature
 */
export function readChart(machine: AnyStateMachine): Chart {
  const reader = new ChartReader(machine)
  const chart = reader.read()
  refuseUnsettledStart(chart)
  refuseHalfRestart(chart)
  refuseUnorderedAlways(chart)
  return chart
}

class ChartReader {
  readonly #machine: AnyStateMachine
  readonly #states: Mutable<ChartState>[] = []
  readonly #byNode = new Map<AnyStateNode, Mutable<ChartState>>()
  readonly #timers: ChartTimer[] = []

  constructor(machine: AnyStateMachine) {
    this.#machine = machine
  }

  read(): Chart {
    const context: unknown = this.#machine.config.context
    if (context !== undefined && (typeof context !== 'object' || Object.keys(context ?? {}).length > 0)) {
      this.#refuse('', '`context`: what an actor knows is in its record')
    }
    const root = this.#readState(this.#machine.root, null)
    // Targets may lie anywhere: transitions are read once every state is known.
    for (const [node, state] of this.#byNode) this.#readTransitions(node, state)
    return { id: this.#machine.id, root, states: this.#states, timers: this.#timers }
  }

  #readState(node: AnyStateNode, parent: ChartState | null): ChartState {
    const path = node.path.join('.')
    const config = node.config as Readonly<Record<string, unknown>>
    this.#refuseUnknown(path, config, STATE_KEYS)
    if (node.type === 'history') this.#refuse(path, 'history states')
    if (/[.|]/.test(node.key) && parent !== null) this.#refuse(path, 'a state key with "." or "|"')
    const state: Mutable<ChartState> = {
      order: this.#states.length,
      key: node.key,
      path,
      kind: node.type as StateKind,
      parent,
      children: [],
      initial: null,
      entry: this.#actions(path, config['entry']),
      exit: this.#actions(path, config['exit']),
      timers: [],
      on: new Map(),
      always: [],
      doneType: `xstate.done.state.${node.id}`,
      description: node.description ?? null,
    }
    this.#states.push(state)
    this.#byNode.set(node, state)
    state.timers = this.#readTimers(node, state)
    state.children = Object.values(node.states as Record<string, AnyStateNode>).map((n) => this.#readState(n, state))
    const isLeaf = state.kind === 'atomic' || state.kind === 'final'
    if (isLeaf && state.children.length > 0) this.#refuse(path, `states below one that is ${state.kind}`)
    if (state.kind === 'compound') state.initial = this.#initial(node, state)
    if (state.kind === 'parallel' && state.children.length === 0) this.#refuse(path, 'a parallel state without regions')
    return state
  }

  #initial(node: AnyStateNode, state: ChartState): ChartState {
    if (node.initial.actions.length > 0) this.#refuse(state.path, 'actions of an initial transition')
    const key = node.initial.target[0]?.key
    const initial = state.children.find((child) => child.key === key)
    return initial ?? this.#refuse(state.path, 'a compound state without an initial state')
  }

  #readTimers(node: AnyStateNode, source: ChartState): ChartTimer[] {
    const timers: ChartTimer[] = []
    for (const { delay, eventType } of node.after) {
      if (timers.some((timer) => timer.eventType === eventType)) continue
      const word = delay as string | number
      const name = source.path === '' ? `${word}` : `${source.path}.${word}`
      const type = eventType as `xstate.${string}`
      timers.push({ index: this.#timers.length + timers.length, name, source, delay: word, eventType: type })
    }
    this.#timers.push(...timers)
    return timers
  }

  #readTransitions(node: AnyStateNode, state: Mutable<ChartState>): void {
    const own = new Set<string>([state.doneType, ...state.timers.map((timer) => timer.eventType)])
    const on = new Map<string, readonly ChartTransition[]>()
    for (const [type, transitions] of node.transitions as ReadonlyMap<string, readonly TransitionLike[]>) {
      const foreign = type.startsWith('xstate.') && !own.has(type)
      if (foreign) this.#refuse(state.path, `a transition on XState's own event "${type}"`)
      if (type !== '*' && type.includes('*')) this.#refuse(state.path, `the partial wildcard "${type}"`)
      on.set(type, transitions.map((transition, index) => this.#transition(state, type, transition, index)))
    }
    state.on = on
    state.always = (node.always ?? []).map((transition, index) => this.#transition(state, '', transition, index))
  }

  #transition(source: ChartState, eventType: string, transition: TransitionLike, index: number): ChartTransition {
    const place = `${source.path}, on "${eventType === '' ? 'always' : eventType}"`
    this.#refuseUnknown(place, transition as unknown as Readonly<Record<string, unknown>>, TRANSITION_KEYS)
    const guard: unknown = transition.guard
    return {
      id: `${source.path}:${eventType}:${index}`,
      source,
      eventType,
      guard: guard === undefined ? null : this.#guard(place, guard),
      actions: this.#actions(place, transition.actions),
      targets: (transition.target ?? []).map((node) => this.#state(place, node as AnyStateNode)),
      reenter: transition.reenter,
    }
  }

  #state(place: string, node: AnyStateNode): ChartState {
    return this.#byNode.get(node) ?? this.#refuse(place, 'a target outside the machine')
  }

  #actions(place: string, actions: unknown): readonly string[] {
    const list: readonly unknown[] = actions === undefined ? [] : Array.isArray(actions) ? actions : [actions]
    return list.map((action) => {
      if (typeof action === 'function') {
        const builtin = (action as { readonly type?: unknown }).type
        this.#refuse(place, typeof builtin === 'string' ? `the built-in action ${builtin}` : 'an inline action: name it')
      }
      return this.#name(place, action, 'an action')
    })
  }

  #guard(place: string, guard: unknown): GuardExpression {
    if (typeof guard !== 'function') return { kind: 'name', name: this.#name(place, guard, 'a guard') }
    const parts = (guard as { readonly guards?: readonly unknown[] }).guards ?? []
    const of = (): readonly GuardExpression[] => parts.map((part) => this.#guard(place, part))
    switch (checkOf(guard)) {
      case NOT:
        return { kind: 'not', of: this.#guard(place, parts[0]) }
      case AND:
        return { kind: 'and', of: of() }
      case OR:
        return { kind: 'or', of: of() }
      default:
        return this.#refuse(place, 'an inline guard, or one built of another than `not`, `and`, `or`: name it')
    }
  }

  #name(place: string, named: unknown, what: string): string {
    if (typeof named === 'string') return named
    const { type, params } = named as { readonly type?: unknown; readonly params?: unknown }
    if (params !== undefined) this.#refuse(place, `${what} with params`)
    return typeof type === 'string' ? type : this.#refuse(place, `${what} without a name`)
  }

  #refuseUnknown(place: string, config: Readonly<Record<string, unknown>>, known: readonly string[]): void {
    for (const key of Object.keys(config)) {
      if (!known.includes(key) && config[key] !== undefined) this.#refuse(place, `\`${key}\``)
    }
  }

  #refuse(place: string, feature: string): never {
    const where = place === '' ? 'the machine itself' : `state \`${place}\``
    throw new MachineError('machine-not-covered', this.#machine.id, `${where}: not covered: ${feature}`)
  }
}
