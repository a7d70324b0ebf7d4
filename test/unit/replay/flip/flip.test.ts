import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeState } from '../../../../src/replay/engine-at.ts'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { attributesUsed } from '../../../../src/replay/flip/attributes-used.ts'
import { flips } from '../../../../src/replay/flip/flip.ts'
import type { Flip } from '../../../../src/replay/flip/flip.ts'
import { nearestFlip } from '../../../../src/replay/flip/nearest-flip.ts'
import { Replayer } from '../../../../src/replay/replayer.ts'
import type { StateAt } from '../../../../src/journal/index.ts'
import type { Record as JournalRecord } from '../../../../src/wire/journal.ts'
import { disaggregated, singleProfile } from '../../../story/configuration.ts'
import { joined, prompt, received, telemetry } from '../../../story/inputs.ts'
import { World } from '../../../story/world.ts'

describe('the nearest value that flips', () => {
  it('is found on either side, as near as asked, and was tried', () => {
    fc.assert(fc.property(fc.double({ min: 0, max: 100, noNaN: true }), fc.double({ min: 0.5, max: 100, noNaN: true }), (from, threshold) => {
      const tried: number[] = []
      const above = from >= threshold
      const found = nearestFlip({ from, low: 0, high: 100, whole: false, flipped: (value) => {
        tried.push(value)
        return (value >= threshold) !== above
      } })
      expect(found).toBeDefined()
      expect(tried).toContain(found)
      expect(Math.abs((found ?? 0) - threshold)).toBeLessThanOrEqual(1e-5 * Math.max(1, Math.abs(threshold - from)))
    }))
  })

  it('of whole values is whole and exact', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 1, max: 500 }), (from, threshold) => {
      fc.pre(from < threshold)
      expect(nearestFlip({ from, low: 0, high: 500, whole: true, flipped: (value) => value >= threshold })).toBe(threshold)
    }))
  })

  it('is none where nothing flips', () => {
    expect(nearestFlip({ from: 5, low: 0, high: 10, whole: false, flipped: () => false })).toBeUndefined()
  })
})

describe('what would have changed a pick', () => {
  /** a: queue 4, KV 0.5; b: queue 0, KV 0.6. Queue and KV weigh 2 each: b wins by 2 - 0.2. */
  const found = (): readonly Flip[] => {
    const world = new World(singleProfile()).take(joined('a'), joined('b'))
    world.step(telemetry([{ slot: 0, waiting: 4, kv: 0.5 }, { slot: 1, waiting: 0, kv: 0.6 }]), 50)
    const { key } = world.request(received('r', { shape: { tokenized: true, prompts: [], problem: '' } }))
    const replayer = new Replayer(engineOptions(), { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
    for (const record of world.records.filter(({ position }) => position < key)) replayer.apply(record)
    const record = world.records[key - 1]
    if (record === undefined) throw new Error('no record')
    return flips(engineOptions(), encodeState(replayer.engine), record, key)
  }
  const of = (name: string, endpoint: string): Flip | undefined => found().find((flip) => flip.name === name && flip.endpoint === endpoint)

  it('is where the totals meet: the weight of the queue at a tenth of that of the KV cache', () => {
    expect(of('queue-scorer', '')?.to).toBeCloseTo(0.2, 4)
    expect(of('queue-scorer', '')?.picks).toBe('default/a')
    expect(of('kv-cache-utilization-scorer', '')?.to).toBeCloseTo(20, 3)
  })

  it('is the whole queue at which the other is shorter', () => {
    expect(of('waitingQueueSize', 'default/b')).toMatchObject({ from: 0, picks: 'default/a' })
    expect(Number.isInteger(of('waitingQueueSize', 'default/b')?.to)).toBe(true)
  })

  it('is none for what has no say', () => {
    expect(of('prefix-cache-scorer', '')?.to).toBeUndefined()
    expect(of('runningRequestsSize', 'default/a')?.to).toBeUndefined()
  })

  it('comes with the nearest first', () => {
    const relative = found().map((flip) => flip.relative)
    expect(relative).toEqual(relative.toSorted((a, b) => a - b))
  })
})

describe('a decision of several stages', () => {
  /** One endpoint decodes, two prefill; of 640 tokens none are cached, and 512 or more are prefilled elsewhere. */
  const world = new World(disaggregated(512)).take(joined('d', 'decode'), joined('p', 'prefill'), joined('q', 'prefill'))
  world.step(telemetry([{ slot: 0, waiting: 1, kv: 0.5 }, { slot: 1, waiting: 0, kv: 0.1 }, { slot: 2, waiting: 3, kv: 0.1 }]), 50)
  world.at += 20_000
  const { key } = world.request(received('r', { shape: { tokenized: true, prompts: [prompt(640)], problem: '' } }))
  const before = (): StateAt => {
    const replayer = new Replayer(engineOptions(), { position: 0, atUs: 0, state: new Uint8Array(0), stateHash: 0n })
    for (const record of world.records.filter(({ position }) => position < key)) replayer.apply(record)
    return encodeState(replayer.engine)
  }
  const record = world.records[key - 1] as JournalRecord

  it('is another one where a decider says no: with three blocks cached nothing is prefilled elsewhere', () => {
    const found = flips(engineOptions(), before(), record, key)
    expect(found.find(({ name, endpoint }) => name === 'PrefixCacheMatchInfo.cachedBlockCount' && endpoint === 'default/d')).toMatchObject({ from: 0, to: 3, picks: 'no prefill' })
    expect(found.find(({ name, endpoint }) => name === 'waitingQueueSize' && endpoint === 'default/p')).toMatchObject({ profile: 'prefill', picks: 'default/q' })
  })

  it('tells the attributes it went by, each with its age', () => {
    const uses = attributesUsed(engineOptions(), before(), record, key)
    const of = (name: string, endpoint: string): unknown[] => uses.filter((use) => use.name === name && use.endpoint === endpoint).map(({ profile, value, ageUs }) => [profile, value, ageUs])
    expect(of('waitingQueueSize', 'default/q')).toEqual([['prefill', '3', 21_000]])
    expect(of('waitingQueueSize', 'default/d')).toEqual([['decode', '1', 21_000]])
    expect(of('PrefixCacheMatchInfo', 'default/d')).toEqual([['decode', expect.stringContaining('matchBlocks 0, totalBlocks 10'), 0]])
    expect(uses.find(({ name, profile }) => name === 'PrefixCacheMatchInfo' && profile === 'decode')?.plugins).toContain('prefix-based-pd-decider')
  })
})
