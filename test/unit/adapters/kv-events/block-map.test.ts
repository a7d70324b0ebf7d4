import { describe, expect, it } from 'vitest'
import { BlockMap } from '../../../../src/adapters/kv-events/block-map.ts'
import type { BlockChange, BlockNaming } from '../../../../src/adapters/kv-events/block-map.ts'
import { readEvents } from '../../../../src/adapters/kv-events/engine-events.ts'
import { engineKeys, rootKey } from '../../../../src/core/hash/engine-keys.ts'
import { maskKeys } from '../../../../src/core/hash/siphash.ts'
import type { Packable } from '../../../../src/simulation/endpoint/packing.ts'
import { batch, removed, stored } from './packing.ts'

const NAMING: BlockNaming = { hash: 'cbor-fnv', blockTokens: 2, seed: '', mask: undefined }
const keysOf = (tokens: readonly number[], model = 'm', extras?: readonly (readonly string[])[]): Uint8Array =>
  engineKeys('cbor-fnv', rootKey('cbor-fnv', '', model), Uint32Array.from(tokens), 2, extras)

const given = (naming: Partial<BlockNaming> = {}, max?: number) => {
  const skipped: string[] = []
  /** Events of which nothing was taken. */
  const events: string[] = []
  const map = new BlockMap({ ...NAMING, ...naming }, (reason, blocks, event) => {
    skipped.push(`${reason} ${blocks}`)
    if (event !== undefined) events.push(`${event.of} ${event.cacheKind} ${reason}`)
  }, max)
  const take = (...events: readonly Packable[]): BlockChange[] => readEvents(batch(...events)).events.flatMap((event) => map.take(event, 'm'))
  return { map, skipped, events, take }
}

describe('BlockMap', () => {
  it('given blocks that an engine names its own way, when taken, then their keys are those of requests, across events', () => {
    const { take } = given()
    expect(take(stored([11, 12], [1, 2, 3, 4]), stored([13], [5, 6], { parent: 12 }))).toEqual([
      { kind: 'stored', keys: keysOf([1, 2, 3, 4]), tier: 'gpu' },
      { kind: 'stored', keys: keysOf([1, 2, 3, 4, 5, 6]).slice(16), tier: 'gpu' },
    ])
  })

  it('given engine hashes as bytes, when taken, then the last eight of them are the block', () => {
    const { take } = given()
    const long = Buffer.alloc(32, 7)
    take(stored([long], [1, 2]))
    expect(take(stored([5], [3, 4], { parent: Buffer.alloc(8, 7) }))).toEqual([{ kind: 'stored', keys: keysOf([1, 2, 3, 4]).slice(8), tier: 'gpu' }])
  })

  it('given an adapter, when taken, then its name stands for the model', () => {
    expect(given().take(stored([1], [1, 2], { adapter: 'lora' }))).toEqual([{ kind: 'stored', keys: keysOf([1, 2], 'lora'), tier: 'gpu' }])
  })

  it('given extra keys, when taken, then they are hashed in, but for the adapter, which is already', () => {
    const { take } = given()
    const extras = [['lora', 'cafe', 'salt'], [['cafe', 3]], null]
    expect(take(stored([1, 2, 3], [1, 2, 3, 4, 5, 6], { adapter: 'lora', extras }))).toEqual([{ kind: 'stored', keys: keysOf([1, 2, 3, 4, 5, 6], 'lora', [['cafe', 'salt'], ['cafe'], []]), tier: 'gpu' }])
  })

  it('given engine blocks of several of ours, when stored and removed, then each stands for all of them', () => {
    const { take } = given()
    expect(take(stored([1, 2], [1, 2, 3, 4, 5, 6, 7, 8], { size: 4 }))).toEqual([{ kind: 'stored', keys: keysOf([1, 2, 3, 4, 5, 6, 7, 8]), tier: 'gpu' }])
    expect(take(removed([2]))).toEqual([{ kind: 'removed', keys: keysOf([1, 2, 3, 4, 5, 6, 7, 8]).slice(16), tier: 'gpu' }])
  })

  it('given a mask, when taken, then the keys are masked and the chain goes on unmasked', () => {
    const mask = Uint32Array.of(1, 2, 3, 4)
    const right = keysOf([1, 2, 3, 4])
    maskKeys(right, mask)
    const { take } = given({ mask })
    const [first] = take(stored([1], [1, 2]))
    const [second] = take(stored([2], [3, 4], { parent: 1 }))
    expect([first, second]).toEqual([{ kind: 'stored', keys: right.slice(0, 8), tier: 'gpu' }, { kind: 'stored', keys: right.slice(8), tier: 'gpu' }])
  })

  it('given a block in two tiers, when removed from each, then each is told, and only then is it forgotten', () => {
    const { map, take, skipped } = given()
    take(stored([1], [1, 2]), stored([1], [1, 2], { medium: 'CPU' }), stored([1], [1, 2], { medium: 'CPU' }))
    expect(take(removed([1], 'CPU'), removed([1], 'CPU'), removed([1]))).toEqual([
      { kind: 'removed', keys: keysOf([1, 2]), tier: 'cpu' }, { kind: 'removed', keys: keysOf([1, 2]), tier: 'cpu' }, { kind: 'removed', keys: keysOf([1, 2]), tier: 'gpu' },
    ])
    expect(map.size).toBe(0)
    expect(take(removed([1]))).toEqual([])
    expect(skipped).toEqual(['unknown-block 1'])
  })

  it('given what cannot be understood, when taken, then it is counted and nothing is told', () => {
    const { take, skipped, events } = given()
    expect(take(
      stored([2], [1, 2], { parent: 1 }),
      stored([3], [1, 2, 3], { size: 3, kind: 'mla_attention' }),
      stored([4, 5], [1, 2, 3]),
      stored([6], [1, 2], { extras: [['a'], ['b']] }),
    )).toEqual([])
    expect(skipped).toEqual(['unknown-parent 1', 'block-size 1', 'token-count 2', 'extra-keys 1'])
    expect(events).toEqual(['stored  unknown-parent', 'stored mla_attention block-size', 'stored  token-count', 'stored  extra-keys'])
  })

  it('given removals of which some are of unknown blocks, when taken, then only an event of nothing else is one that was skipped', () => {
    const { take, skipped, events } = given()
    take(stored([1], [1, 2], { group: 0, kind: 'full_attention' }), removed([1, 8], 'GPU', 0), removed([8, 9], 'GPU', 0))
    expect(skipped).toEqual(['unknown-block 1', 'unknown-block 2'])
    expect(events).toEqual(['removed full_attention unknown-block'])
  })

  it('given a cache of another kind with blocks of the same names, when they are removed there, then they stay in the other', () => {
    const { take, skipped, events, map } = given()
    const window = { group: 1, kind: 'sliding_window' }
    expect(take(stored([1], [1, 2], { group: 0, kind: 'full_attention' }), stored([1], [1, 2], window))).toHaveLength(1)
    // Later events name the group alone; what it is stays known when all blocks are forgotten.
    expect(take(['AllBlocksCleared'], stored([1], [1, 2], { group: 1 }), stored([1], [1, 2], { group: 0 }), removed([1], 'GPU', 1))).toEqual([
      { kind: 'cleared' }, { kind: 'stored', keys: keysOf([1, 2]), tier: 'gpu' },
    ])
    expect(map.size).toBe(1)
    expect(skipped).toEqual(['cache-kind 1', 'cache-kind 1', 'cache-kind 1'])
    expect(events).toEqual(['stored sliding_window cache-kind', 'stored sliding_window cache-kind', 'removed sliding_window cache-kind'])
    expect(take(removed([1], 'GPU', 0))).toEqual([{ kind: 'removed', keys: keysOf([1, 2]), tier: 'gpu' }])
  })

  it('given more groups than are kept, when a kind was not kept, then the group is taken as one whose kind was never told', () => {
    const { take, events } = given()
    for (let group = 0; group < 257; group++) take(stored([1], [1, 2], { group, kind: 'mamba' }))
    events.splice(0)
    take(removed([1], 'GPU', 255), removed([1], 'GPU', 256))
    expect(events).toEqual(['removed mamba cache-kind', 'removed  unknown-block'])
  })

  it('given a cleared cache, when taken, then nothing is known any more', () => {
    const { map, take, skipped } = given()
    expect(take(stored([1], [1, 2]), ['AllBlocksCleared']).at(-1)).toEqual({ kind: 'cleared' })
    expect(map.size).toBe(0)
    take(stored([2], [3, 4], { parent: 1 }))
    expect(skipped).toEqual(['unknown-parent 1'])
  })

  it('given more blocks than are kept, when taken, then the oldest are told to be gone', () => {
    const { map, take } = given({}, 2)
    take(stored([1], [1, 2]), stored([1], [1, 2]), stored([2], [3, 4]))
    expect(take(stored([3], [5, 6]))).toEqual([
      { kind: 'removed', keys: keysOf([1, 2]), tier: 'gpu' }, { kind: 'removed', keys: keysOf([1, 2]), tier: 'gpu' },
      { kind: 'stored', keys: keysOf([5, 6]), tier: 'gpu' },
    ])
    expect(map.size).toBe(2)
  })
})

describe('readEvents', () => {
  it('given caches that are not found by prefix and tags unknown, when read, then of the first only that is told, and the others are skipped', () => {
    const { events, skipped } = readEvents(batch(stored([1], 'any' as never, { kind: 'sliding_window', group: 3 }), stored([2], [1, 2], { kind: 'mla_attention' }), ['Other', 1]))
    expect(events[0]).toEqual({ kind: 'elsewhere', cacheKind: 'sliding_window', group: 3 })
    expect([events.length, skipped]).toEqual([2, 1])
  })

  it.each([
    [Buffer.from([0x01])], [batch(stored(['x'], [1, 2]))], [batch(stored([1], [1, 2], { size: 0 }))], [batch(['BlockRemoved', 7])],
  ])('given %j, when read, then it is refused', (payload) => expect(() => readEvents(payload)).toThrow(/no batch|block/))

  it('given blocks in several media, some stored twice and some removed, then what is held is as often in each as it was stored and not removed', () => {
    const { map, take, skipped } = given()
    const key = (block: number): string => Buffer.from(keysOf([1, 2, 3, 4, 5, 6]).slice(8 * block, 8 * block + 8)).toString('hex')
    const held = (): Record<string, readonly string[]> => Object.fromEntries(map.held().map((change) =>
      change.kind === 'cleared' ? ['', []] : [`${change.kind} ${change.tier}`, Array.from({ length: change.keys.length / 8 }, (_, at) => Buffer.from(change.keys.slice(8 * at, 8 * at + 8)).toString('hex')).sort()]))
    take(stored([1, 2, 3], [1, 2, 3, 4, 5, 6]))
    take(stored([2, 3], [3, 4, 5, 6], { parent: 1, medium: 'CPU' }), stored([3], [5, 6], { parent: 2 }))
    expect(held()).toEqual({ 'stored gpu': [key(0), key(1), key(2), key(2)].sort(), 'stored cpu': [key(1), key(2)].sort() })
    take(removed([1, 2, 3]))
    expect(held()).toEqual({ 'stored gpu': [key(2)], 'stored cpu': [key(1), key(2)].sort() })
    // In its other medium only, a block is still known, and may come back to the first.
    take(removed([3], 'cpu'), stored([2], [3, 4], { parent: 3, medium: 'disk' }), removed([2], 'cpu'))
    expect(map.size).toBe(2)
    expect(skipped).toEqual([])
    take(removed([2], 'cpu'), removed([2], 'disk'), removed([3]))
    expect(skipped).toEqual(['unknown-block 1'])
    expect(held()).toEqual({})
    expect(map.size).toBe(0)
  })
})
