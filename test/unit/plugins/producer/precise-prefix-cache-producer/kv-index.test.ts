import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { KvIndex } from '../../../../../src/plugins/producer/precise-prefix-cache-producer/kv-index.ts'

/** The same rules with plain lists: per endpoint its blocks, oldest first, each with its references by tier. */
class PlainIndex {
  readonly shelves = new Map<number, { key: number; references: number[] }[]>()
  private readonly max: number

  constructor(max: number) {
    this.max = max
  }

  store(slot: number, key: number, tier: number): void {
    const shelf = this.shelves.get(slot) ?? []
    this.shelves.set(slot, shelf)
    const known = shelf.find((block) => block.key === key)
    if (known === undefined && this.size >= this.max) this.evict(slot)
    const block = known ?? { key, references: [0, 0, 0, 0, 0, 0, 0, 0] }
    block.references[tier] = (block.references[tier] ?? 0) + 1
    this.shelves.set(slot, [...(this.shelves.get(slot) ?? []).filter((one) => one !== block), block])
  }

  remove(slot: number, key: number, tier: number): void {
    const shelf = this.shelves.get(slot) ?? []
    const block = shelf.find((one) => one.key === key)
    if (block === undefined || block.references[tier] === 0) return
    block.references[tier] = (block.references[tier] ?? 0) - 1
    if (block.references.every((count) => count === 0)) this.shelves.set(slot, shelf.filter((one) => one !== block))
  }

  get size(): number {
    return [...this.shelves.values()].reduce((sum, shelf) => sum + shelf.length, 0)
  }

  private evict(slot: number): void {
    let loser = slot
    if ((this.shelves.get(slot)?.length ?? 0) === 0) {
      for (const [other, shelf] of [...this.shelves].sort(([a], [b]) => a - b)) if (shelf.length > (this.shelves.get(loser)?.length ?? 0)) loser = other
    }
    this.shelves.get(loser)?.shift()
  }
}

const SLOTS = 4
// Few low halves, so that table slots collide and probes run long.
const low = (key: number): number => (key % 3) * 1024
const commands = fc.array(fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('store' as const), slot: fc.nat(SLOTS - 1), key: fc.nat(12), tier: fc.nat(7) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('remove' as const), slot: fc.nat(SLOTS - 1), key: fc.nat(12), tier: fc.nat(7) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), slot: fc.nat(SLOTS - 1), key: fc.constant(0), tier: fc.constant(0) }) },
), { maxLength: 120 })

describe('KvIndex', () => {
  it('given any stores, removals and clearings, when looked up, then it holds what plain lists hold, within its bound', () => {
    fc.assert(fc.property(commands, fc.integer({ min: 1, max: 40 }), (given, max) => {
      const index = new KvIndex(max)
      const plain = new PlainIndex(max)
      for (let slot = 0; slot < SLOTS; slot++) index.open(slot, `e${slot}`)
      for (const { do: what, slot, key, tier } of given) {
        if (what === 'store') {
          index.store(slot, low(key), key, tier)
          plain.store(slot, key, tier)
        } else if (what === 'remove') {
          index.remove(slot, low(key), key, tier)
          plain.remove(slot, key, tier)
        } else {
          index.open(slot, `e${slot}`)
          plain.shelves.delete(slot)
        }
      }
      expect(index.size).toBe(plain.size)
      expect(index.size).toBeLessThanOrEqual(max)
      for (let slot = 0; slot < SLOTS; slot++) {
        for (let key = 0; key <= 12; key++) {
          const block = plain.shelves.get(slot)?.find((one) => one.key === key)
          const record = index.find(slot, low(key), key)
          expect(record !== 0).toBe(block !== undefined)
          if (block !== undefined) expect(block.references.map((_, tier) => index.references(record, tier))).toEqual(block.references)
        }
        const copied = new Int32Array(4 * (index.shelf(slot)?.size ?? 0))
        index.copy(slot, copied, 0)
        expect([...copied].filter((_, at) => at % 4 === 1)).toEqual((plain.shelves.get(slot) ?? []).map(({ key }) => key))
      }
    }))
  })

  it('given a tier of a block that was stored more often than is counted, when removed, then it is gone no later than the count says', () => {
    const index = new KvIndex(10)
    index.open(0, 'e')
    for (let times = 0; times < 300; times++) index.store(0, 1, 1, 1)
    for (let times = 0; times < 255; times++) expect(index.remove(0, 1, 1, 1)).toBe(254 - times)
    expect(index.find(0, 1, 1)).toBe(0)
    expect(index.remove(0, 1, 1, 1)).toBe(-1)
  })
})
