import { describe, expect, it } from 'vitest'
import type { CompletedConfiguration } from '../../../../src/core/configuration.ts'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { encodeState } from '../../../../src/replay/engine-at.ts'
import { fork } from '../../../../src/replay/fork/fork.ts'
import type { ForkedDecision, ForkSummary } from '../../../../src/replay/fork/fork.ts'
import type { StateAt } from '../../../../src/journal/index.ts'
import { Replayer } from '../../../../src/replay/replayer.ts'
import { singleProfile } from '../../../story/configuration.ts'
import { ended, joined, prompt, received, telemetry } from '../../../story/inputs.ts'
import { World } from '../../../story/world.ts'

const NOWHERE: StateAt = { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n }

/** Two endpoints: a has a long queue and free memory, b the other way round. */
const story = (): World => {
  const world = new World(singleProfile()).take(joined('a'), joined('b'))
  for (let i = 0; i < 10; i += 1) {
    world.step(telemetry([{ slot: 0, waiting: 9, kv: 0.1 }, { slot: 1, waiting: 0, kv: 0.9 }]), 50)
    world.take(ended(world.request(received(`r-${i}`, { shape: { tokenized: true, prompts: [], problem: '' } })).key))
  }
  return world
}

const weights = (queue: number, kv: number): CompletedConfiguration => {
  const configuration = singleProfile()
  const of: Readonly<Record<string, number>> = { 'queue-scorer': queue, 'kv-cache-utilization-scorer': kv }
  return { ...configuration, profiles: configuration.profiles.map((profile) => ({ ...profile, scorers: profile.scorers.map(({ plugin, weight }) => ({ plugin, weight: of[plugin] ?? weight })) })) }
}

const forked = (world: World, configuration: CompletedConfiguration, from = NOWHERE): { changes: ForkedDecision[]; summary: ForkSummary } => {
  const changes: ForkedDecision[] = []
  const run = fork(engineOptions(), from, world.records.filter(({ position }) => position > from.position), configuration)
  for (;;) {
    const step = run.next()
    if (step.done === true) return { changes, summary: step.value }
    if (typeof step.value !== 'number') changes.push(step.value)
  }
}

describe('a fork', () => {
  it('under the recorded configuration changes nothing', () => {
    const { changes, summary } = forked(story(), singleProfile())
    expect(changes).toEqual([])
    expect(summary).toMatchObject({ decisions: 10, changed: 0, rejectedOnlyRecorded: 0, rejectedOnlyForked: 0, missing: [] })
  })

  it('tells each decision that goes elsewhere, with both receipts', () => {
    const { changes, summary } = forked(story(), weights(0, 5))
    expect(summary.changed).toBe(10)
    expect(changes.map(({ recorded, forked: now }) => [recorded, now])).toEqual(Array.from({ length: 10 }, () => ['decode on default/b', 'decode on default/a']))
    expect(changes[0]?.recordedReceipt?.profiles[0]?.scorers[0]?.weight).toBe(2)
    expect(changes[0]?.forkedReceipt?.profiles[0]?.scorers[0]?.weight).toBe(0)
    expect(summary.endpoints.map(({ id, recorded, forked: now }) => [id, recorded.picks, now.picks])).toEqual([['default/a', 0, 10], ['default/b', 10, 0]])
  })

  it('tells how load and hits shift over time, in a bounded number of stretches', () => {
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    const open: number[] = []
    for (let i = 0; i < 60; i += 1) {
      world.step(telemetry([{ slot: 0, waiting: 9, kv: 0.1 }, { slot: 1, waiting: 0, kv: 0.9 }]), 5000)
      open.push(world.request(received(`r-${i}`, { shape: { tokenized: true, prompts: [prompt(640, [1, 2, 3])], problem: '' } })).key)
      if (open.length > 5) world.take(ended(open.shift() ?? 0))
    }
    const { summary } = forked(world, weights(0, 5))
    const { overTime, decisions, changed, promptTokens, hitTokens, endpoints } = summary
    const sum = (of: (each: (typeof overTime)[number]) => number): number => overTime.reduce((total, each) => total + of(each), 0)
    expect(overTime.length).toBeLessThanOrEqual(120)
    expect([sum((each) => each.decisions), sum((each) => each.changed), sum((each) => each.promptTokens), sum((each) => each.hitTokens.recorded), sum((each) => each.hitTokens.forked)]).toEqual([decisions, changed, promptTokens, hitTokens.recorded, hitTokens.forked])
    const lengths = new Set(overTime.slice(1).map(({ fromUs }, i) => fromUs - (overTime[i]?.fromUs ?? 0)))
    expect(lengths.size).toBe(1)
    expect(overTime.at(-1)).toMatchObject({ inFlight: { recorded: 5, forked: 5 }, inFlightMost: { recorded: 5 } })
    expect(endpoints.map(({ recorded, forked: now }) => [recorded.inFlight.at(-1), now.inFlight.at(-1)])).toEqual([[0, 5], [5, 0]])
  })

  it('goes on from a saved state as from the beginning', () => {
    const world = story()
    const replayer = new Replayer(engineOptions(), NOWHERE)
    for (const record of world.records.slice(0, 12)) replayer.apply(record)
    const all = forked(world, weights(0, 5))
    const { changes } = forked(world, weights(0, 5), encodeState(replayer.engine))
    expect(changes.map(({ position }) => position)).toEqual(all.changes.map(({ position }) => position).filter((position) => position > 12))
  })

  it('says what the other configuration needs and nobody recorded', () => {
    const configuration = singleProfile()
    const plugins = configuration.plugins.map((plugin) => (plugin.type === 'approx-prefix-cache-producer' ? { ...plugin, parameters: { blockSizeTokens: 128, autoTune: false } } : plugin))
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    world.request(received('r'))
    expect(forked(world, { ...configuration, plugins }).summary.missing).toEqual([expect.stringContaining('blocks of 128 tokens: not recorded for 1 requests')])
  })

  it('always says what it takes for granted', () => {
    expect(forked(story(), singleProfile()).summary.assumed[0]).toContain('do not react')
  })
})
