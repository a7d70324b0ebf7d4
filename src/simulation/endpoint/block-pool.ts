/** What one sequence holds of the block pool. */
export interface BlockLease {
  readonly keys: Float64Array
  /** Full prompt blocks found in the cache at admission. */
  readonly matched: number
  /** 1 where this lease holds a reference to the cached block. */
  readonly held: Uint8Array
  /** Blocks that only this sequence knows. */
  privateBlocks: number
}

/**
 * The KV blocks of one endpoint with their prefix cache: blocks are shared by reference count, a block that nobody
 * uses stays cached until it is the least recently used one and its room is needed (as in vLLM: the tail of a prompt
 * goes before its head).
 */
export class BlockPool {
  readonly blockCount: number
  #used = 0
  /** References by key; a key that is present is cached. */
  readonly #references = new Map<number, number>()
  /** Cached keys without references, oldest first. */
  readonly #idle = new Set<number>()
  /** One iterator for the pool's life: whatever it has passed is evicted, so it never walks over old gaps again. */
  #oldest: Iterator<number> = this.#idle.values()

  constructor(blockCount: number) {
    this.blockCount = blockCount
  }

  /** Blocks held by sequences; cached blocks without a holder count as free. */
  get usedBlocks(): number {
    return this.#used
  }

  /** Blocks whose content can be found again. */
  get cachedBlocks(): number {
    return this.#references.size
  }

  /** Length of the cached prefix in blocks, at most `limit`. */
  match(keys: Float64Array, limit: number): number {
    const end = Math.min(keys.length, limit)
    let matched = 0
    while (matched < end && this.#references.has(keys[matched] as number)) matched++
    return matched
  }

  /** Takes `total` blocks, the first `matched` of them from the cache; undefined when they are not free. */
  acquire(keys: Float64Array, matched: number, total: number): BlockLease | undefined {
    let revived = 0
    for (let i = 0; i < matched; i++) if (this.#references.get(keys[i] as number) === 0) revived++
    if (this.#used + revived + total - matched > this.blockCount) return undefined
    const lease: BlockLease = { keys, matched, held: new Uint8Array(keys.length), privateBlocks: total - matched }
    for (let i = 0; i < matched; i++) this.#reference(lease, i)
    this.#used += lease.privateBlocks
    this.#evict()
    return lease
  }

  /** Publishes the prompt blocks that the sequence has now computed, so that later prompts find them. */
  publish(lease: BlockLease): void {
    for (let i = lease.matched; i < lease.keys.length; i++) {
      const key = lease.keys[i] as number
      if (this.#references.has(key)) continue
      this.#references.set(key, 1)
      lease.held[i] = 1
      lease.privateBlocks--
    }
  }

  /** Gives everything back; shared blocks stay cached. A second release of the same lease does nothing. */
  release(lease: BlockLease): void {
    for (let i = lease.keys.length - 1; i >= 0; i--) {
      if (lease.held[i] !== 1) continue
      lease.held[i] = 0
      const key = lease.keys[i] as number
      const left = (this.#references.get(key) as number) - 1
      this.#references.set(key, left)
      if (left === 0) {
        this.#idle.add(key)
        this.#used--
      }
    }
    this.#used -= lease.privateBlocks
    lease.privateBlocks = 0
  }

  #reference(lease: BlockLease, index: number): void {
    const key = lease.keys[index] as number
    const references = this.#references.get(key) as number
    this.#references.set(key, references + 1)
    lease.held[index] = 1
    if (references === 0) {
      this.#idle.delete(key)
      this.#used++
    }
  }

  #evict(): void {
    while (this.#idle.size + this.#used > this.blockCount) {
      let next = this.#oldest.next()
      if (next.done === true) {
        this.#oldest = this.#idle.values()
        next = this.#oldest.next()
        if (next.done === true) return
      }
      this.#idle.delete(next.value)
      this.#references.delete(next.value)
    }
  }
}
