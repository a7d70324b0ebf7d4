import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { xxh64 } from '../../src/core/hash/xxh64.ts'
import type { Engine } from '../../src/engine/engine.ts'
import { InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { Replayer } from '../../src/replay/replayer.ts'
import { encodeState } from '../../src/replay/engine-at.ts'
import { encodeRecord } from '../../src/wire/journal.ts'
import { toBytes } from '../../src/wire/runtime.ts'
import type { Input } from '../../src/wire/input.ts'
import { disaggregated, singleProfile } from '../story/configuration.ts'
import { aborted, draining, ended, engineStarted, failed, joined, left, progressed, prompt, received, sent, started, telemetry, timerFired } from '../story/inputs.ts'
import { types, World } from '../story/world.ts'

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f']
const ROLES = ['decode', 'prefill', 'encode', 'prefill-decode', '']

/** A random input; reports name any position, so many are late, repeated, out of order or about nothing. */
const anyInput: fc.Arbitrary<Input> = fc.oneof(
  { weight: 3, arbitrary: fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom(...ROLES), fc.constantFrom('1', '2')).map(([name, role, life]) => joined(name, role, life)) },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map(left) },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES).map(draining) },
  { weight: 2, arbitrary: fc.array(fc.record({ slot: fc.nat(5), waiting: fc.nat(20), kv: fc.double({ min: 0, max: 1, noNaN: true }) }), { minLength: 1, maxLength: 4 }).map((list) => telemetry([...new Map(list.map((each) => [each.slot, each])).values()])) },
  { weight: 6, arbitrary: fc.tuple(fc.nat(3), fc.nat(3000), fc.boolean(), fc.boolean()).map(([id, tokens, proxied, image]) => received(`r${id}`, {
    proxied,
    shape: { tokenized: tokens > 0, prompts: [{ ...prompt(tokens, [1, 2, 3], 1000 * (id + 1)), media: image ? [{ modality: 'image', hash: '1', offset: 0, length: 4 }] : [] }], problem: '' },
  })) },
  { weight: 10, arbitrary: fc.tuple(fc.nat(60), fc.integer({ min: 1, max: 3 }), fc.constantFrom(...NAMES), fc.nat(6)).map(([key, attempt, name, which]) => report(key, attempt, name, which)) },
  { weight: 2, arbitrary: fc.constant(timerFired()) },
  { weight: 1, arbitrary: fc.constantFrom(singleProfile(), disaggregated(512)).map((configuration) => engineStarted(configuration)) },
)

const report = (key: number, attempt: number, name: string, which: number): Input => {
  const all = [sent(key, attempt), started(key, attempt), progressed(key, 3), ended(key, attempt), failed(key, attempt, name), aborted(key), started(key, attempt, 500)]
  return all[which] ?? sent(key)
}

const anyStory = fc.array(fc.tuple(anyInput, fc.constantFrom(0, 1, 50, 1000, 45_000)), { minLength: 5, maxLength: 60 })

const play = (world: World, story: readonly (readonly [Input, number])[], watch?: (world: World) => void): World => {
  for (const [input, after] of story) {
    world.step(structuredClone(input), after)
    watch?.(world)
  }
  return world
}

const loadProducers = (world: World): InFlightLoadProducer[] => world.engine.view.pipeline.plugins.filter((plugin) => plugin instanceof InFlightLoadProducer)

const bytes = (world: World): string => world.records.map((record) => xxh64(toBytes(encodeRecord, record)).toString(16)).join(' ')
const stateHash = (engine: Engine): bigint => encodeState(engine).stateHash

describe('whatever happens, in whatever order', () => {
  it('loads are never negative, and are zero when every request has ended', () => {
    fc.assert(fc.property(anyStory, (story) => {
      const world = new World(disaggregated(512))
      play(world, story, ({ engine }) => {
        for (const endpoint of engine.view.fleet.present()) {
          expect(engine.view.ledger.load(endpoint).requests).toBeGreaterThanOrEqual(0)
          for (const producer of loadProducers(world)) {
            const { requests, tokens } = producer.ledger.load(endpoint)
            expect(Math.min(requests, tokens)).toBeGreaterThanOrEqual(0)
          }
        }
      })
      for (const key of world.engine.view.requests.keys()) world.step(aborted(key))
      expect(world.inFlight()).toEqual({})
      expect(world.engine.view.ledger.requests()).toEqual([])
      for (const producer of loadProducers(world)) {
        expect(producer.ledger.requests()).toEqual([])
        for (const endpoint of world.engine.view.fleet.present()) expect(producer.ledger.load(endpoint)).toEqual({ requests: 0, tokens: 0 })
      }
      expect(world.engine.view.timers.all().filter(({ owner }) => owner === 'request')).toEqual([])
    }), { numRuns: 60 })
  })

  it('every request ends by itself when nothing more is heard', () => {
    fc.assert(fc.property(anyStory, (story) => {
      const world = play(new World(disaggregated(512)), story).pass(3_600_000)
      expect(world.engine.view.requests.size).toBe(0)
      expect(world.inFlight()).toEqual({})
    }), { numRuns: 30 })
  })

  it('tables and XState actors give the same journal, byte for byte', () => {
    fc.assert(fc.property(anyStory, (story) => {
      const table = play(new World(disaggregated(512), 'table'), story)
      const xstate = play(new World(disaggregated(512), 'xstate'), story)
      expect(bytes(xstate)).toBe(bytes(table))
      expect(stateHash(xstate.engine)).toBe(stateHash(table.engine))
    }), { numRuns: 25 })
  })

  it('the state at every record, saved and restored, goes on as if nothing had been', () => {
    fc.assert(fc.property(anyStory, fc.nat(59), (story, cut) => {
      const whole = play(new World(disaggregated(512)), story)
      const half = play(new World(disaggregated(512)), story.slice(0, cut))
      const saved = encodeState(half.engine)
      const options = { pluginTypes: types, interpreter: 'table' } as const
      const replayer = new Replayer(options, saved)
      expect(replayer.state().stateHash).toBe(saved.stateHash)
      for (const record of whole.records.slice(saved.position)) expect(replayer.apply(record)).toBeUndefined()
      expect(replayer.state().stateHash).toBe(stateHash(whole.engine))
    }), { numRuns: 60 })
  })
})
