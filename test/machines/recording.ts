/** A host that writes down what a machine does to it, and answers guards from the record. */

import type { AnyStateMachine } from 'xstate'
import type { ActorRecord, Implementations, Interpreter, Observer } from '../../machines/interpreter/interpreter.ts'

export interface TestEvent {
  readonly type: string
}

export interface TestActor extends ActorRecord {
  readonly name: string
  /** Actions run so far: guards may depend on it, so that `always` sees what actions did. */
  actions: string[]
  /** Timers pending, by index, with their delays. */
  pending: Map<number, number>
  /** Timer calls that changed something, in order. */
  timerLog: string[]
}

export function testActor(name = 'a'): TestActor {
  return { state: -1, name, actions: [], pending: new Map(), timerLog: [] }
}

export type GuardTable = Readonly<Record<string, (actor: TestActor, event: TestEvent) => boolean>>

/** Implementations that record each action with the event that caused it, and keep the actor's pending timers. */
export function recording(
  names: readonly string[],
  guards: GuardTable,
  delays: Readonly<Record<string, number | ((actor: TestActor) => number)>> = {},
): Implementations<TestActor, TestEvent> {
  const action =
    (name: string) =>
    (actor: TestActor, event: TestEvent): void => {
      actor.actions.push(`${name} on ${event.type}`)
    }
  return {
    actions: Object.fromEntries(names.map((name) => [name, action(name)])),
    guards,
    delays,
    schedule(actor, timer, delayMs) {
      if (actor.pending.has(timer)) throw new Error(`timer ${timer} is pending already`)
      actor.pending.set(timer, delayMs)
      actor.timerLog.push(`schedule ${timer} in ${delayMs}`)
    },
    cancel(actor, timer) {
      if (actor.pending.delete(timer)) actor.timerLog.push(`cancel ${timer}`)
    },
  }
}

/** Makes a due timer come back, as its owner does: it pends no more, then the machine hears of it. */
export function fire(interpreter: Interpreter<TestActor, TestEvent>, actor: TestActor, timer: number): boolean {
  actor.pending.delete(timer)
  return interpreter.fire(actor, timer)
}

/** Everything about an actor that two interpreters must agree on. */
export function seen(interpreter: Interpreter<TestActor, TestEvent>, actor: TestActor): unknown {
  return {
    state: interpreter.states[actor.state],
    actions: actor.actions,
    timers: actor.timerLog,
    pending: [...actor.pending].sort(([a], [b]) => a - b),
    isFinal: interpreter.isFinal(actor),
  }
}

export type Make = (
  machine: AnyStateMachine,
  implementations: Implementations<TestActor, TestEvent>,
  observer?: Observer<TestActor>,
) => Interpreter<TestActor, TestEvent>
