/** Tells what happens to one actor of a machine, under either interpreter. */

import { compile } from '../../machines/interpreter/compile.ts'
import type { Interpreter } from '../../machines/interpreter/interpreter.ts'
import { createXStateInterpreter } from '../../machines/interpreter/xstate-actors.ts'
import type { Subject } from './agreement.ts'
import type { Make, TestActor, TestEvent } from './recording.ts'
import { fire, recording, testActor } from './recording.ts'

export const interpreters: readonly (readonly [string, Make])[] = [
  ['the compiled table', compile as Make],
  ['an XState actor', createXStateInterpreter as Make],
]

type Answer = boolean | ((actor: TestActor) => boolean)

/** Guards not named answer false. */
export function given(make: Make, subject: Subject, answers: Readonly<Record<string, Answer>> = {}): Story {
  const guards = subject.guards.map((name) => {
    const answer = answers[name] ?? false
    return [name, typeof answer === 'boolean' ? () => answer : answer] as const
  })
  return new Story(make(subject.machine, recording(subject.actions, Object.fromEntries(guards), subject.delays)))
}

export class Story {
  readonly interpreter: Interpreter<TestActor, TestEvent>
  readonly actor: TestActor = testActor()

  constructor(interpreter: Interpreter<TestActor, TestEvent>) {
    this.interpreter = interpreter
    interpreter.start(this.actor)
  }

  when(...events: readonly string[]): this {
    for (const type of events) this.interpreter.send(this.actor, { type })
    return this
  }

  /** The pending timer with this delay comes due. */
  whenDue(delay: string): this {
    const timer = this.interpreter.timers.findIndex((each, index) => each.delay === delay && this.actor.pending.has(index))
    if (timer < 0) throw new Error(`no timer \`${delay}\` is pending: ${this.pending.join(', ')}`)
    fire(this.interpreter, this.actor, timer)
    return this
  }

  get state(): string | undefined {
    return this.interpreter.states[this.actor.state]
  }

  /** Actions run so far, in order. */
  get actions(): readonly string[] {
    return this.actor.actions.map((action) => action.replace(/ on .*/, ''))
  }

  /** Pending timers with their delays in ms: `sentTimeout 30000`. */
  get pending(): readonly string[] {
    return [...this.actor.pending].map(([timer, ms]) => `${this.interpreter.timers[timer]?.delay} ${ms}`)
  }

  get isFinal(): boolean {
    return this.interpreter.isFinal(this.actor)
  }
}

/** Whether the action ran already: for guards that read what actions did. */
export function done(action: string, times = 1): (actor: TestActor) => boolean {
  return (actor) => actor.actions.filter((each) => each.startsWith(`${action} `)).length >= times
}
