import { type OrderedRecords, UseOrder } from '../../../core/use-order.ts'
import { KeyTable } from '../approx-prefix-cache-producer/key-table.ts'
import { Pool } from '../approx-prefix-cache-producer/pool.ts'

// A record: two words for its shelf's order, the key, who holds it, and how often it was stored in each tier (a byte each).
const LOW = 2
const HIGH = 3
const SLOT = 4
const REFERENCES = 5
const WORDS = 7

/** Bytes of references that a record has room for. */
export const TIERS_MAX = 8
/** Words of a saved block: its key and its references. */
export const SAVED_WORDS = 4
const REFERENCES_MAX = 255

/** What one endpoint holds, in order of being stored. */
export class KvShelf extends UseOrder {
  readonly id: string
  size = 0

  constructor(id: string, records: OrderedRecords) {
    super(records)
    this.id = id
  }
}

/**
 * Which endpoints hold which blocks in which tiers, as far as was told. A block that was stored twice must be removed
 * twice. Over its bound an endpoint that stores more loses what it stored longest ago, so one that floods harms itself
 * only. (llm-d: in-memory index)
 *
 * Keys are pairs of 32-bit words and everything lies in typed arrays: some 72 bytes a block and endpoint, room to grow included.
 */
export class KvIndex {
  readonly max: number
  private readonly records = new Pool(WORDS, 1024)
  private readonly table = new KeyTable()
  private readonly shelves: (KvShelf | undefined)[] = []
  /** Blocks lost to the bound. */
  evictions = 0

  constructor(max: number) {
    this.max = max
  }

  get size(): number {
    return this.records.live
  }

  /** Slots are below this. */
  get slots(): number {
    return this.shelves.length
  }

  shelf(slot: number): KvShelf | undefined {
    return this.shelves[slot]
  }

  /** Makes room for so many blocks in all. */
  reserve(blocks: number): void {
    this.records.reserve(blocks)
    this.table.reserve(blocks)
  }

  /** Begins to keep what an endpoint holds, with nothing. */
  open(slot: number, id: string): void {
    this.close(slot)
    while (this.shelves.length <= slot) this.shelves.push(undefined)
    this.shelves[slot] = new KvShelf(id, this.records)
  }

  /** Forgets all that an endpoint holds. */
  close(slot: number): void {
    const shelf = this.shelves[slot]
    if (shelf === undefined) return
    while (shelf.oldest !== 0) this.drop(shelf, shelf.oldest)
    this.shelves[slot] = undefined
  }

  /** One more reference in a tier, and the block is the newest. The endpoint must be open. */
  store(slot: number, low: number, high: number, tier: number): void {
    const record = this.find(slot, low, high) || this.make(slot, low, high)
    const shelf = this.shelves[slot]
    if (record === 0 || shelf === undefined) return
    const count = this.references(record, tier)
    if (count < REFERENCES_MAX) this.count(record, tier, count + 1)
    shelf.renew(record)
  }

  /** One reference less: how many are left in the tier, -1 where there was none. Without any left in all the block is gone. */
  remove(slot: number, low: number, high: number, tier: number): number {
    const record = this.find(slot, low, high)
    const shelf = this.shelves[slot]
    if (record === 0 || shelf === undefined) return -1
    const count = this.references(record, tier)
    if (count === 0) return -1
    this.count(record, tier, count - 1)
    const { words } = this.records
    const at = WORDS * record + REFERENCES
    if (words[at] === 0 && words[at + 1] === 0) this.drop(shelf, record)
    return count - 1
  }

  /** The record of a block that an endpoint holds; 0 where it does not. */
  find(slot: number, low: number, high: number): number {
    const { table } = this
    const { words } = this.records
    const mixed = mix(slot, low)
    for (let at = table.home(mixed), record = table.entryAt(at); record !== 0; at = table.next(at), record = table.entryAt(at)) {
      const word = WORDS * record
      if (words[word + LOW] === low && words[word + HIGH] === high && words[word + SLOT] === slot) return record
    }
    return 0
  }

  /** How often the block was stored in a tier and not removed. */
  references(record: number, tier: number): number {
    return ((this.records.words[WORDS * record + REFERENCES + (tier >> 2)] as number) >>> (8 * (tier & 3))) & 255
  }

  /** Copies what an endpoint holds, oldest first, `SAVED_WORDS` a block. */
  copy(slot: number, into: Int32Array, from: number): void {
    const { words } = this.records
    const shelf = this.shelves[slot]
    if (shelf === undefined) return
    for (let record = shelf.oldest, at = from; record !== 0; record = shelf.after(record), at += SAVED_WORDS) {
      into[at] = words[WORDS * record + LOW] as number
      into[at + 1] = words[WORDS * record + HIGH] as number
      into[at + 2] = words[WORDS * record + REFERENCES] as number
      into[at + 3] = words[WORDS * record + REFERENCES + 1] as number
    }
  }

  /** Takes what was copied; the endpoint must be open. */
  fill(slot: number, saved: Int32Array): void {
    for (let at = 0; at < saved.length; at += SAVED_WORDS) {
      const record = this.make(slot, saved[at] as number, saved[at + 1] as number)
      if (record === 0) return
      this.records.words[WORDS * record + REFERENCES] = saved[at + 2] as number
      this.records.words[WORDS * record + REFERENCES + 1] = saved[at + 3] as number
    }
  }

  private make(slot: number, low: number, high: number): number {
    const shelf = this.shelves[slot]
    if (shelf === undefined) return 0
    if (this.records.live >= this.max) this.evict(shelf)
    const record = this.records.take()
    const { words } = this.records
    const at = WORDS * record
    words[at + LOW] = low
    words[at + HIGH] = high
    words[at + SLOT] = slot
    words[at + REFERENCES] = 0
    words[at + REFERENCES + 1] = 0
    this.table.insert(mix(slot, low), record)
    shelf.add(record)
    shelf.size += 1
    return record
  }

  private evict(storing: KvShelf): void {
    let loser: KvShelf | undefined = storing
    if (storing.size === 0) for (const shelf of this.shelves) if (shelf !== undefined && shelf.size > (loser?.size ?? 0)) loser = shelf
    this.evictions += 1
    this.drop(loser, loser.oldest)
  }

  private drop(shelf: KvShelf, record: number): void {
    const { words } = this.records
    const at = WORDS * record
    shelf.remove(record)
    this.table.remove(mix(words[at + SLOT] as number, words[at + LOW] as number), record)
    this.records.give(record)
    shelf.size -= 1
  }

  private count(record: number, tier: number, count: number): void {
    const at = WORDS * record + REFERENCES + (tier >> 2)
    const shift = 8 * (tier & 3)
    this.records.words[at] = ((this.records.words[at] as number) & ~(255 << shift)) | (count << shift)
  }
}

/** Keys are hashes; the same key of another endpoint must lie elsewhere, or a common prefix would be one long run. */
const mix = (slot: number, low: number): number => low ^ Math.imul(slot + 1, 0x85eb_ca6b)
