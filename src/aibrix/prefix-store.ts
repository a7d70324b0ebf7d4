interface Entry<K, V> {
  readonly key: K
  value: V
  writtenAt: number
  older: Entry<K, V> | undefined
  newer: Entry<K, V> | undefined
}

/**
 * Values by key, at most so many, for so long. Writing makes an entry the newest and young again; reading does neither.
 * What is too old stays readable until it is swept. (AIBrix: prefix store)
 *
 * The order of writing is a list of its own: a map that gives up its first entries again and again must step over all
 * the places of those that it gave up before.
 */
export class PrefixStore<K, V> {
  readonly capacity: number
  /** Age from which a sweep removes an entry, exclusive; in the unit of `now`. */
  readonly timeToLive: number
  private readonly entries = new Map<K, Entry<K, V>>()
  private oldest: Entry<K, V> | undefined = undefined
  private newest: Entry<K, V> | undefined = undefined

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
    const known = this.entries.get(key)
    if (known !== undefined) {
      this.unlink(known)
      known.value = value
      known.writtenAt = now
      this.append(known)
      return false
    }
    const entry: Entry<K, V> = { key, value, writtenAt: now, older: undefined, newer: undefined }
    this.entries.set(key, entry)
    this.append(entry)
    if (this.entries.size <= this.capacity || this.oldest === undefined) return false
    this.remove(this.oldest)
    return true
  }

  /** Removes what was written too long ago. Entries are in order of writing, so it stops at the first that is not. */
  sweep(now: number): void {
    while (this.oldest !== undefined && now - this.oldest.writtenAt > this.timeToLive) this.remove(this.oldest)
  }

  /** All entries, in order of writing. */
  *all(): Generator<readonly [key: K, value: V, writtenAt: number], void, undefined> {
    for (let entry = this.oldest; entry !== undefined; entry = entry.newer) yield [entry.key, entry.value, entry.writtenAt]
  }

  private remove(entry: Entry<K, V>): void {
    this.unlink(entry)
    this.entries.delete(entry.key)
  }

  private append(entry: Entry<K, V>): void {
    entry.older = this.newest
    entry.newer = undefined
    if (this.newest === undefined) this.oldest = entry
    else this.newest.newer = entry
    this.newest = entry
  }

  private unlink({ older, newer }: Entry<K, V>): void {
    if (older === undefined) this.oldest = newer
    else older.newer = newer
    if (newer === undefined) this.newest = older
    else newer.older = older
  }
}
