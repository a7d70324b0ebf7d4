import { createActor } from 'xstate'
import type { AnyActor, AnyActorRef, AnyMachineSnapshot, AnyStateMachine, AnyStateNode, StateValue } from 'xstate'
import type { Chart, ChartState, ChartTransition } from './chart.ts'
import { readChart } from './chart-reader.ts'
import { microstepLimit, timersOf, unknownConfiguration } from './compile.ts'
import type { Configuration } from './configurations.ts'
import { allConfigurations, leavesPath } from './configurations.ts'
import { MachineError } from './errors.ts'
import { MICROSTEPS_MAX } from './interpreter.ts'
import type { ActorRecord, Implementations, InternalEvent, Interpreter, Observer, Timer } from './interpreter.ts'
import { readMeanings } from './meanings.ts'
import { conflictFree } from './microstep.ts'
import { Sends } from './sends.ts'

type Scheduler = AnyActor['system']['scheduler']

/**
 * Runs a machine on one XState actor per record: slow, and right by definition. It refuses what `compile`
 * refuses, and is told apart from it by nothing but time and memory.
 */
export function createXStateInterpreter<A extends ActorRecord, E extends { readonly type: string }>(
  machine: AnyStateMachine,
  implementations: Implementations<A, E>,
  observer: Observer<A> = {},
): Interpreter<A, E> {
  return new XStateInterpreter(machine, implementations, observer)
}

/** An XState actor, and what went wrong in it: XState would report that to the process, not to the caller. */
interface Running {
  readonly ref: AnyActor
  failure: { readonly error: unknown } | null
  hasTaken: boolean
}

class XStateInterpreter<A extends ActorRecord, E extends { readonly type: string }> implements Interpreter<A, E> {
  readonly id: string
  readonly states: readonly string[]
  readonly timers: readonly Timer[]
  readonly #chart: Chart
  readonly #machine: AnyStateMachine
  readonly #host: Implementations<A, E>
  readonly #observer: Observer<A>
  readonly #configurations: ReadonlyMap<string, Configuration>
  readonly #transitions = new Map<object, ChartTransition>()
  // Weak: a record that is dropped without `release` takes its actor with it.
  readonly #running = new WeakMap<A, Running>()
  readonly #sends: Sends<A>

  constructor(machine: AnyStateMachine, host: Implementations<A, E>, observer: Observer<A>) {
    this.#chart = readChart(machine)
    this.id = this.#chart.id
    this.timers = timersOf(this.#chart)
    const configurations = allConfigurations(this.#chart)
    this.states = configurations.map(({ path }) => path)
    this.#configurations = new Map(configurations.map((configuration) => [configuration.path, configuration]))
    this.#host = host
    this.#observer = observer
    this.#sends = new Sends(this.id)
    this.#machine = this.#provide(machine)
    this.#indexTransitions(this.#machine.root)
  }

  start(actor: A): void {
    const { ref } = this.#create(actor, undefined)
    actor.state = this.#configuration(ref.getSnapshot() as AnyMachineSnapshot).index
    this.#enter(actor, () => ref.start())
  }

  send(actor: A, event: E): boolean {
    return this.#deliver(actor, event)
  }

  fire(actor: A, timer: number): boolean {
    const due = this.#chart.timers[timer]
    if (due === undefined) throw new RangeError(`machine \`${this.id}\` has no timer ${timer}`)
    return this.#deliver(actor, { type: due.eventType })
  }

  restore(actor: A, state: string): void {
    const configuration = this.#configurations.get(state)
    if (configuration === undefined) throw unknownConfiguration(this.id, state)
    const value = stateValue(this.#chart.root, new Set(configuration.active))
    const { ref } = this.#create(actor, this.#machine.resolveState({ value, context: {} }))
    actor.state = configuration.index
    ref.start()
  }

  isFinal(actor: A): boolean {
    return this.#snapshot(actor).status === 'done'
  }

  accepts(actor: A, eventType: string): boolean {
    const { status, _nodes: nodes } = this.#snapshot(actor)
    if (status !== 'active') return false
    return nodes.some((node) => [...node.transitions.keys()].some((type) => type === eventType || type === '*'))
  }

  release(actor: A): void {
    this.#running.get(actor)?.ref.stop()
    this.#running.delete(actor)
  }

  #provide(machine: AnyStateMachine): AnyStateMachine {
    const { actions, guards, delays } = readMeanings(machine, this.#chart, this.#host, this.#observer)
    type Argument = { readonly event: E | InternalEvent }
    const bound = <T>(meaning: (actor: A, event: E | InternalEvent) => T) => (argument: Argument): T =>
      meaning(this.#sends.current, argument.event)
    const all = <T>(meanings: ReadonlyMap<string, (actor: A, event: E | InternalEvent) => T>) =>
      Object.fromEntries([...meanings].map(([name, meaning]) => [name, bound(meaning)]))
    const named = this.#chart.timers.flatMap(({ delay, index }) => {
      const meaning = delays[index]
      return typeof delay === 'string' && meaning !== undefined ? [[delay, bound(meaning)] as const] : []
    })
    const provided = machine.provide({
      actions: all(actions),
      guards: all(guards),
      delays: Object.fromEntries(named),
    })
    provided.options.maxIterations = MICROSTEPS_MAX
    return provided
  }

  #indexTransitions(node: AnyStateNode): void {
    const state = this.#chart.states[node.order]
    if (state === undefined) return
    const pair = (originals: readonly object[], transitions: readonly ChartTransition[]): void => {
      originals.forEach((original, index) => {
        const transition = transitions[index]
        if (transition !== undefined) this.#transitions.set(original, transition)
      })
    }
    pair(node.always ?? [], state.always)
    for (const [type, transitions] of state.on) pair(node.transitions.get(type) ?? [], transitions)
    for (const child of Object.values(node.states as Record<string, AnyStateNode>)) this.#indexTransitions(child)
  }

  #create(actor: A, snapshot: AnyMachineSnapshot | undefined): Running {
    this.release(actor)
    const ref = this.#createRef(actor, snapshot)
    const running: Running = { ref, failure: null, hasTaken: false }
    ref.system.scheduler = this.#scheduler(actor)
    ref.subscribe({
      error: (error) => {
        running.failure = { error }
      },
    })
    this.#running.set(actor, running)
    return running
  }

  #createRef(actor: A, snapshot: AnyMachineSnapshot | undefined): AnyActor {
    // Delays of the initial state are asked for while the actor is made.
    this.#sends.enter(actor)
    try {
      return createActor(this.#machine, {
        ...(snapshot === undefined ? {} : { snapshot }),
        inspect: (inspected) => {
          if (inspected.type !== '@xstate.microstep' || inspected._transitions.length === 0) return
          this.#stepped(actor, inspected.event.type, inspected.snapshot as AnyMachineSnapshot, inspected._transitions)
        },
      })
    } finally {
      this.#sends.leave()
    }
  }

  /** Timers go to the host, and so do cancellations of timers that pend since before a restore. */
  #scheduler(actor: A): Scheduler {
    const index = (id: string | undefined): number => {
      const timer = this.#chart.timers.find(({ eventType }) => eventType === id)
      if (timer === undefined) throw new MachineError('machine-not-covered', this.id, `a delayed event \`${id}\``)
      return timer.index
    }
    return {
      schedule: (_source: AnyActorRef, _target: AnyActorRef, _event, delay: number, id) => {
        this.#host.schedule(actor, index(id), delay)
      },
      cancel: (_source: AnyActorRef, id: string) => this.#host.cancel(actor, index(id)),
      // An actor that is over has left its states one by one; one that is released is no longer asked about.
      cancelAll: () => {},
    }
  }

  #stepped(actor: A, eventType: string, snapshot: AnyMachineSnapshot, taken: readonly object[]): void {
    const running = this.#running.get(actor)
    if (running !== undefined) running.hasTaken = true
    const from = this.states[actor.state] ?? ''
    const next = this.#configuration(snapshot)
    if (this.#observer.transition !== undefined) {
      const transitions = taken.flatMap((transition) => this.#transitions.get(transition) ?? [])
      const active = new Set(this.#configurations.get(from)?.active)
      const edges = conflictFree(transitions, active).map(({ id }) => ({ id }))
      this.#observer.transition(actor, { from, to: next.path, eventType, edges })
    }
    actor.state = next.index
  }

  #configuration(snapshot: AnyMachineSnapshot): Configuration {
    const active = snapshot._nodes.map((node) => this.#chart.states[node.order])
    const path = leavesPath(active.filter((state) => state !== undefined))
    const configuration = this.#configurations.get(path)
    if (configuration === undefined) throw unknownConfiguration(this.id, path)
    return configuration
  }

  #deliver(actor: A, event: E | InternalEvent): boolean {
    return this.#enter(actor, (running) => {
      if (this.isFinal(actor)) return false
      running.hasTaken = false
      running.ref.send(event)
      return running.hasTaken
    })
  }

  #enter<T>(actor: A, act: (running: Running) => T): T {
    const running = this.#of(actor)
    this.#sends.enter(actor)
    try {
      const result = act(running)
      if (running.failure !== null) throw this.#named(running.failure.error, actor)
      return result
    } finally {
      this.#sends.leave()
    }
  }

  #named(error: unknown, actor: A): unknown {
    const isLimit = error instanceof Error && error.message.startsWith('Infinite loop detected')
    return isLimit ? microstepLimit(this.id, this.states[actor.state] ?? '') : error
  }

  #of(actor: A): Running {
    const running = this.#running.get(actor)
    if (running !== undefined) return running
    throw new MachineError('machine-actor-unknown', this.id, 'an actor that was neither started nor restored')
  }

  #snapshot(actor: A): AnyMachineSnapshot {
    return this.#of(actor).ref.getSnapshot() as AnyMachineSnapshot
  }
}

/** XState's form of a configuration, below `state`. */
function stateValue(state: ChartState, active: ReadonlySet<ChartState>): StateValue {
  const children = state.children.filter((child) => active.has(child))
  const [only] = children
  if (state.kind === 'compound' && only !== undefined && only.children.length === 0) return only.key
  return Object.fromEntries(children.map((child) => [child.key, stateValue(child, active)]))
}
