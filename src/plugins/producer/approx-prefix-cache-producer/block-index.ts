import { CROWD, ENTRY_WORDS, HIGH, Holders, LOW, NOBODY, SLOT_MAX, SLOTS_A, SLOTS_B } from './holders.ts'
import { KeyTable } from './key-table.ts'
import { Pool } from './pool.ts'

const NODE_WORDS = 3
const OLDER = 0
const NEWER = 1
const ENTRY = 2

/** What one endpoint holds, in order of use. */
export class Shelf {
  readonly id: string
  readonly capacity: number
  size = 0
  oldest = 0
  newest = 0

  constructor(id: string, capacity: number) {
    this.id = id
    this.capacity = capacity
  }
}

/**
 * Which endpoints hold which blocks. Each endpoint holds its most recently added blocks, up to its capacity; adding a
 * block again refreshes it, looking it up does not. (llm-d: approx-prefix-cache-producer, index)
 *
 * Keys are pairs of 32-bit words and everything lies in typed arrays: some 75 bytes a block held once. Blocks of a
 * prompt are added one after the other and lie so, hence the entry after the last one found is tried before the table.
 */
export class BlockIndex {
  private readonly entries = new Pool(ENTRY_WORDS, 1024)
  private readonly nodes = new Pool(NODE_WORDS, 1024)
  private readonly holders = new Holders(this.entries)
  private readonly table = new KeyTable()
  private readonly shelves: (Shelf | undefined)[] = []
  /** Blocks held, over all endpoints. */
  size = 0

  /** Distinct blocks. */
  get distinct(): number {
    return this.entries.live
  }

  /** Slots are below this. */
  get slots(): number {
    return this.shelves.length
  }

  shelf(slot: number): Shelf | undefined {
    return this.shelves[slot]
  }

  /** Makes room for so many distinct blocks in all, so that nothing grows until there are more. */
  reserve(blocks: number): void {
    this.entries.reserve(blocks)
    this.nodes.reserve(blocks)
    this.table.reserve(blocks)
  }

  /** Lets an endpoint hold blocks; its capacity is from 1. */
  open(slot: number, id: string, capacity: number): Shelf {
    if (slot > SLOT_MAX) throw new RangeError(`the prefix index takes ${SLOT_MAX + 1} endpoints`)
    while (this.shelves.length <= slot) this.shelves.push(undefined)
    const shelf = new Shelf(id, capacity)
    this.shelves[slot] = shelf
    return shelf
  }

  /** Forgets an endpoint and all it held. */
  close(slot: number): void {
    const shelf = this.shelves[slot]
    if (shelf === undefined) return
    while (shelf.size > 0) this.drop(shelf, slot)
    this.shelves[slot] = undefined
  }

  /** Adds blocks in order to what an open endpoint holds; what falls out is what it used longest ago. */
  add(slot: number, keys: Int32Array, blocks: number): void {
    const shelf = this.shelves[slot] as Shelf
    let guess = 0
    for (let block = 0; block < blocks; block++) {
      const low = keys[2 * block] as number
      const high = keys[2 * block + 1] as number
      const entry = this.find(low, high, guess) || this.create(low, high)
      guess = entry + 1
      const held = this.holders.nodeOf(entry, slot)
      if (held !== 0) {
        this.refresh(shelf, held)
        continue
      }
      const node = this.nodes.take()
      this.nodes.words[NODE_WORDS * node + ENTRY] = entry
      this.holders.add(entry, slot, node)
      this.append(shelf, node)
      shelf.size += 1
      this.size += 1
      if (shelf.size > shelf.capacity) this.drop(shelf, slot)
    }
  }

  /**
   * Adds to `counts[slot]` the number of these blocks that the endpoint holds, up to the first block that none holds.
   * `counts` has room for all slots.
   */
  count(keys: Int32Array, blocks: number, counts: Int32Array): void {
    const { words } = this.entries
    const { end } = this.entries
    let at = 0 // where the next block's entry should be
    let run = 0
    let runA = NOBODY
    let runB = NOBODY
    for (let block = 0; block < blocks; block++) {
      const low = keys[2 * block] as number
      const high = keys[2 * block + 1] as number
      if (at === 0 || at >= end || words[at + LOW] !== low || words[at + HIGH] !== high || words[at + SLOTS_A] === NOBODY) {
        at = ENTRY_WORDS * this.search(low, high)
        if (at === 0) break
      }
      const a = words[at + SLOTS_A] as number
      const b = words[at + SLOTS_B] as number
      at += ENTRY_WORDS
      // Neighbouring blocks mostly have the same holders: these are counted together.
      if (a === runA && (b === runB || (a === CROWD && this.sameCrowd(b, runB)))) {
        run += 1
        continue
      }
      this.credit(runA, runB, run, counts)
      run = 1
      runA = a
      runB = b
    }
    this.credit(runA, runB, run, counts)
  }

  /** Slots of the endpoints that hold a block, in order. */
  holding(low: number, high: number): number[] {
    const entry = this.find(low, high, 0)
    return entry === 0 ? [] : this.holders.slotsOf(entry)
  }

  /** Writes the keys of what an endpoint holds, least recently used first, as pairs of words from `at`. */
  copy(slot: number, out: Int32Array, at: number): void {
    const nodes = this.nodes.words
    const entries = this.entries.words
    let to = at
    for (let node = this.shelves[slot]?.oldest ?? 0; node !== 0; node = nodes[NODE_WORDS * node + NEWER] as number) {
      const entry = ENTRY_WORDS * (nodes[NODE_WORDS * node + ENTRY] as number)
      out[to] = entries[entry + LOW] as number
      out[to + 1] = entries[entry + HIGH] as number
      to += 2
    }
  }

  /** The entry of a key, 0 where there is none; the guess is tried first. */
  private find(low: number, high: number, guess: number): number {
    const { words } = this.entries
    const at = ENTRY_WORDS * guess
    const right = guess !== 0 && at < this.entries.end && words[at + LOW] === low && words[at + HIGH] === high && words[at + SLOTS_A] !== NOBODY
    return right ? guess : this.search(low, high)
  }

  private search(low: number, high: number): number {
    const { table } = this
    const { words } = this.entries
    for (let slot = table.home(low); ; slot = table.next(slot)) {
      const entry = table.entryAt(slot)
      if (entry === 0 || (table.lowAt(slot) === low && words[ENTRY_WORDS * entry + HIGH] === high)) return entry
    }
  }

  private create(low: number, high: number): number {
    const entry = this.entries.take()
    this.entries.words[ENTRY_WORDS * entry + LOW] = low
    this.entries.words[ENTRY_WORDS * entry + HIGH] = high
    this.holders.clear(entry)
    this.table.insert(low, entry)
    return entry
  }

  /** Drops what the endpoint used longest ago. */
  private drop(shelf: Shelf, slot: number): void {
    const node = shelf.oldest
    const entry = this.nodes.words[NODE_WORDS * node + ENTRY] as number
    this.unlink(shelf, node)
    this.nodes.give(node)
    shelf.size -= 1
    this.size -= 1
    if (!this.holders.remove(entry, slot)) return
    this.table.remove(this.entries.words[ENTRY_WORDS * entry + LOW] as number, entry)
    this.entries.give(entry)
  }

  private refresh(shelf: Shelf, node: number): void {
    if (shelf.newest === node) return
    this.unlink(shelf, node)
    this.append(shelf, node)
  }

  private unlink(shelf: Shelf, node: number): void {
    const { words } = this.nodes
    const older = words[NODE_WORDS * node + OLDER] as number
    const newer = words[NODE_WORDS * node + NEWER] as number
    if (older === 0) shelf.oldest = newer
    else words[NODE_WORDS * older + NEWER] = newer
    if (newer === 0) shelf.newest = older
    else words[NODE_WORDS * newer + OLDER] = older
  }

  private append(shelf: Shelf, node: number): void {
    const { words } = this.nodes
    words[NODE_WORDS * node + OLDER] = shelf.newest
    words[NODE_WORDS * node + NEWER] = 0
    if (shelf.newest === 0) shelf.oldest = node
    else words[NODE_WORDS * shelf.newest + NEWER] = node
    shelf.newest = node
  }

  private sameCrowd(a: number, b: number): boolean {
    const mine = this.holders.crowd(a).bits
    const other = this.holders.crowd(b).bits
    if (mine.length !== other.length) return false
    for (let word = 0; word < mine.length; word++) if (mine[word] !== other[word]) return false
    return true
  }

  private credit(a: number, b: number, run: number, counts: Int32Array): void {
    if (a === NOBODY) return
    if (a === CROWD) {
      const { bits } = this.holders.crowd(b)
      for (let word = 0; word < bits.length; word++) {
        for (let rest = bits[word] as number; rest !== 0; rest &= rest - 1) counts[32 * word + 31 - Math.clz32(rest & -rest)]! += run
      }
      return
    }
    for (let packed = a, left = 2; left > 0; left--, packed >>>= 16) if ((packed & 0xffff) !== 0xffff) counts[packed & 0xffff]! += run
    for (let packed = b, left = 2; left > 0; left--, packed >>>= 16) if ((packed & 0xffff) !== 0xffff) counts[packed & 0xffff]! += run
  }
}
