import { describe, expect, it } from 'vitest'
import { encodeState, engineAt } from '../../../../src/replay/engine-at.ts'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { feedAfter, feedStart, framed, openStart, unframed } from '../../../../src/replay/feed/feed.ts'
import { lastWrite, readProbe } from '../../../../src/replay/travel/probe.ts'
import type { Probe } from '../../../../src/replay/travel/probe.ts'
import { Travel } from '../../../../src/replay/travel/travel.ts'
import type { JournalReader } from '../../../../src/journal/index.ts'
import { mixed } from '../../../golden/stories.ts'
import { journalOf } from '../../../story/journal.ts'

const world = mixed()
const journal = journalOf(world.records, { batch: 16, snapshotEvery: 64 })

const travelOn = (reader: JournalReader, position: number, bytes = 2000): Travel => {
  const travel = new Travel(engineOptions(), openStart(feedStart(reader, position)))
  for (;;) {
    const parts = unframed(framed(feedAfter(reader, travel.last, bytes)))
    for (const part of parts) travel.take(part)
    if (parts.length > 0) continue
    travel.decide(Infinity)
    return travel
  }
}

const whole = travelOn(journal, 0)

describe('travel', () => {
  it('takes every record once, from the beginning and from a snapshot in the middle of a batch', () => {
    expect([whole.last, whole.timeline.records.atUs.length, whole.divergences]).toEqual([world.records.length, world.records.length, 0])
    const later = travelOn(journal, 200)
    expect(later.start.position).toBeGreaterThan(0)
    expect(later.last).toBe(world.records.length)
    expect(later.timeline.records.first).toBe(later.start.position + 1)
  })

  it('stands at any position as the engine stood there, in any order', () => {
    const reference = new Travel(engineOptions(), whole.start)
    const states = new Map<number, bigint>()
    for (const part of feedAfter(journal, 0, Infinity)) reference.take(part)
    for (const position of [1, 50, 51, 300, 299, 2, world.records.length]) {
      const hash = encodeState(reference.seek(position)).stateHash
      states.set(position, hash)
    }
    for (const position of [300, 1, 299, 51, world.records.length, 2, 50]) expect(encodeState(whole.seek(position)).stateHash).toBe(states.get(position))
  })

  it('has the receipts of the record at which it stands, also when it stood there before', () => {
    const key = world.records.find((record) => record.decisions.length > 0)?.position ?? 0
    for (let times = 0; times < 2; times += 1) expect(whole.seek(key).receipts(key).map(({ request }) => request)).toEqual([key])
    expect(whole.seek(key + 5).position).toBe(key + 5)
    expect(whole.seek(key).receipts(key)).toHaveLength(1)
  })

  it('tells the guards that said no while the record at which it stands was taken, from wherever it came', () => {
    const keys = world.records.filter((record) => record.decisions.some(({ request }) => request === record.position)).map(({ position }) => position)
    const [first = 0, , third = 0] = keys
    const refused = (position: number): string[] => whole.refusalsAt(position).filter(({ machine, actor }) => machine === 'request' && actor === position).map(({ guard }) => guard)
    const said = [refused(first), refused(third), refused(first), refused(first)]
    expect(said[0]).toContain('isDenied')
    expect(said).toEqual([said[0], refused(third), said[0], said[0]])
    expect(whole.refusalsAt(0)).toEqual([])
  })

  it('decides again in steps of any size, and comes to the same', () => {
    const travel = new Travel(engineOptions(), whole.start)
    for (const part of feedAfter(journal, 0, Infinity)) travel.take(part)
    expect([travel.decided, travel.last]).toEqual([0, world.records.length])
    let steps = 1
    while (travel.decide(37)) steps += 1
    expect([travel.decided, steps]).toEqual([world.records.length, Math.ceil(world.records.length / 37)])
    expect(encodeState(travel.seek(travel.last)).stateHash).toBe(encodeState(whole.seek(whole.last)).stateHash)
    expect(travel.timeline.records.marks.view()).toEqual(whole.timeline.records.marks.view())
  })

  it('stops at what is damaged, and keeps what came before', () => {
    const travel = new Travel(engineOptions(), whole.start)
    const parts = feedAfter(journal, 0, Infinity)
    const broken = parts.map((part, i) => (i === 3 ? { ...part, bytes: part.bytes.map((byte, at) => (at === 20 ? byte ^ 1 : byte)) } : part))
    expect(() => broken.forEach((part) => travel.take(part))).toThrow('was changed or cut')
    expect(travel.last).toBe(48)
    expect(travel.seek(48).position).toBe(48)
  })

  it('goes on after a divergence, and tells the first', () => {
    const changed = world.records.map((record) => (record.decisions.length === 0 ? record : { ...record, decisions: record.decisions.map((decision) => ({ ...decision, decisionType: 'changed' })) }))
    const travel = new Travel(engineOptions(), whole.start)
    for (const part of feedAfter(journalOf(changed), 0, Infinity)) travel.take(part)
    travel.decide(Infinity)
    expect(travel.last).toBe(world.records.length)
    expect(travel.divergence?.field).toBe('decisions.0.decisionType')
    expect(travel.divergences).toBeGreaterThan(100)
  })
})

describe('the last write of a value', () => {
  const probes: readonly Probe[] = [
    { of: 'endpoint', id: 'default/a', field: 'waitingQueueSize' },
    { of: 'endpoint', id: 'default/b', field: 'machine' },
    { of: 'endpoint', id: 'default/c', field: 'inFlightRequests' },
    { of: 'request', key: world.records.find((record) => record.decisions.length > 0)?.position ?? 0, field: 'machine' },
  ]

  it.each(probes)('$of $field is the record after which it is another', (probe) => {
    const position = 250
    const found = lastWrite(whole, probe, position) ?? 0
    const at = (where: number): unknown => readProbe(whole.seek(where), probe)
    expect(found).toBeGreaterThan(0)
    expect(at(found - 1)).not.toBe(at(found))
    const value = at(position)
    for (let later = found; later <= position; later += 1) expect(at(later)).toBe(value)
  })

  it('is the same whether looked for or noted on the way, for every kind of value', () => {
    const fields = ['waitingQueueSize', 'kvCacheUsage', 'inFlightRequests', 'inFlightTokens'] as const
    const noted = ['a', 'h'].flatMap((name) => fields.map((field) => ({ probe: { of: 'endpoint', id: `default/${name}`, field } as const, value: undefined as unknown, last: undefined as number | undefined })))
    const engine = engineAt(engineOptions(), whole.start)
    for (const record of world.records) {
      engine.step(record.input ?? { input: undefined }, record.atUs)
      for (const each of noted) {
        const now = readProbe(engine, each.probe)
        if (!Object.is(now, each.value)) each.last = record.position
        each.value = now
      }
      if (record.position % 491 !== 0) continue
      for (const { probe, last } of noted) expect(lastWrite(whole, probe, record.position), `${probe.id} ${probe.field} at ${record.position}`).toBe(last)
    }
  })

  it('is unknown where it was so from the beginning', () => {
    expect(lastWrite(whole, { of: 'endpoint', id: 'nobody', field: 'strikes' }, 100)).toBeUndefined()
  })
})

describe('a feed', () => {
  it('that is cut says so', () => {
    const bytes = framed(feedAfter(journal, 0, 5000))
    expect(() => unframed(bytes.subarray(0, bytes.length - 1))).toThrow('in the middle of a part')
  })

  it('gives at least one batch and not much more than was asked for', () => {
    expect(feedAfter(journal, 0, 1)).toHaveLength(1)
    expect(feedAfter(journal, journal.lastPosition(), 1)).toEqual([])
  })
})
