/** Runs one machine under both interpreters at once and demands that nothing tells them apart. */

import fc from 'fast-check'
import type { AnyStateMachine } from 'xstate'
import { expect } from 'vitest'
import { compile } from '../../machines/interpreter/compile.ts'
import { MachineError } from '../../machines/interpreter/errors.ts'
import type { Interpreter, Observer } from '../../machines/interpreter/interpreter.ts'
import { createXStateInterpreter } from '../../machines/interpreter/xstate-actors.ts'
import type { Make, TestActor, TestEvent } from './recording.ts'
import { fire, recording, seen, testActor } from './recording.ts'

/** Something that happens to an actor. `mask` decides what its guards answer until the next one. */
export interface Command {
  readonly what: 'send' | 'fire' | 'restore'
  /** Which event, or which of the timers. */
  readonly choice: number
  readonly mask: number
}

export const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.record({
    what: fc.constantFrom('send', 'send', 'send', 'send', 'fire', 'restore'),
    choice: fc.nat({ max: 1_000 }),
    mask: fc.nat({ max: 0xffff }),
  }),
  { minLength: 1, maxLength: 30 },
)

export interface Subject {
  readonly machine: AnyStateMachine
  readonly events: readonly string[]
  readonly actions: readonly string[]
  readonly guards: readonly string[]
  readonly delays?: Readonly<Record<string, number | ((actor: TestActor) => number)>>
}

interface Run {
  readonly interpreter: Interpreter<TestActor, TestEvent>
  readonly actor: WatchedActor
}

interface WatchedActor extends TestActor {
  mask: number
  readonly trace: unknown[]
}

/** Lets both interpreters take the commands, and compares after each. */
export function expectAgreement(subject: Subject, story: readonly Command[]): void {
  const runs = interpretersOf(subject).map(begin) as [Run, Run]
  expectSame(subject, runs)
  for (const command of story) {
    const results = runs.map((run) => outcome(() => perform(subject, run, command)))
    expect(results[0]).toEqual(results[1])
    // After an error an actor may be anything.
    if (typeof results[0] === 'string') return
    expectSame(subject, runs)
  }
}

const made = new WeakMap<Subject, readonly Interpreter<TestActor, TestEvent>[]>()

/** Both, made once per subject: an interpreter knows nothing of earlier actors. */
function interpretersOf(subject: Subject): readonly Interpreter<TestActor, TestEvent>[] {
  const known = made.get(subject)
  if (known !== undefined) return known
  const both = [compileable(() => makeWatched(subject, compile as Make)), makeWatched(subject, createXStateInterpreter as Make)]
  expect(both[0]?.states).toEqual(both[1]?.states)
  expect(both[0]?.timers).toEqual(both[1]?.timers)
  made.set(subject, both)
  return both
}

/** A machine too large for a table is refused, which is right and leaves nothing to compare. */
function compileable<T>(make: () => T): T {
  try {
    return make()
  } catch (error) {
    fc.pre(!(error instanceof MachineError && error.code === 'machine-too-large'))
    throw error
  }
}

function makeWatched(subject: Subject, make: Make): Interpreter<TestActor, TestEvent> {
  const observer: Observer<TestActor> = {
    transition: (actor, transition) => {
      const { trace, state, actions } = actor as WatchedActor
      trace.push({ ...transition, stateThen: state, actions: actions.length })
    },
  }
  // What a guard answers changes with every action, so that its looks must come in the right order.
  const guards = subject.guards.map((name, index) => {
    const guard = (actor: TestActor): boolean => (((actor as WatchedActor).mask >> ((index + actor.actions.length) % 16)) & 1) === 1
    return [name, guard] as const
  })
  return make(subject.machine, recording(subject.actions, Object.fromEntries(guards), subject.delays), observer)
}

function begin(interpreter: Interpreter<TestActor, TestEvent>): Run {
  const actor = { ...testActor(), mask: 0, trace: [] }
  interpreter.start(actor)
  return { interpreter, actor }
}

function perform(subject: Subject, { interpreter, actor }: Run, command: Command): boolean {
  actor.mask = command.mask
  switch (command.what) {
    case 'send':
      return interpreter.send(actor, { type: subject.events[command.choice % subject.events.length] ?? '' })
    case 'fire':
      // Mostly one that pends; sometimes one that does not, as a wake-up that comes too late.
      return interpreter.timers.length > 0 && fire(interpreter, actor, timerFor(interpreter, actor, command.choice))
    case 'restore':
      interpreter.restore(actor, interpreter.states[actor.state] ?? '')
      return true
  }
}

function timerFor(interpreter: Interpreter<TestActor, TestEvent>, actor: TestActor, choice: number): number {
  const pending = [...actor.pending.keys()].sort((a, b) => a - b)
  if (pending.length > 0 && choice % 5 !== 0) return pending[choice % pending.length] ?? 0
  return choice % interpreter.timers.length
}

/** What came of it: whether a transition was taken, or the code of an error. */
function outcome(act: () => boolean): boolean | string {
  try {
    return act()
  } catch (error) {
    if (error instanceof MachineError) return error.code
    throw error
  }
}

function expectSame(subject: Subject, [table, xstate]: readonly [Run, Run]): void {
  const all = ({ interpreter, actor }: Run): unknown => ({
    seen: seen(interpreter, actor),
    trace: actor.trace,
    accepts: [...subject.events, 'no such event'].map((type) => interpreter.accepts(actor, type)),
  })
  expect(all(table)).toEqual(all(xstate))
  // What was compared need not be compared again.
  for (const { actor } of [table, xstate]) actor.trace.length = 0
}
