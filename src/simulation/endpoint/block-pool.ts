/** What one sequence holds of the block pool. */
export interface BlockLease {
  readonly keys: Float64Array
  /** Full prompt blocks found in the cache at admission. */
  readonly matched: number
  /** The cached block that stands for each key, or NONE. */
  readonly held: Int32Array
  /** Blocks that only this sequence knows. */
  privateBlocks: number
}

const NONE = -1
/** Keys have 53 bits; the upper 32 choose the bucket. */
const LOWER_BITS = 0x20_0000

/**
 * The KV blocks of one endpoint with their prefix cache: blocks are shared by reference count, a block that nobody
 * uses stays cached until it is the least recently used one and its room is needed (as in vLLM: the tail of a prompt
 * goes before its head). Kept in columns, one place per block, as a prompt of the traces has about a thousand blocks.
 */
export class BlockPool {
  readonly blockCount: number
  #used = 0
  #cached = 0
  #idle = 0
  readonly #key: Float64Array
  readonly #references: Int32Array
  /** First place of each bucket, and the next place in the same bucket; for empty places the next empty one. */
  readonly #bucket: Int32Array
  readonly #next: Int32Array
  #empty = 0
  /** Cached places without references, as a list from oldest to newest. */
  readonly #older: Int32Array
  readonly #newer: Int32Array
  #oldest = NONE
  #newest = NONE

  /** Told of each block whose content can no longer be found. */
  readonly #evicted: (key: number) => void

  constructor(blockCount: number, evicted: (key: number) => void = () => undefined) {
    this.blockCount = blockCount
    this.#evicted = evicted
    this.#key = new Float64Array(blockCount)
    this.#references = new Int32Array(blockCount)
    this.#next = new Int32Array(blockCount)
    for (let place = 0; place < blockCount; place++) this.#next[place] = place + 1 < blockCount ? place + 1 : NONE
    this.#bucket = new Int32Array(bucketsFor(blockCount)).fill(NONE)
    this.#older = new Int32Array(blockCount)
    this.#newer = new Int32Array(blockCount)
  }

  /** Blocks held by sequences; cached blocks without a holder count as free. */
  get usedBlocks(): number {
    return this.#used
  }

  /** Blocks whose content can be found again. */
  get cachedBlocks(): number {
    return this.#cached
  }

  /** Length of the cached prefix in blocks, at most `limit`. */
  match(keys: Float64Array, limit: number): number {
    const end = Math.min(keys.length, limit)
    let matched = 0
    while (matched < end && this.#find(keys[matched] as number) !== NONE) matched++
    return matched
  }

  /** Takes `total` blocks, the first `matched` of them from the cache; undefined when they are not free. */
  acquire(keys: Float64Array, matched: number, total: number): BlockLease | undefined {
    const held = new Int32Array(keys.length).fill(NONE)
    let revived = 0
    for (let i = 0; i < matched; i++) {
      const place = this.#find(keys[i] as number)
      held[i] = place
      if (this.#references[place] === 0) revived++
    }
    if (this.#used + revived + total - matched > this.blockCount) return undefined
    for (let i = 0; i < matched; i++) this.#hold(held[i] as number)
    this.#used += total - matched
    while (this.#idle + this.#used > this.blockCount) this.#evictOldest()
    return { keys, matched, held, privateBlocks: total - matched }
  }

  /**
   * Publishes the prompt blocks that the sequence has now computed, so that later prompts find them; gives the numbers
   * of those that were not there yet.
   */
  publish(lease: BlockLease): readonly number[] {
    const stored: number[] = []
    for (let i = lease.matched; i < lease.keys.length; i++) {
      const key = lease.keys[i] as number
      if (this.#find(key) !== NONE) continue
      lease.held[i] = this.#insert(key)
      lease.privateBlocks--
      stored.push(i)
    }
    return stored
  }

  /** Gives everything back; shared blocks stay cached. A second release of the same lease does nothing. */
  release(lease: BlockLease): void {
    for (let i = lease.keys.length - 1; i >= 0; i--) {
      const place = lease.held[i] as number
      if (place === NONE) continue
      lease.held[i] = NONE
      const left = (this.#references[place] as number) - 1
      this.#references[place] = left
      if (left === 0) this.#appendIdle(place)
    }
    this.#used -= lease.privateBlocks
    lease.privateBlocks = 0
  }

  #hold(place: number): void {
    const references = this.#references[place] as number
    this.#references[place] = references + 1
    if (references > 0) return
    this.#removeIdle(place)
    this.#used++
  }

  #bucketOf(key: number): number {
    return ((key / LOWER_BITS) >>> 0) & (this.#bucket.length - 1)
  }

  #find(key: number): number {
    let place = this.#bucket[this.#bucketOf(key)] as number
    while (place !== NONE && this.#key[place] !== key) place = this.#next[place] as number
    return place
  }

  /** A place is always empty here: every block is private, cached or free, and the one published was private. */
  #insert(key: number): number {
    const place = this.#empty
    const bucket = this.#bucketOf(key)
    this.#empty = this.#next[place] as number
    this.#key[place] = key
    this.#references[place] = 1
    this.#next[place] = this.#bucket[bucket] as number
    this.#bucket[bucket] = place
    this.#cached++
    return place
  }

  #evictOldest(): void {
    const place = this.#oldest
    this.#removeIdle(place)
    const bucket = this.#bucketOf(this.#key[place] as number)
    if (this.#bucket[bucket] === place) {
      this.#bucket[bucket] = this.#next[place] as number
    } else {
      let before = this.#bucket[bucket] as number
      while (this.#next[before] !== place) before = this.#next[before] as number
      this.#next[before] = this.#next[place] as number
    }
    this.#next[place] = this.#empty
    this.#empty = place
    this.#cached--
    this.#evicted(this.#key[place] as number)
  }

  #appendIdle(place: number): void {
    this.#older[place] = this.#newest
    this.#newer[place] = NONE
    if (this.#newest === NONE) this.#oldest = place
    else this.#newer[this.#newest] = place
    this.#newest = place
    this.#idle++
    this.#used--
  }

  #removeIdle(place: number): void {
    const older = this.#older[place] as number
    const newer = this.#newer[place] as number
    if (older === NONE) this.#oldest = newer
    else this.#newer[older] = newer
    if (newer === NONE) this.#newest = older
    else this.#older[newer] = older
    this.#idle--
  }
}

/** A power of two, at least twice as many buckets as blocks. */
function bucketsFor(blockCount: number): number {
  let buckets = 2
  while (buckets < blockCount * 2) buckets *= 2
  return buckets
}
