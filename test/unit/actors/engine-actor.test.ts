import { describe, expect, it } from 'vitest'
import { EngineActor } from '../../../src/actors/engine-actor.ts'
import { RequestDesk } from '../../../src/actors/request-desk.ts'
import type { Effect } from '../../../src/engine/effects.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { JournalLink } from '../../../src/journal/port.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import type { Record as JournalRecord } from '../../../src/wire/journal.ts'
import { emptyRequestReceived } from '../../../src/wire/request.ts'
import { singleProfile } from '../../story/configuration.ts'
import { engineStarted, joined, received } from '../../story/inputs.ts'
import { EPOCH } from '../../story/world.ts'

/** An actor whose journal and clock the test holds. */
const actorWith = (durability: 'async' | 'commit' = 'async'): { actor: EngineActor; journal: { room: boolean; broken: boolean; records: JournalRecord[] }; clock: { at: number; wakes: { at: number; call: () => void }[] }; faults: unknown[]; effects: Effect[] } => {
  const journal = { room: true, broken: false, records: [] as JournalRecord[] }
  const clock = { at: EPOCH, wakes: [] as { at: number; call: () => void }[] }
  const faults: unknown[] = []
  const link: JournalLink = {
    get lastPosition() { return journal.records.length },
    get acknowledgedPosition() { return journal.records.length },
    append: (record) => {
      if (journal.broken) throw new Error('the writer is gone')
      journal.records.push(record)
    },
    canAccept: () => journal.room,
    lag: () => ({ records: 0, ageMs: 0 }),
  }
  const actor = new EngineActor({
    engine: new Engine(engineOptions([], { receiptBytes: 1 << 16 })),
    journal: link,
    clock: { now: () => clock.at, wakeAt: (at, call) => void clock.wakes.push({ at, call }), stop: () => undefined },
    durability,
    fault: (error) => faults.push(error),
  })
  const effects: Effect[] = []
  actor.effects.subscribe((effect) => effects.push(effect))
  for (const input of [engineStarted(singleProfile()), joined('a')]) actor.submitOrThrow(input)
  actor.acknowledged(2)
  return { actor, journal, clock, faults, effects }
}

const request = (id: string): Parameters<RequestDesk['receive']>[0] => ({ ...emptyRequestReceived(), requestId: id, frontDoor: 'test', proxied: true, model: 'm', targetModel: 'm' })

describe('the engine as an actor', () => {
  it('takes inputs in the order in which they came, also those that a turn brings about', () => {
    const { actor, journal } = actorWith()
    const ids = (): string[] => journal.records.flatMap(({ input }) => (input?.input?.kind === 'requestReceived' ? [input.input.value.requestId] : []))
    actor.submit(received('1'), () => {
      actor.submit(received('2'))
      actor.submit(received('3'), () => actor.submit(received('4')))
    })
    expect(ids()).toEqual(['1', '2', '3', '4'])
    expect(journal.records.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('waits while the journal has no room, and forgets nothing', () => {
    const { actor, journal, effects } = actorWith()
    journal.room = false
    for (const id of ['1', '2', '3']) actor.submit(received(id))
    expect([actor.depth, effects.length]).toEqual([3, 0])
    journal.room = true
    actor.drain()
    expect([actor.depth, effects.map(({ kind }) => kind)]).toEqual([0, ['routed', 'routed', 'routed']])
  })

  it('under commit performs effects when their record is acknowledged, not before', () => {
    const { actor, effects } = actorWith('commit')
    actor.submit(received('1'))
    actor.submit(received('2'))
    expect(effects).toEqual([])
    actor.acknowledged(3)
    expect(effects.map((effect) => effect.kind === 'routed' && effect.request)).toEqual([3])
    actor.acknowledged(4)
    expect(effects).toHaveLength(2)
  })

  it('asks to be woken once for the earliest timer, and the wake is an input', () => {
    const { clock, journal } = actorWith()
    const [first] = clock.wakes
    clock.at = first?.at ?? 0
    first?.call()
    expect(journal.records.at(-1)?.input?.input).toEqual({ kind: 'timerFired', value: { deadlineUs: first?.at } })
  })

  it('refuses what is not an input, takes no position for it, and goes on', () => {
    const { actor, journal } = actorWith()
    expect(() => actor.submitOrThrow(joined(''.padEnd(5000, 'x')))).toThrow(/5008 characters/)
    expect(() => actor.submitOrThrow({ input: undefined })).toThrow(/without content/)
    actor.submitOrThrow(joined('b'))
    expect(journal.records).toHaveLength(3)
  })

  it('performs the effects of a turn although the one who handed it in throws', () => {
    const { actor, effects, faults } = actorWith()
    actor.submit(received('1'), () => { throw new Error('mine') })
    expect(effects.map(({ kind }) => kind)).toEqual(['routed'])
    expect(faults).toHaveLength(1)
  })

  it('takes nothing more after a fault of its own, and tells everyone who waits', async () => {
    const { actor, journal, faults } = actorWith()
    const desk = new RequestDesk(actor)
    journal.room = false
    const waits = desk.receive(request('waits'), () => undefined)
    const waitsToo = desk.receive(request('waits too'), () => undefined)
    journal.room = true
    journal.broken = true
    actor.drain()
    const late = desk.receive(request('late'), () => undefined)
    for (const reply of await Promise.all([waits, waitsToo, late])) expect(reply).toMatchObject({ kind: 'rejected', denial: { status: 503, message: 'the engine stopped: the writer is gone' } })
    expect(faults).toEqual([actor.failure])
    expect([actor.depth, desk.waiting]).toEqual([0, 0])
  })

  it('the desk answers an attempt of a request that is over', async () => {
    const { actor } = actorWith()
    const desk = new RequestDesk(actor)
    let key = 0
    await desk.receive(request('r'), (request) => { key = request })
    desk.aborted(key, 'client-disconnect')
    expect(await desk.attemptFailed(key, 1, 'default/a', 'connect', 0, true)).toMatchObject({ kind: 'rejected', denial: { status: 504 } })
    expect(desk.waiting).toBe(0)
  })

  it('the desk answers a client that left while the answer was held back, once', async () => {
    const { actor } = actorWith('commit')
    const desk = new RequestDesk(actor)
    let key = 0
    const reply = desk.receive(request('r'), (request) => { key = request })
    desk.aborted(key, 'client-disconnect')
    expect(await reply).toMatchObject({ kind: 'rejected', denial: { status: 499 } })
    actor.acknowledged(actor.engine.position)
    expect([desk.waiting, actor.engine.view.requests.size]).toEqual([0, 0])
  })
})
