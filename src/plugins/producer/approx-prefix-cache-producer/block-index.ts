import { Holdings } from './holdings.ts'
import { Runs } from './runs.ts'
import type { Shelf } from './shelf.ts'

/** Slots are below this. */
const SLOTS_MAX = 0xfffe

export interface BlockIndexOptions {
  /**
   * Whether a key stands for all of its prompt up to there, as chained hashes do. Blocks that always came together are then
   * kept as one. Otherwise a key is the same block wherever it comes.
   */
  readonly chained?: boolean
}

/**
 * Which endpoints hold which blocks. Each endpoint holds its most recently added blocks, up to its capacity; adding a
 * block again refreshes it, looking it up does not. (llm-d: approx-prefix-cache-producer, index)
 *
 * Blocks are kept in runs: what one prompt added and no other prompt has parted since. A prompt is then a path of few runs,
 * and what it costs goes by these, not by blocks; what of a run an endpoint still holds is one number. Keys are pairs of
 * 32-bit words and everything lies in typed arrays: some 10 bytes a block held once, and 70 a run.
 */
export class BlockIndex {
  readonly runs = new Runs()
  readonly holdings = new Holdings()
  private readonly chained: boolean
  private readonly shelves: (Shelf | undefined)[] = []
  /** Blocks held, over all endpoints. */
  size = 0

  constructor({ chained = false }: BlockIndexOptions = {}) {
    this.chained = chained
  }

  /** Distinct blocks that are held. Goes through all runs. */
  get distinct(): number {
    let blocks = 0
    for (let run = 1; run < this.runs.end; run++) {
      if (!this.holdings.isHeld(run)) continue
      blocks += this.runs.lengthOf(run) - Math.min(...this.holdings.of(run).map((holding) => this.holdings.fromOf(holding)))
    }
    return blocks
  }

  /** Slots are below this. */
  get slots(): number {
    return this.shelves.length
  }

  shelf(slot: number): Shelf | undefined {
    return this.shelves[slot]
  }

  /** Lets an endpoint hold blocks; its capacity is from 1. */
  open(slot: number, id: string, capacity: number): Shelf {
    if (slot >= SLOTS_MAX) throw new RangeError(`the prefix index takes ${SLOTS_MAX} endpoints`)
    while (this.shelves.length <= slot) this.shelves.push(undefined)
    const shelf = this.holdings.shelf(id, capacity)
    this.shelves[slot] = shelf
    return shelf
  }

  /** Forgets an endpoint and all it held. */
  close(slot: number): void {
    const shelf = this.shelves[slot]
    if (shelf === undefined) return
    this.trim(shelf, 0)
    this.shelves[slot] = undefined
  }

  /** Adds blocks in order to what an open endpoint holds; what falls out is what it used longest ago. */
  add(slot: number, keys: Int32Array, blocks: number): void {
    const shelf = this.shelves[slot] as Shelf
    const { runs, chained } = this
    let parent = 0
    for (let block = 0; block < blocks; ) {
      let run = runs.find(parent, keys[2 * block] as number, keys[2 * block + 1] as number)
      if (run === 0) run = this.graft(parent, keys, block, chained ? blocks - block : 1)
      else if (chained) {
        const matched = runs.matched(run, keys, block, blocks)
        if (matched < runs.lengthOf(run)) run = this.split(run, matched)
      }
      this.hold(shelf, slot, run)
      block += runs.lengthOf(run)
      if (chained) parent = run
    }
    this.trim(shelf, shelf.capacity)
  }

  /**
   * Adds to `counts[slot]` the number of these blocks that the endpoint holds, up to the first block that none holds.
   * `counts` has room for all slots.
   */
  count(keys: Int32Array, blocks: number, counts: Int32Array): void {
    const { runs, holdings, chained } = this
    let parent = 0
    for (let block = 0; block < blocks; ) {
      const run = runs.find(parent, keys[2 * block] as number, keys[2 * block + 1] as number)
      if (run === 0 || !holdings.isHeldWhole(run)) return
      const matched = chained ? runs.matched(run, keys, block, blocks) : 1
      holdings.credit(run, matched, counts)
      if (matched < runs.lengthOf(run)) return
      block += matched
      if (chained) parent = run
    }
  }

  /** Slots of the endpoints that hold a block, in order. Goes through all that is held. */
  holding(low: number, high: number): number[] {
    return [...this.shelves.keys()].filter((slot) => this.held(slot).some(([one, other]) => one === low && other === high))
  }

  /** The keys of what an endpoint holds, least recently used first. */
  held(slot: number): (readonly [low: number, high: number])[] {
    const { holdings, runs } = this
    const keys: (readonly [number, number])[] = []
    const shelf = this.shelves[slot]
    if (shelf === undefined) return keys
    for (let holding = shelf.oldest; holding !== 0; holding = shelf.after(holding)) {
      const run = holdings.runOf(holding)
      const words = runs.read(run)
      for (let block = holdings.fromOf(holding); block < runs.lengthOf(run); block++) {
        keys.push([words[2 * block] as number, words[2 * block + 1] as number])
      }
    }
    return keys
  }

  /** Continues a run with blocks that nobody holds yet. */
  graft(parent: number, keys: Int32Array, at: number, blocks: number): number {
    const run = this.runs.create(parent, keys, at, blocks)
    this.holdings.begin(run)
    return run
  }

  /** An endpoint holds a run from a block on that it did not hold, and has used it just now. */
  take(shelf: Shelf, slot: number, run: number, from: number): void {
    shelf.add(this.holdings.create(run, slot, from))
    this.grow(shelf, this.runs.lengthOf(run) - from)
  }

  /** An endpoint holds all of a run, and has used it just now. */
  private hold(shelf: Shelf, slot: number, run: number): void {
    const { holdings } = this
    const known = holdings.find(run, slot)
    if (known === 0) {
      this.take(shelf, slot, run, 0)
      return
    }
    const from = holdings.fromOf(known)
    if (from !== 0) {
      holdings.setFrom(known, 0)
      this.grow(shelf, from)
    }
    shelf.renew(known)
  }

  /** Parts a run; who holds it holds both parts as before. Returns the first. */
  private split(run: number, blocks: number): number {
    const { holdings, runs } = this
    const holders = holdings.of(run)
    const head = runs.split(run, blocks)
    holdings.begin(head)
    for (const holding of holders) {
      const slot = holdings.slotOf(holding)
      const from = holdings.fromOf(holding)
      if (from < blocks) (this.shelves[slot] as Shelf).addBefore(holding, holdings.create(head, slot, from))
      holdings.setFrom(holding, Math.max(0, from - blocks))
    }
    return head
  }

  /** Drops what the endpoint used longest ago until it holds no more than so many blocks. */
  private trim(shelf: Shelf, blocks: number): void {
    const { holdings, runs } = this
    while (shelf.size > blocks) {
      const holding = shelf.oldest
      const run = holdings.runOf(holding)
      const from = holdings.fromOf(holding)
      const held = runs.lengthOf(run) - from
      const excess = shelf.size - blocks
      if (excess < held) {
        holdings.setFrom(holding, from + excess)
        this.grow(shelf, -excess)
        return
      }
      holdings.remove(shelf, holding)
      this.grow(shelf, -held)
      this.release(run)
    }
  }

  /** Forgets a run that nobody holds and nothing continues, and then those that it continued. */
  private release(run: number): void {
    for (let one = run; one !== 0 && !this.holdings.isHeld(one) && !this.runs.isContinued(one); ) {
      const parent = this.runs.parentOf(one)
      this.runs.remove(one)
      one = parent
    }
  }

  private grow(shelf: Shelf, blocks: number): void {
    shelf.size += blocks
    this.size += blocks
  }
}
