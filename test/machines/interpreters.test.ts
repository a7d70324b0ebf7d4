import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { and, createMachine, not, or } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { MachineError } from '../../machines/interpreter/errors.ts'
import type { Implementations, Transition } from '../../machines/interpreter/interpreter.ts'
import { expectAgreement } from './agreement.ts'
import type { Command } from './agreement.ts'
import type { GuardTable, Make, TestActor, TestEvent } from './recording.ts'
import { recording, testActor } from './recording.ts'
import { given, interpreters } from './story.ts'
import { endpoint, request } from './subjects.ts'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function machineOf(config: object): AnyStateMachine {
  return createMachine({ id: 'm', ...config } as never) as AnyStateMachine
}

function codeOf(act: () => unknown): string | undefined {
  try {
    act()
  } catch (error) {
    if (error instanceof MachineError) return error.code
    throw error
  }
  return undefined
}

describe.each(interpreters)('%s', (_name, make: Make) => {
  it('says whether a transition was taken', () => {
    const story = given(make, request)
    expect(story.interpreter.send(story.actor, { type: 'sent' })).toBe(false)
    expect(story.interpreter.send(story.actor, { type: 'unheard-of' })).toBe(false)
    expect(story.interpreter.send(story.actor, { type: 'abort' })).toBe(true)
    expect(story.interpreter.send(story.actor, { type: 'abort' })).toBe(false)
  })

  it('says what a configuration accepts', () => {
    const { interpreter, actor } = given(make, request)
    const accepted = request.events.filter((type) => interpreter.accepts(actor, type))
    expect(accepted).toEqual(['receive', 'abort', 'restart'])
    interpreter.send(actor, { type: 'abort' })
    expect(request.events.filter((type) => interpreter.accepts(actor, type))).toEqual([])
  })

  it('shows what actions did to the guards that follow at once', () => {
    const machine = machineOf({
      initial: 'a',
      states: {
        a: { on: { go: { target: 'b', actions: 'first' } } },
        b: { entry: 'second', always: [{ guard: 'bothRan', target: 'c' }, { target: 'a' }] },
        c: {},
      },
    })
    const guards: GuardTable = { bothRan: ({ actions }) => actions.length === 2 }
    const interpreter = make(machine, recording(['first', 'second'], guards))
    const actor = testActor()
    interpreter.start(actor)
    interpreter.send(actor, { type: 'go' })
    expect(interpreter.states[actor.state]).toBe('c')
  })

  it('asks for a delay after the entry actions of its state', () => {
    const machine = machineOf({ initial: 'a', states: { a: { on: { go: 'b' } }, b: { entry: 'act', after: { later: 'a' } } } })
    const interpreter = make(machine, recording(['act'], {}, { later: ({ actions }) => actions.length }))
    const actor = testActor()
    interpreter.start(actor)
    interpreter.send(actor, { type: 'go' })
    expect(actor.timerLog).toEqual(['schedule 0 in 1'])
  })

  it('schedules the timers of its initial state at the start', () => {
    const machine = machineOf({ initial: 'a', after: { 7: '.a' }, states: { a: { after: { 5: 'b' } }, b: {} } })
    const interpreter = make(machine, recording([], {}))
    const actor = testActor()
    interpreter.start(actor)
    expect(interpreter.timers.map(({ name, source, delay }) => [name, source, delay])).toEqual([['7', '', '7'], ['a.5', 'a', '5']])
    expect([...actor.pending]).toEqual([[0, 7], [1, 5]])
    actor.pending.delete(1)
    expect(interpreter.fire(actor, 1)).toBe(true)
    expect(interpreter.states[actor.state]).toBe('b')
    expect(interpreter.fire(actor, 1)).toBe(false)
    expect(() => interpreter.fire(actor, 2)).toThrow('has no timer 2')
  })

  it('restores a configuration without running or scheduling anything, and cancels what pended before', () => {
    const { interpreter } = given(make, request)
    const actor = testActor()
    actor.pending.set(1, 30_000)
    interpreter.restore(actor, 'scheduled')
    expect([actor.actions, actor.timerLog]).toEqual([[], []])
    interpreter.send(actor, { type: 'sent' })
    expect(interpreter.states[actor.state]).toBe('dispatched')
    expect(actor.timerLog).toEqual(['cancel 1', 'schedule 2 in 600000'])
  })

  it('restores every configuration of every region', () => {
    const { interpreter } = given(make, endpoint)
    const actor = testActor()
    for (const [index, state] of interpreter.states.entries()) {
      interpreter.restore(actor, state)
      expect(actor.state).toBe(index)
      expect(interpreter.isFinal(actor)).toBe(state === 'presence.left|reachability.left|freshness.left|load.left')
    }
    expect(interpreter.states).toHaveLength(192)
  })

  it('refuses to restore what is no configuration', () => {
    const { interpreter } = given(make, request)
    for (const path of ['', 'scheduling', 'nowhere', 'scheduled|scheduled']) {
      expect(codeOf(() => interpreter.restore(testActor(), path))).toBe('machine-configuration-unknown')
    }
  })

  it('stops an `always` that goes round for ever, naming where', () => {
    const machine = machineOf({ initial: 'a', states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: { always: 'b' } } })
    const interpreter = make(machine, recording([], {}))
    const actor = testActor()
    interpreter.start(actor)
    expect(codeOf(() => interpreter.send(actor, { type: 'go' }))).toBe('machine-microstep-limit')
    expect(() => given(make, request)).not.toThrow()
  })

  it('refuses an action that sends to its own actor, and lets it send to another', () => {
    const machine = machineOf({ initial: 'a', states: { a: { on: { go: { actions: 'pass' } } } } })
    const [first, second] = [testActor('first'), testActor('second')]
    const host: Implementations<TestActor, TestEvent> = {
      ...recording([], {}),
      actions: {
        pass: (actor) => {
          actor.actions.push('pass')
          if (actor === first) interpreter.send(second, { type: 'go' })
          else if (actor.actions.length === 2) interpreter.send(first, { type: 'go' })
        },
      },
    }
    const interpreter = make(machine, host)
    interpreter.start(first)
    interpreter.start(second)
    expect(interpreter.send(first, { type: 'go' })).toBe(true)
    expect(second.actions).toEqual(['pass'])
    expect(codeOf(() => interpreter.send(first, { type: 'go' }))).toBe('machine-send-within-send')
  })

  it('throws what an action throws, at the sender', () => {
    const machine = machineOf({ initial: 'a', states: { a: { on: { go: { target: 'a', actions: 'fall' } } } } })
    const host = recording([], {})
    const interpreter = make(machine, {
      ...host,
      actions: {
        fall: () => {
          throw new RangeError('fell')
        },
      },
    })
    const actor = testActor()
    interpreter.start(actor)
    expect(() => interpreter.send(actor, { type: 'go' })).toThrow(RangeError)
    const other = testActor()
    interpreter.start(other)
    expect(interpreter.states[other.state]).toBe('a')
  })

  it('tells an observer every step and every look at a guard', () => {
    const seen: (Transition | string)[] = []
    const guards: GuardTable = { ...Object.fromEntries(request.guards.map((name) => [name, () => false])), isAdmitted: () => true }
    const interpreter = make(request.machine, recording(request.actions, guards), {
      transition: (_actor, transition) => seen.push(transition),
      guard: (_actor, name, passed) => seen.push(`${name} ${passed}`),
    })
    const actor = testActor()
    interpreter.start(actor)
    interpreter.send(actor, { type: 'receive' })
    expect(seen).toEqual([
      { from: 'received', to: 'admitting', eventType: 'receive', edges: [{ id: 'received:receive:0' }] },
      'isAdmitted true',
      { from: 'admitting', to: 'producing.asking', eventType: 'receive', edges: [{ id: 'admitting::0' }] },
      'isProduced false',
      { from: 'producing.asking', to: 'producing.waiting', eventType: 'receive', edges: [{ id: 'producing.asking::1' }] },
      'isProduced false',
    ])
  })

  it('keeps nothing of 10,000 actors that were released, and nothing of 1,000 that were dropped', async () => {
    const { interpreter } = given(make, request)
    const run = (count: number, release: boolean): WeakRef<TestActor>[] =>
      Array.from({ length: count }, (_, index) => {
        const actor = testActor()
        interpreter.start(actor)
        if (index % 2 === 0) interpreter.send(actor, { type: 'abort' })
        if (release) interpreter.release(actor)
        return new WeakRef(actor)
      })
    for (const [count, release] of [[10_000, true], [1_000, false]] as const) {
      const refs = run(count, release)
      // References looked at stay alive until the end of the job that looked, and a word left on the stack holds one for
      // a while: each look is a job of its own.
      await expect.poll(() => {
        collectGarbage()
        return refs.filter((ref) => ref.deref() !== undefined).length
      }).toBe(0)
    }
  })

  it('keeps nothing for a released actor whose record lives on', () => {
    const { interpreter } = given(make, request)
    const actors = Array.from({ length: 10_000 }, () => testActor())
    collectGarbage()
    const before = process.memoryUsage().heapUsed
    for (const actor of actors) {
      interpreter.start(actor)
      interpreter.release(actor)
    }
    collectGarbage()
    // An XState actor that were still held would be above 4,000 bytes.
    expect((process.memoryUsage().heapUsed - before) / actors.length).toBeLessThan(400)
  })
})

describe('the two interpreters agree', () => {
  const parallelFinals = machineOf({
    initial: 'off',
    states: {
      off: { on: { go: 'both' } },
      both: {
        type: 'parallel',
        entry: 'a0',
        exit: 'a1',
        onDone: { target: 'off', actions: 'a2' },
        states: {
          x: { initial: 'one', states: { one: { on: { x: 'two' } }, two: { type: 'final', entry: 'a3' } }, onDone: { actions: 'a2' } },
          y: { initial: 'one', states: { one: { on: { x: 'two', y: 'two' } }, two: { type: 'final' } } },
        },
      },
    },
  })

  const ends = { initial: 'one', states: { one: { on: { x: 'two' } }, two: { type: 'final' } } }
  const regionsInRegions = machineOf({
    initial: 'off',
    states: {
      off: { on: { go: 'all' } },
      all: {
        type: 'parallel',
        onDone: { target: 'off', actions: 'a0' },
        states: {
          p: { type: 'parallel', onDone: { actions: 'a1' }, states: { x: ends, y: { ...ends, exit: 'a2' } } },
          z: ends,
        },
      },
    },
  })

  const manyTargets = machineOf({
    type: 'parallel',
    on: { jump: { target: ['.x.two', '.y.three'], actions: 'a0' }, again: { target: '.x', reenter: true } },
    states: {
      x: { initial: 'one', states: { one: { exit: 'a1' }, two: { entry: 'a2' } } },
      y: { initial: 'one', states: { one: { exit: 'a3' }, two: {}, three: { entry: 'a1', on: { jump: { target: 'one', reenter: true } } } } },
    },
  })

  const wildcards = machineOf({
    initial: 'a',
    on: { '*': { target: '.b', actions: 'a0' } },
    states: {
      a: { on: { known: 'b', forbidden: undefined } },
      b: { initial: 'c', on: { '*': { guard: 'g0', actions: 'a1' } }, states: { c: { on: { known: 'd' } }, d: { type: 'final' } } },
    },
  })

  const combined = machineOf({
    initial: 'a',
    states: {
      a: {
        on: {
          go: [
            { guard: and(['g0', not('g1')]), target: 'b', actions: 'a0' },
            { guard: or(['g1', and(['g2', 'g0'])]), target: 'a', actions: 'a1', reenter: true },
            { guard: not(or(['g0', 'g2'])), actions: 'a2' },
          ],
        },
      },
      b: { always: { guard: 'g3', target: 'a' }, on: { go: 'a' }, entry: 'a3' },
    },
  })

  const subjects = [
    ['final states of regions', parallelFinals, ['go', 'x', 'y']],
    ['final states of regions in regions', regionsInRegions, ['go', 'x']],
    ['several targets', manyTargets, ['jump', 'again']],
    ['wildcards and forbidden events', wildcards, ['known', 'forbidden', 'anything']],
    ['guards made of guards', combined, ['go']],
  ] as const

  it.each(subjects)('on %s, whatever their guards answer', (_what, machine, events) => {
    const subject = { machine, events, actions: ['a0', 'a1', 'a2', 'a3'], guards: ['g0', 'g1', 'g2', 'g3'] }
    for (let mask = 0; mask < 16; mask += 1) {
      const story = Array.from({ length: 12 }, (_, i): Command => ({ what: i === 7 ? 'restore' : 'send', choice: i * i + mask, mask: mask * 0x1111 }))
      expectAgreement(subject, story)
    }
  })
})
