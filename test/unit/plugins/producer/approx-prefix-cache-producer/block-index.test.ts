import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BlockIndex } from '../../../../../src/plugins/producer/approx-prefix-cache-producer/block-index.ts'
import { loadIndex, saveIndex } from '../../../../../src/plugins/producer/approx-prefix-cache-producer/state.ts'

/** The same rules with Maps and Sets, as plainly as they can be written. */
class PlainIndex {
  readonly held = new Map<number, { capacity: number; keys: number[] }>()

  open(slot: number, capacity: number): void {
    if (!this.held.has(slot)) this.held.set(slot, { capacity, keys: [] })
  }

  add(slot: number, keys: readonly number[]): void {
    const shelf = this.held.get(slot)
    if (shelf === undefined) return
    for (const key of keys) {
      shelf.keys = [...shelf.keys.filter((one) => one !== key), key].slice(-shelf.capacity)
    }
  }

  holding(key: number): number[] {
    return [...this.held].filter(([, { keys }]) => keys.includes(key)).map(([slot]) => slot).sort((a, b) => a - b)
  }

  count(keys: readonly number[]): Map<number, number> {
    const counts = new Map<number, number>()
    for (const key of keys) {
      const holders = this.holding(key)
      if (holders.length === 0) break
      for (const slot of holders) counts.set(slot, (counts.get(slot) ?? 0) + 1)
    }
    return counts
  }
}

// Low halves repeat and share their low bits, so that table slots collide and probes run long.
const wordsOf = (keys: readonly number[]): Int32Array => Int32Array.from(keys.flatMap((key) => [(key % 5) * 1024, key]))

type Command = { readonly do: 'add'; readonly slot: number; readonly keys: readonly number[] } | { readonly do: 'close'; readonly slot: number }

const SLOTS = 70
const keys = fc.array(fc.nat(60), { maxLength: 25 })
const slot = fc.oneof(fc.nat(SLOTS - 1), fc.nat(7))
const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 9, arbitrary: fc.record({ do: fc.constant('add' as const), slot, keys }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), slot }) },
)
const capacityOf = (slotNumber: number): number => 1 + ((7 * slotNumber) % 30)

const applied = (commands: readonly Command[], chained = false): { index: BlockIndex; plain: PlainIndex } => {
  const index = new BlockIndex({ chained })
  const plain = new PlainIndex()
  for (const one of commands) {
    if (one.do === 'close') {
      index.close(one.slot)
      plain.held.delete(one.slot)
      continue
    }
    if (index.shelf(one.slot) === undefined) index.open(one.slot, `ns/${one.slot}`, capacityOf(one.slot))
    plain.open(one.slot, capacityOf(one.slot))
    index.add(one.slot, wordsOf(one.keys), one.keys.length)
    plain.add(one.slot, one.keys)
  }
  return { index, plain }
}

/** Prompts that part now and again: a number for each path, as a chained hash is. */
const numbers = new Map<string, number>()
const chain = (steps: readonly number[]): number[] =>
  steps.map((_, at) => {
    const path = steps.slice(0, at + 1).join()
    return numbers.get(path) ?? numbers.set(path, numbers.size + 1).size
  })
const prompt: fc.Arbitrary<number[]> = fc
  .array(fc.oneof({ weight: 8, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(2) }), { maxLength: 45 })
  .map(chain)
const chainedCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ do: fc.constant('add' as const), slot, keys: prompt }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('close' as const), slot }) },
)

describe.each([
  ['of blocks each by itself', false, command, keys],
  ['of chained blocks', true, chainedCommand, prompt],
] as const)('BlockIndex %s', (_name, chained, command, keys) => {
  it('given any additions and removals, when asked, then it answers as the plain rules do', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 120 }), keys, (commands, asked) => {
        const { index, plain } = applied(commands, chained)
        const known = new Set([...commands.flatMap((one) => (one.do === 'add' ? one.keys : [])), ...asked])
        for (const key of [...known].slice(0, 60)) {
          const [low = 0, high = 0] = wordsOf([key])
          expect(index.holding(low, high)).toEqual(plain.holding(key))
        }
        const counts = new Int32Array(SLOTS)
        index.count(wordsOf(asked), asked.length, counts)
        expect(new Map([...counts.entries()].filter(([, count]) => count > 0))).toEqual(plain.count(asked))
        const sizes = [...plain.held.values()].map((shelf) => shelf.keys.length)
        expect(index.size).toBe(sizes.reduce((a, b) => a + b, 0))
        for (const [at, shelf] of plain.held) expect(index.held(at)).toEqual(shelf.keys.map((key) => [...wordsOf([key])]))
        expect(index.distinct).toBe(new Set([...plain.held.values()].flatMap((shelf) => shelf.keys)).size)
        for (let at = 0; at < SLOTS; at++) index.close(at)
        expect([index.size, index.distinct, index.runs.live]).toEqual([0, 0, 0])
      }),
      { numRuns: 200 },
    )
  })

  it('given a block that comes and goes on all endpoints, when counted, then each holder counts whatever its number', () => {
    const index = new BlockIndex()
    const block = wordsOf([1])
    for (let at = 0; at < 1000; at += 3) {
      index.open(at, `ns/${at}`, 1)
      index.add(at, block, 1)
    }
    for (let at = 0; at < 990; at += 3) index.close(at)
    expect(index.holding(block[0] ?? 0, block[1] ?? 0)).toEqual([990, 993, 996, 999])
  })

  it('given more endpoints than a slot number has room for, when one is opened, then it is refused', () => {
    expect(() => new BlockIndex().open(65_534, 'ns/a', 1)).toThrow(RangeError)
  })

  it('given any history, when saved and loaded, then it is the same index, and equal states are equal bytes', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 60 }), fc.array(command, { maxLength: 20 }), (before, after) => {
        const { index } = applied(before, chained)
        const saved = saveIndex(index)
        const loaded = new BlockIndex({ chained })
        const slots = new Map(Array.from({ length: SLOTS }, (_, at) => [`ns/${at}`, at] as const))
        loadIndex(loaded, saved, slots)
        expect(saveIndex(loaded)).toEqual(saved)
        for (const one of after) {
          for (const target of [index, loaded]) {
            if (one.do === 'close') target.close(one.slot)
            else {
              if (target.shelf(one.slot) === undefined) target.open(one.slot, `ns/${one.slot}`, capacityOf(one.slot))
              target.add(one.slot, wordsOf(one.keys), one.keys.length)
            }
          }
        }
        expect(saveIndex(loaded)).toEqual(saveIndex(index))
      }),
      { numRuns: 100 },
    )
  })

  it('given saved bytes that are cut or changed, when loaded, then they are refused', () => {
    const { index } = applied([{ do: 'add', slot: 3, keys: [1, 2, 3] }], chained)
    const saved = saveIndex(index)
    for (let length = 0; length < saved.length; length++) {
      expect(() => loadIndex(new BlockIndex(), saved.slice(0, length), new Map()), `${length} bytes`).toThrow(/damaged/)
    }
    const newer = saved.slice()
    newer[0] = 9
    expect(() => loadIndex(new BlockIndex(), newer, new Map())).toThrow(/damaged/)
    // Each word in turn as no index ever has it: what loads is an index nevertheless.
    for (let at = 0; at < saved.length; at += 4) {
      const changed = saved.slice()
      changed[at + 3] = 0x80
      const loaded = new BlockIndex({ chained })
      try {
        loadIndex(loaded, changed, new Map([['ns/3', 0]]))
      } catch (error) {
        expect(String(error)).toMatch(/damaged/)
        continue
      }
      expect(loaded.size).toBeLessThanOrEqual(3)
    }
  })

  it('given saved endpoints that are gone, when loaded, then they are left out', () => {
    const { index } = applied([{ do: 'add', slot: 3, keys: [1, 2, 3, 4] }, { do: 'add', slot: 4, keys: [1, 2, 5] }], chained)
    const loaded = new BlockIndex({ chained })
    loadIndex(loaded, saveIndex(index), new Map([['ns/4', 0]]))
    expect(loaded.size).toBe(3)
    expect(loaded.distinct).toBe(3)
    expect(loaded.shelf(0)?.id).toBe('ns/4')
    loaded.close(0)
    expect(loaded.runs.live).toBe(0)
  })
})
