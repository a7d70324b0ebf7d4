import { describe, expect, it } from 'vitest'
import {
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  fromPromise,
  log,
  raise,
  sendTo,
  spawnChild,
  stateIn,
} from 'xstate'
import type { AnyStateMachine } from 'xstate'
import type { MachineError } from '../../machines/interpreter/errors.ts'
import type { Make } from './recording.ts'
import { recording } from './recording.ts'
import { interpreters } from './story.ts'

const host = recording(['act'], { is: () => true }, { soon: 10 })

function refusal(make: Make, machine: AnyStateMachine, implementations = host): MachineError {
  try {
    make(machine, implementations)
  } catch (error) {
    return error as MachineError
  }
  throw new Error('it was not refused')
}

/** A machine whose state `b` is the given one. */
const withState = (b: object): AnyStateMachine =>
  createMachine({ id: 'm', initial: 'a', states: { a: { on: { go: 'b' } }, b } } as never) as AnyStateMachine
const withTransition = (transition: unknown): AnyStateMachine => withState({ on: { go: transition } })
const parallel = (x: object, y: object, around: object = {}): AnyStateMachine =>
  createMachine({ id: 'm', type: 'parallel', ...around, states: { x, y } } as never) as AnyStateMachine
const hasAlways = { initial: 'one', states: { one: { on: { go: 'two' } }, two: { always: { guard: 'is', target: 'one' } } } }

const notCovered: readonly (readonly [string, AnyStateMachine, string])[] = [
  ['an invoked actor', withState({ invoke: { src: fromPromise(() => Promise.resolve(1)) } }), 'state `b`: not covered: `invoke`'],
  ['a history state', withState({ initial: 'c', states: { c: {}, h: { type: 'history' } } }), 'state `b.h`: not covered: history'],
  ['context', createMachine({ id: 'm', context: { n: 1 } }), 'the machine itself: not covered: `context`'],
  ['output', withState({ type: 'final', output: 1 }), 'state `b`: not covered: `output`'],
  ['a misspelt key of a state', withState({ onEntry: 'act' }), 'state `b`: not covered: `onEntry`'],
  ['a misspelt key of a transition', withTransition({ target: 'a', gaurd: 'is' }), '`b, on "go"`: not covered: `gaurd`'],
  ['an inline action', withState({ entry: () => {} }), 'state `b`: not covered: an inline action'],
  ['an inline guard', withTransition({ target: 'a', guard: () => true }), 'an inline guard'],
  ['a guard on another state', withTransition({ target: 'a', guard: stateIn('a') }), 'an inline guard'],
  ['an action with params', withState({ exit: { type: 'act', params: { n: 1 } } }), 'an action with params'],
  ['a guard with params', withTransition({ target: 'a', guard: { type: 'is', params: {} } }), 'a guard with params'],
  ['assign', withState({ entry: assign({}) }), 'the built-in action xstate.assign'],
  ['raise', withTransition({ actions: raise({ type: 'go' }) }), 'the built-in action xstate.raise'],
  ['sendTo', withState({ entry: sendTo('other', { type: 'go' }) }), 'the built-in action xstate.sendTo'],
  ['cancel', withState({ entry: cancel('id') }), 'the built-in action xstate.cancel'],
  ['spawnChild', withState({ entry: spawnChild('other') }), 'the built-in action xstate.spawnChild'],
  ['emit', withState({ entry: emit({ type: 'go' }) }), 'the built-in action xstate.emit'],
  ['log', withState({ entry: log('x') }), 'the built-in action xstate.log'],
  ['enqueueActions', withState({ entry: enqueueActions(() => {}) }), 'the built-in action xstate.enqueueActions'],
  ['a partial wildcard', withState({ on: { 'go.*': 'a' } }), 'the partial wildcard "go.*"'],
  ["a transition on XState's own events", withState({ on: { 'xstate.done.actor.x': 'a' } }), 'own event'],
  ['actions of an initial transition', withState({ initial: { target: 'c', actions: 'act' }, states: { c: {} } }), 'initial transition'],
  ['a key that paths cannot tell', createMachine({ id: 'm', initial: 'a|b', states: { 'a|b': {} } }), 'a state key'],
  ['entry actions at the start', createMachine({ id: 'm', initial: 'a', states: { a: { entry: 'act' } } }), 'entry actions of an initial'],
  ['`always` at the start', createMachine({ id: 'm', initial: 'a', states: { a: { always: 'b' }, b: {} } }), '`always` of an initial'],
  ['a start that is an end', createMachine({ id: 'm', initial: 'a', states: { a: { type: 'final' } } }), 'an initial state that is final'],
  ['a half restart', withTransition('#m'), 'without `reenter: true`'],
  ['`always` in two regions', parallel(hasAlways, hasAlways), '`always` in more than one region'],
  ['`always` in a region and above it', withState({ type: 'parallel', always: { guard: 'is', target: 'a' }, states: { x: hasAlways, y: {} } }), 'in or above'],
  ['targets that exclude each other', parallel({ initial: 'one', states: { one: {}, two: {} } }, {}, { on: { go: { target: ['.x.one', '.x.two'] } } }), 'cannot be active together'],
]

describe.each(interpreters)('a machine for %s', (name, make: Make) => {
  // Targets that exclude each other only show where steps are worked out beforehand.
  const cases = notCovered.filter(([feature]) => name === 'the compiled table' || !feature.startsWith('targets'))

  it.each(cases)('is refused with %s, by name and place', (_feature, machine, message) => {
    const error = refusal(make, machine)
    expect(error.code).toBe('machine-not-covered')
    expect(error.message).toContain('machine `m`')
    expect(error.message).toContain(message)
  })

  it('is refused with all names that mean nothing', () => {
    const machine = withState({ entry: ['act', 'dance'], on: { go: { target: 'a', guard: 'isRaining' } }, after: { later: 'a' } })
    const error = refusal(make, machine)
    expect(error.code).toBe('machine-name-without-meaning')
    expect(error.message).toContain('action `dance`, guard `isRaining`, delay `later`')
  })

  it('is refused when a name means only what every object inherits', () => {
    expect(refusal(make, withState({ entry: 'toString' })).code).toBe('machine-name-without-meaning')
  })

  it('is refused with a delay that never comes due', () => {
    const machine = withState({ after: { soon: 'a' } })
    for (const ms of [-1, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(refusal(make, machine, recording([], {}, { soon: ms })).code).toBe('machine-delay-invalid')
    }
  })

  it('is refused when its regions make too many configurations', () => {
    const states = (n: number, state: object): object => Object.fromEntries(Array.from({ length: n }, (_, i) => [`s${i}`, state]))
    const region = { initial: 's0', states: states(9, {}) }
    const machine = createMachine({ id: 'm', type: 'parallel', states: states(4, region) } as never) as AnyStateMachine
    expect(refusal(make, machine).code).toBe('machine-too-large')
  })
})

describe('the table of a machine', () => {
  it('is refused when guards in many regions multiply', () => {
    const transitions = Array.from({ length: 9 }, (_, i) => ({ guard: 'is', target: `t${i}` }))
    const targets = Object.fromEntries(transitions.map(({ target }) => [target, {}]))
    const region = { initial: 's', states: { s: { on: { go: transitions } }, ...targets } }
    const one = { initial: 's', states: { s: { on: { go: transitions.map((each) => ({ ...each, target: 's' })) } } } }
    const states = { a: region, b: region, c: one, d: one, e: one, f: one }
    const machine = createMachine({ id: 'm', type: 'parallel', states } as never) as AnyStateMachine
    const compile = interpreters[0]?.[1]
    expect(compile && refusal(compile, machine).code).toBe('machine-too-large')
  })
})
