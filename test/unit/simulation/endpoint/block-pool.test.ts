import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockPool } from '../../../../src/simulation/endpoint/block-pool.ts'
import type { BlockLease } from '../../../../src/simulation/endpoint/block-pool.ts'

const keys = (...values: number[]): Float64Array => Float64Array.from(values)

function computed(pool: BlockPool, prompt: Float64Array, total = prompt.length): BlockLease {
  const lease = pool.acquire(prompt, pool.match(prompt, prompt.length), total)
  if (lease === undefined) throw new Error('no room')
  pool.publish(lease)
  return lease
}

describe('block pool', () => {
  it('finds the contiguous prefix of what was computed, not of what is only held', () => {
    const pool = new BlockPool(10)
    const lease = pool.acquire(keys(1, 2, 3), 0, 4)
    expect(pool.match(keys(1, 2), 2)).toBe(0)
    pool.publish(lease as BlockLease)
    expect(pool.match(keys(1, 2, 9, 3), 4)).toBe(2)
    expect(pool.match(keys(1, 2, 3), 1)).toBe(1)
    expect(pool.match(keys(9, 2), 2)).toBe(0)
  })

  it('keeps released blocks cached and counts them as free', () => {
    const pool = new BlockPool(10)
    pool.release(computed(pool, keys(1, 2, 3), 5))
    expect(pool.usedBlocks).toBe(0)
    expect(pool.cachedBlocks).toBe(3)
    expect(pool.match(keys(1, 2, 3), 3)).toBe(3)
  })

  it('shares a cached prefix: it is counted once however many hold it', () => {
    const pool = new BlockPool(4)
    const first = computed(pool, keys(1, 2, 3))
    const second = computed(pool, keys(1, 2, 4))
    expect(pool.usedBlocks).toBe(4)
    pool.release(first)
    expect(pool.usedBlocks).toBe(3)
    pool.release(second)
    expect(pool.usedBlocks).toBe(0)
  })

  it('refuses what does not fit, and changes nothing by that', () => {
    const pool = new BlockPool(4)
    const held = computed(pool, keys(1, 2, 3))
    expect(pool.acquire(keys(7, 8), 0, 2)).toBeUndefined()
    expect(pool.usedBlocks).toBe(3)
    pool.release(held)
    expect(pool.acquire(keys(7, 8), 0, 2)).toBeDefined()
  })

  it('counts a cached block that is taken up again as room that it needs', () => {
    const pool = new BlockPool(4)
    pool.release(computed(pool, keys(1, 2)))
    computed(pool, keys(8, 9))
    expect(pool.acquire(keys(1, 2, 3), 2, 3)).toBeUndefined()
    expect(pool.acquire(keys(1, 2), 2, 2)).toBeDefined()
  })

  it('evicts the least recently used block first, and the tail of a prompt before its head', () => {
    const pool = new BlockPool(4)
    pool.release(computed(pool, keys(1, 2)))
    pool.release(computed(pool, keys(3, 4)))
    pool.release(computed(pool, keys(1, 2)))
    computed(pool, keys(5))
    expect(pool.match(keys(3, 4), 2)).toBe(1)
    computed(pool, keys(6))
    expect(pool.match(keys(3, 4), 2)).toBe(0)
    expect(pool.match(keys(1, 2), 2)).toBe(2)
  })

  it('keeps a second copy of a block private when two compute it at once', () => {
    const pool = new BlockPool(4)
    const first = pool.acquire(keys(1), 0, 1) as BlockLease
    const second = pool.acquire(keys(1), 0, 1) as BlockLease
    pool.publish(first)
    pool.publish(second)
    expect(pool.usedBlocks).toBe(2)
    pool.release(second)
    expect(pool.usedBlocks).toBe(1)
    expect(pool.match(keys(1), 1)).toBe(1)
  })

  it('releases a lease once only', () => {
    const pool = new BlockPool(4)
    const lease = computed(pool, keys(1, 2), 3)
    pool.release(lease)
    pool.release(lease)
    expect(pool.usedBlocks).toBe(0)
  })

  it('never holds more than there is, and nothing after all is released', () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant('take' as const), prompt: fc.array(fc.nat(12), { maxLength: 6 }), more: fc.nat(3) }),
      fc.record({ act: fc.constant('release' as const), at: fc.nat() }),
    )
    fc.assert(fc.property(fc.integer({ min: 1, max: 12 }), fc.array(step, { maxLength: 60 }), (blockCount, steps) => {
      const pool = new BlockPool(blockCount)
      const held: BlockLease[] = []
      for (const move of steps) {
        if (move.act === 'release') {
          const [lease] = held.splice(move.at % Math.max(1, held.length), 1)
          if (lease !== undefined) pool.release(lease)
        } else {
          const prompt = Float64Array.from(chain(move.prompt))
          const lease = pool.acquire(prompt, pool.match(prompt, prompt.length), prompt.length + move.more)
          if (lease !== undefined) {
            pool.publish(lease)
            held.push(lease)
          }
        }
        expect(pool.usedBlocks).toBeGreaterThanOrEqual(0)
        expect(pool.usedBlocks).toBeLessThanOrEqual(blockCount)
        expect(pool.cachedBlocks).toBeLessThanOrEqual(blockCount)
      }
      for (const lease of held) pool.release(lease)
      expect(pool.usedBlocks).toBe(0)
    }))
  })
})

/** The same cache, written for clarity: a list of cached keys from the least to the most recently used. */
class PlainPool {
  readonly blockCount: number
  readonly leases = new Map<BlockLease, { readonly keys: number[]; privateBlocks: number }>()
  cached: number[] = []

  constructor(blockCount: number) {
    this.blockCount = blockCount
  }

  references(key: number): number {
    return [...this.leases.values()].filter(({ keys: held }) => held.includes(key)).length
  }

  used(): number {
    const held = this.cached.filter((key) => this.references(key) > 0).length
    return [...this.leases.values()].reduce((sum, { privateBlocks }) => sum + privateBlocks, held)
  }

  match(prompt: readonly number[]): number {
    const end = prompt.findIndex((key) => !this.cached.includes(key))
    return end < 0 ? prompt.length : end
  }

  take(lease: BlockLease, prompt: readonly number[], total: number): void {
    const matched = this.match(prompt)
    const entry = { keys: prompt.slice(0, matched), privateBlocks: total - matched }
    this.leases.set(lease, entry)
    while (this.used() + this.cached.filter((key) => this.references(key) === 0).length > this.blockCount) {
      const victim = this.cached.find((key) => this.references(key) === 0)
      this.cached = this.cached.filter((key) => key !== victim)
    }
    for (const key of prompt.slice(matched)) {
      if (this.cached.includes(key)) continue
      this.cached.push(key)
      entry.keys.push(key)
      entry.privateBlocks--
    }
  }

  release(lease: BlockLease): void {
    const entry = this.leases.get(lease)
    this.leases.delete(lease)
    for (const key of (entry?.keys ?? []).toReversed()) {
      if (this.references(key) > 0) continue
      this.cached = [...this.cached.filter((other) => other !== key), key]
    }
  }
}

describe('block pool beside a plain one', () => {
  it('holds the same blocks and forgets the same ones', () => {
    const step = fc.oneof(
      fc.record({ act: fc.constant('take' as const), prompt: fc.array(fc.nat(2), { maxLength: 5 }), more: fc.nat(2) }),
      fc.record({ act: fc.constant('release' as const), at: fc.nat() }),
    )
    fc.assert(fc.property(fc.integer({ min: 1, max: 10 }), fc.array(step, { maxLength: 50 }), (blockCount, steps) => {
      const pool = new BlockPool(blockCount)
      const plain = new PlainPool(blockCount)
      const held: BlockLease[] = []
      for (const move of steps) {
        if (move.act === 'release') {
          const [lease] = held.splice(move.at % Math.max(1, held.length), 1)
          if (lease === undefined) continue
          pool.release(lease)
          plain.release(lease)
        } else {
          const path = chain(move.prompt)
          const prompt = Float64Array.from(path)
          expect(pool.match(prompt, prompt.length)).toBe(plain.match(path))
          const lease = pool.acquire(prompt, plain.match(path), prompt.length + move.more)
          if (lease === undefined) continue
          pool.publish(lease)
          plain.take(lease, path, prompt.length + move.more)
          held.push(lease)
        }
        expect([pool.usedBlocks, pool.cachedBlocks]).toEqual([plain.used(), plain.cached.length])
      }
    }))
  })
})

/** Keys that depend on everything before them, as real ones do. */
function chain(tokens: readonly number[]): number[] {
  let key = 0
  return tokens.map((token) => (key = key * 13 + token + 1))
}
