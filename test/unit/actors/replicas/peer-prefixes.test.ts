import { describe, expect, it } from 'vitest'
import { heldLoad, OwnLoad } from '../../../../src/actors/replicas/index.ts'
import type { LoadChange } from '../../../../src/actors/replicas/index.ts'
import { APPROX_KEYS } from '../../../../src/core/shape.ts'
import type { Turn } from '../../../../src/engine/engine.ts'
import { InFlightLoadProducer } from '../../../../src/plugins/producer/inflight-load-producer/index.ts'
import { engineOptions, finish, replayJournal } from '../../../../src/replay/index.ts'
import type { Input } from '../../../../src/wire/index.ts'
import { disaggregated, singleProfile } from '../../../story/configuration.ts'
import { ended, joined, prompt, received, sent, started } from '../../../story/inputs.ts'
import { journalOf } from '../../../story/journal.ts'
import { target, World } from '../../../story/world.ts'

const asked = (id: string, first: number, tokens = 640): Input =>
  received(id, { shape: { tokenized: true, prompts: [prompt(tokens, [], first)], problem: '' } })

/** A replica, and what it would tell its peers after each turn. */
const replica = (configuration: ReturnType<typeof singleProfile>, seed: bigint, ...fleet: readonly Input[]) => {
  const world = new World(configuration, 'table', seed)
  world.take(...fleet)
  const { view } = world.engine
  const producer = view.pipeline.plugins.find((plugin) => plugin instanceof InFlightLoadProducer)
  const own = new OwnLoad((request) => heldLoad(view, producer?.ledger, request))
  let sequence = 0
  const told = (...inputs: readonly Input[]): { readonly change: LoadChange; readonly report: Input; readonly turns: readonly Turn[] } => {
    const change: LoadChange = { assigned: [], released: [] }
    const turns = inputs.map((input) => world.step(input))
    for (const turn of turns) own.taken(turn, change)
    sequence += 1
    return { change, turns, report: { input: { kind: 'peerLoadReported', value: { replica: 'a', runId: 'run', sequence, opens: sequence === 1, ...change } } } }
  }
  return { world, own, told }
}

const PREFILL_AND_DECODE = [joined('d1', 'decode'), joined('d2', 'decode'), joined('p1', 'prefill')]
const ALIKE = ['a', 'b', 'c', 'd', 'e'].map((name) => joined(name))

describe('prompts that a peer sent', () => {
  it('given each replica took a part of the prompts, then either finds the endpoints of all, and the journal of each replays alone', () => {
    const a = replica(singleProfile(), 1n, ...ALIKE)
    const b = replica(singleProfile(), 2n, ...ALIKE)
    const chosen = Array.from({ length: 24 }, (_, n) => {
      const [one, other] = n % 3 === 0 ? [a, b] : [b, a]
      const { report, turns } = one.told(asked(`r${n}`, 1000 * n))
      other.world.take(report)
      const { position } = turns[0]?.record ?? { position: 0 }
      other.world.take(one.told(sent(position), started(position), ended(position)).report)
      return target(turns[0]?.record.decisions[0] as NonNullable<Turn['record']['decisions'][number]>)
    })
    expect(new Set(chosen).size).toBeGreaterThan(1)
    for (const { world } of [a, b]) {
      expect(chosen.map((_, n) => target(world.request(asked(`again${n}`, 1000 * n)).decision))).toEqual(chosen)
      const replayed = finish(replayJournal(engineOptions(), journalOf(world.records)))
      expect(replayed).toMatchObject({ divergence: undefined, decisions: world.records.flatMap(({ decisions }) => decisions).length })
    }
  })

  it('given prefill and decode, then the endpoints that compute the prompt are told its keys, each once, and not for longer than it takes', () => {
    const { own, told } = replica(disaggregated(), 1n, ...PREFILL_AND_DECODE)
    const { change } = told(asked('r', 0))
    const keys = new Uint8Array(BigUint64Array.from({ length: 10 }, (_, n) => BigInt(n)).buffer)
    const told64 = [{ kind: APPROX_KEYS, blockTokens: 64, keys }]
    expect(Object.fromEntries(change.assigned.map(({ profile, blocks }) => [profile, blocks]))).toEqual({ prefill: told64, decode: told64 })
    expect(own.open().map(({ blocks }) => blocks)).toEqual([[], []])
    const request = change.assigned[0]?.request ?? 0
    const later = [told(sent(request)), told(started(request)), told(ended(request))].flatMap((each) => each.change.assigned)
    expect(later.flatMap(({ blocks }) => blocks)).toEqual([])
    expect(own.open()).toEqual([])
  })

  it('given no plugin that counts load, then the keys are told all the same', () => {
    const { plugins, producers, ...rest } = singleProfile()
    const without = { ...rest, plugins: plugins.filter(({ type }) => type !== 'inflight-load-producer'), producers: producers.filter((name) => name !== 'inflight-load-producer') }
    const { told } = replica(without, 1n, joined('a'))
    const { change, turns } = told(asked('r', 0))
    expect(change.assigned).toMatchObject([{ endpoint: 'default/a', blocks: [{ kind: APPROX_KEYS }] }])
    expect(told(ended(turns[0]?.record.position ?? 0)).change.released).toHaveLength(1)
  })

  it('given other kinds of keys, two lists of one size and a very long prompt, then one list a prompt and size is told, and its head', () => {
    const { told } = replica(singleProfile(), 1n, joined('a'))
    const long = prompt(64 * 5000)
    const other = { kind: 'xxh64', blockTokens: 64, keys: new Uint8Array(8) }
    const shorter = { kind: APPROX_KEYS, blockTokens: 64, keys: new Uint8Array(16) }
    const { change } = told(received('r', { shape: { tokenized: true, prompts: [{ ...prompt(192), blocks: [other, shorter, ...prompt(192).blocks] }, long, prompt(128)], problem: '' } }))
    expect(change.assigned[0]?.blocks.map(({ kind, keys }) => [kind, keys.length])).toEqual([[APPROX_KEYS, 24], [APPROX_KEYS, 32_768 - 24]])
  })

  it('given guesses about other kinds of keys, then they are told too', () => {
    const { world } = replica(singleProfile(), 1n, joined('a'))
    const other = { kind: 'xxh64', blockTokens: 64, keys: new Uint8Array(16) }
    const { record } = world.step(received('r', { shape: { tokenized: true, prompts: [{ ...prompt(192), blocks: [other, ...prompt(192).blocks] }], problem: '' } }))
    const [held] = heldLoad(world.engine.view, undefined, record.position, new Set(['xxh64', APPROX_KEYS]))
    expect(held?.blocks.map(({ kind, keys }) => [kind, keys.length])).toEqual([['xxh64', 16], [APPROX_KEYS, 24]])
  })
})
