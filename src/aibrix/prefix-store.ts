/**
 * Values by key, at most so many, for so long. Writing makes an entry the newest and young again; reading does neither.
 * What is too old stays readable until it is swept. (AIBrix: prefix store)
 */
export class PrefixStore<K, V> {
  readonly capacity: number
  /** Age from which a sweep removes an entry, exclusive; in the unit of `now`. */
  readonly timeToLive: number
  private readonly entries = new Map<K, { value: V; writtenAt: number }>()

  constructor(capacity: number, timeToLive: number) {
    this.capacity = capacity
    this.timeToLive = timeToLive
  }

  get size(): number {
    return this.entries.size
  }

  get(key: K): V | undefined {
    return this.entries.get(key)?.value
  }

  /** Writes an entry; whether that cost the oldest one its place. */
  put(key: K, value: V, now: number): boolean {
    this.entries.delete(key)
    this.entries.set(key, { value, writtenAt: now })
    if (this.entries.size <= this.capacity) return false
    const oldest = this.entries.keys().next()
    if (oldest.done !== true) this.entries.delete(oldest.value)
    return true
  }

  /** Removes what was written too long ago. Entries are in order of writing, so it stops at the first that is not. */
  sweep(now: number): void {
    for (const [key, { writtenAt }] of this.entries) {
      if (now - writtenAt <= this.timeToLive) return
      this.entries.delete(key)
    }
  }

  /** All entries, in order of writing. */
  *all(): Generator<readonly [key: K, value: V, writtenAt: number], void, undefined> {
    for (const [key, { value, writtenAt }] of this.entries) yield [key, value, writtenAt]
  }
}
