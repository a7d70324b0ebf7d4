/** The last media items that an endpoint encoded or received, by key; the least recently used goes first. */
export class MediaCache {
  readonly capacity: number
  readonly #keys = new Set<number>()

  constructor(capacity: number) {
    this.capacity = capacity
  }

  /** Counts the items that are not here and remembers all of them. */
  take(keys: readonly number[]): number {
    let missing = 0
    for (const key of keys) {
      if (!this.#keys.delete(key)) missing++
      this.#keys.add(key)
    }
    for (const key of this.#keys) {
      if (this.#keys.size <= this.capacity) break
      this.#keys.delete(key)
    }
    return missing
  }
}
