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
  readonly actor: MaskedActor
  readonly trace: unknown[]
}

interface MaskedActor extends TestActor {
  mask: number
}

/** Makes both interpreters, lets both take the commands, and compares after each. */
export function expectAgreement(subject: Subject, story: readonly Command[]): void {
  const runs = [compile as Make, createXStateInterpreter as Make].map((make) => begin(subject, make))
  const [table, xstate] = runs as [Run, Run]
  expect(table.interpreter.states).toEqual(xstate.interpreter.states)
  expect(table.interpreter.timers).toEqual(xstate.interpreter.timers)
  expectSame(subject, table, xstate)
  for (const command of story) {
    const results = runs.map((run) => outcome(() => perform(subject, run, command)))
    expect(results[0]).toEqual(results[1])
    // After an error an actor may be anything.
    if (typeof results[0] === 'string') return
    expectSame(subject, table, xstate)
  }
}

function begin(subject: Subject, make: Make): Run {
  const trace: unknown[] = []
  const observer: Observer<TestActor> = {
    transition: (actor, transition) => trace.push({ ...transition, stateThen: actor.state, actions: actor.actions.length }),
  }
  // What a guard answers changes with every action, so that its looks must come in the right order.
  const guards = subject.guards.map((name, index) => {
    const guard = (actor: TestActor): boolean => (((actor as MaskedActor).mask >> ((index + actor.actions.length) % 16)) & 1) === 1
    return [name, guard] as const
  })
  const host = recording(subject.actions, Object.fromEntries(guards), subject.delays)
  const run = { interpreter: make(subject.machine, host, observer), actor: { ...testActor(), mask: 0 }, trace }
  run.interpreter.start(run.actor)
  return run
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

function expectSame(subject: Subject, table: Run, xstate: Run): void {
  expect(seen(table.interpreter, table.actor)).toEqual(seen(xstate.interpreter, xstate.actor))
  expect(table.trace).toEqual(xstate.trace)
  for (const type of [...subject.events, 'no such event']) {
    expect(table.interpreter.accepts(table.actor, type)).toBe(xstate.interpreter.accepts(xstate.actor, type))
  }
}
