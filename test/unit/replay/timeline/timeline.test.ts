import { describe, expect, it } from 'vitest'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { feedAfter, feedStart, openStart } from '../../../../src/replay/feed/feed.ts'
import { MARKS, OUTCOMES, STAGES } from '../../../../src/replay/timeline/timeline.ts'
import type { Timeline } from '../../../../src/replay/timeline/timeline.ts'
import { Travel } from '../../../../src/replay/travel/travel.ts'
import { disaggregated, singleProfile } from '../../../story/configuration.ts'
import { aborted, draining, ended, failed, joined, left, received, sent, started, telemetry } from '../../../story/inputs.ts'
import { journalOf } from '../../../story/journal.ts'
import { target, World } from '../../../story/world.ts'

const timelineOf = (world: World): Timeline => {
  const journal = journalOf(world.records)
  const travel = new Travel(engineOptions(), openStart(feedStart(journal, 0)))
  for (const part of feedAfter(journal, 0, Infinity)) travel.take(part)
  travel.decide(Infinity)
  return travel.timeline
}

type Timed = readonly [input: Parameters<World['step']>[0], afterMs: number]

/** Takes inputs one after the other, each so many milliseconds after the one before. */
const steps = (world: World, ...inputs: readonly Timed[]): World => {
  for (const [input, afterMs] of inputs) world.step(input, afterMs)
  return world
}

const barsOf = ({ bars, lanes }: Timeline): { lane: string; stage: string; attempt: number; outcome: string; length: number }[] =>
  Array.from({ length: bars.lane.length }, (_, i) => ({
    lane: lanes[bars.lane.at(i)]?.id ?? '', stage: STAGES[bars.stage.at(i) as 0], attempt: bars.attempt.at(i),
    outcome: OUTCOMES[bars.outcome.at(i) as 0], length: bars.to.at(i) - bars.from.at(i),
  }))

describe('a request', () => {
  it('that is served is a bar from its decision to its end, with its first byte in between', () => {
    const world = new World(singleProfile()).take(joined('a'))
    const { key } = world.request(received('r'))
    steps(world, [sent(key), 10], [started(key), 20], [ended(key), 30])
    const timeline = timelineOf(world)
    expect(barsOf(timeline)).toMatchObject([{ lane: 'default/a', stage: 'decode', attempt: 1, outcome: 'completed', length: 60_000 }])
    const { requests } = timeline
    expect([requests.sentAt, requests.firstByteAt, requests.endedAt].map((column) => column.at(0) - requests.receivedAt.at(0))).toEqual([10_000, 30_000, 60_000])
    expect(requests.ids).toEqual(['r'])
  })

  it('with a prefill has two bars, and the prefill ends at the first byte', () => {
    const world = new World(disaggregated(16)).take(joined('d', 'decode'), joined('p', 'prefill'))
    const { key } = world.request(received('r'))
    steps(world, [sent(key), 10], [started(key), 20], [ended(key), 30])
    expect(barsOf(timelineOf(world)).map(({ lane, stage, length }) => [lane, stage, length].join(' ')).toSorted()).toEqual(['default/d decode 60000', 'default/p prefill 30000'])
  })

  it('that is tried again leaves a failed bar behind', () => {
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    const { key, decision } = world.request(received('r'))
    steps(world, [failed(key, 1, target(decision)), 10], [sent(key, 2), 5], [ended(key, 2), 5])
    const timeline = timelineOf(world)
    expect(barsOf(timeline).map(({ attempt, outcome }) => [attempt, outcome])).toEqual([[1, 'failed'], [2, 'completed']])
    expect(timeline.requests.attempts.at(0)).toBe(2)
    expect(timeline.records.marks.view().filter((marks) => (marks & MARKS.retried) !== 0)).toHaveLength(1)
  })

  it('that nobody can serve has no bar, and its record is marked', () => {
    const world = new World(singleProfile())
    world.request(received('r'))
    const timeline = timelineOf(world)
    expect(barsOf(timeline)).toEqual([])
    expect(OUTCOMES[timeline.requests.outcome.at(0) as 0]).toBe('rejected')
    expect(timeline.records.marks.view().at(-1)).toBe(MARKS.rejected)
  })

  it('that the client leaves, and one whose end never comes, say so', () => {
    const world = new World(singleProfile()).take(joined('a'))
    world.take(aborted(world.request(received('left')).key))
    world.request(received('lost'))
    world.pass(40_000)
    const timeline = timelineOf(world)
    expect(barsOf(timeline).map(({ outcome }) => outcome)).toEqual(['aborted', 'expired'])
    expect(timeline.records.marks.view().filter((marks) => (marks & MARKS.expired) !== 0)).toHaveLength(1)
  })
})

describe('a lane', () => {
  it('knows the lives of its endpoint, and when it was draining', () => {
    const world = steps(new World(singleProfile()).take(joined('a')), [draining('a'), 10], [left('a'), 10], [joined('a', '', '2'), 10])
    const [lane] = timelineOf(world).lanes
    expect(lane?.spells.map(({ kind, incarnation, from, to }) => [kind, incarnation, to - from])).toEqual([['alive', '1', 20_000], ['draining', '', 10_000], ['alive', '2', NaN]])
  })

  it('knows when it was stale and unreachable', () => {
    const world = new World(singleProfile({ unreachable: { strikes: 1, firstBackoffMs: 1000, lastBackoffMs: 1000 } })).take(joined('a'), joined('b'))
    world.step(telemetry([{ slot: 0 }, { slot: 1 }]), 10)
    const { key, decision } = world.request(received('r'))
    steps(world, [failed(key, 1, target(decision)), 1]).pass(10_000)
    const timeline = timelineOf(world)
    const kinds = (name: string): string[] => timeline.lanes.find(({ id }) => id === `default/${name}`)?.spells.map(({ kind }) => kind) ?? []
    expect(kinds(target(decision))).toEqual(['alive', 'unreachable', 'stale'])
    expect(timeline.lanes.flatMap(({ spells }) => spells).filter(({ kind, to }) => kind === 'unreachable' && !Number.isNaN(to))).toHaveLength(1)
  })

  it('knows what was reported and what was assigned, whenever it changed', () => {
    const world = steps(new World(singleProfile()).take(joined('a')), [telemetry([{ slot: 0, waiting: 3, kv: 0.25 }]), 10])
    const { key } = world.request(received('r'))
    world.step(ended(key), 10)
    const [lane] = timelineOf(world).lanes
    expect([lane?.waiting.view(), lane?.kvCache.view()]).toEqual([Float64Array.of(3), Float64Array.of(0.25)])
    expect(lane?.requests.view()).toEqual(Float64Array.of(1, 0))
  })
})

describe('the log of transitions', () => {
  it('holds every step of every machine, in order', () => {
    const world = new World(singleProfile()).take(joined('a'))
    const { key } = world.request(received('r'))
    world.take(sent(key), started(key), ended(key))
    const { transitions: log } = timelineOf(world)
    const steps = Array.from({ length: log.position.length }, (_, i) => i).filter((i) => log.machine.at(i) === 0)
    expect(steps.map((i) => log.states.list[log.to.at(i)])).toEqual(['admitting', 'producing.asking', 'scheduling.picking', 'scheduling.decode', 'scheduling.picking', 'scheduled', 'dispatched', 'streaming', 'completed'])
    expect(steps.map((i) => log.edges.list[log.edge.at(i)])).toContain('scheduled:sent:0')
    expect(log.position.view()).toEqual(log.position.view().toSorted())
  })
})
