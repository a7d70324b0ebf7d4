import type { AnyStateMachine } from 'xstate'
import type { Chart } from './chart.ts'
import { guardNames } from './chart.ts'
import { MachineError } from './errors.ts'
import type { Action, ActorRecord, Delay, Guard, Implementations, InternalEvent, Observer } from './interpreter.ts'

/** An implementations object, checked against a machine and completed by the machine's own delays. */
export interface Meanings<A extends ActorRecord, E> {
  readonly actions: ReadonlyMap<string, Action<A, E>>
  readonly guards: ReadonlyMap<string, Guard<A, E>>
  /** Milliseconds of each timer, by its index. */
  readonly delays: readonly ((actor: A, event: E | InternalEvent) => number)[]
}

/**
 * Looks every name of the chart up once.
 * @throws MachineError `machine-name-without-meaning`, naming all that are missing
 */
export function readMeanings<A extends ActorRecord, E extends { readonly type: string }>(
  machine: AnyStateMachine,
  chart: Chart,
  given: Implementations<A, E>,
  observer: Observer<A>,
): Meanings<A, E> {
  const missing: string[] = []
  const find = <T>(kind: string, names: Iterable<string>, table: Readonly<Record<string, T | undefined>>): Map<string, T> => {
    const found = new Map<string, T>()
    for (const name of new Set(names)) {
      const meaning = Object.hasOwn(table, name) ? table[name] : undefined
      if (meaning === undefined) missing.push(`${kind} \`${name}\``)
      else found.set(name, meaning)
    }
    return found
  }
  const transitions = chart.states.flatMap((state) => [...state.always, ...[...state.on.values()].flat()])
  const actionNames = [...chart.states, ...transitions].flatMap((holder) =>
    'actions' in holder ? holder.actions : [...holder.entry, ...holder.exit],
  )
  const actions = find('action', actionNames, given.actions)
  const guards = find('guard', transitions.flatMap((transition) => guardNames(transition.guard)), given.guards)
  const delayNames = chart.timers.flatMap((timer) => (typeof timer.delay === 'string' ? [timer.delay] : []))
  const delays = find<Delay<A, E>>('delay', delayNames, { ...constantDelays(machine), ...given.delays })
  if (missing.length > 0) {
    throw new MachineError('machine-name-without-meaning', chart.id, `no implementation for ${missing.join(', ')}`)
  }
  const delayOf = chart.timers.map(({ name, delay }) =>
    checkedDelay(chart.id, name, typeof delay === 'number' ? delay : (delays.get(delay) ?? Number.NaN)),
  )
  return { actions, guards: observedGuards(guards, observer), delays: delayOf }
}

/** The machine's own delays, milliseconds by name, as far as they are constants. */
export function constantDelays(machine: AnyStateMachine): Readonly<Record<string, number>> {
  const delays: Readonly<Record<string, unknown>> = machine.implementations.delays
  return Object.fromEntries(
    Object.entries(delays).filter((entry): entry is [string, number] => typeof entry[1] === 'number'),
  )
}

function observedGuards<A extends ActorRecord, E>(
  guards: ReadonlyMap<string, Guard<A, E>>,
  observer: Observer<A>,
): ReadonlyMap<string, Guard<A, E>> {
  if (observer.guard === undefined) return guards
  const watch = (name: string, guard: Guard<A, E>): Guard<A, E> => (actor, event) => {
    const passed = guard(actor, event)
    observer.guard?.(actor, name, passed)
    return passed
  }
  return new Map([...guards].map(([name, guard]) => [name, watch(name, guard)]))
}

function checkedDelay<A, E>(machine: string, timer: string, delay: Delay<A, E>): (actor: A, event: E | InternalEvent) => number {
  const check = (ms: number): number => {
    if (ms >= 0 && ms < Number.POSITIVE_INFINITY) return ms
    const message = `timer \`${timer}\`: a delay of ${ms} ms; give a finite number, not below 0`
    throw new MachineError('machine-delay-invalid', machine, message)
  }
  if (typeof delay === 'function') return (actor, event) => check(delay(actor, event))
  const constant = check(delay)
  return () => constant
}
