/**
 * Records of a fixed number of 32-bit words in one array, numbered from 1. Freed numbers are given out again oldest first,
 * so that records which were made one after the other tend to lie one after the other.
 */
export class Pool {
  words: Int32Array
  readonly stride: number
  private made = 0
  private firstFree = 0
  private lastFree = 0
  private freed = 0

  constructor(stride: number, room: number) {
    this.stride = stride
    this.words = new Int32Array(stride * (room + 1))
  }

  get live(): number {
    return this.made - this.freed
  }

  /** Words from here on are of no record that was ever taken. */
  get end(): number {
    return this.stride * (this.made + 1)
  }

  take(): number {
    if (this.firstFree === 0) {
      this.made += 1
      if (this.stride * (this.made + 1) > this.words.length) this.reserve(this.made + Math.ceil(this.made / 4))
      return this.made
    }
    const id = this.firstFree
    this.firstFree = this.words[this.stride * id] as number
    if (this.firstFree === 0) this.lastFree = 0
    this.freed -= 1
    return id
  }

  /** The record's first word is the pool's from here until it is taken again. */
  give(id: number): void {
    this.words[this.stride * id] = 0
    if (this.lastFree === 0) this.firstFree = id
    else this.words[this.stride * this.lastFree] = id
    this.lastFree = id
    this.freed += 1
  }

  /** Makes room for so many records in all. */
  reserve(records: number): void {
    const needed = this.stride * (records + 1)
    if (needed <= this.words.length) return
    const grown = new Int32Array(needed)
    grown.set(this.words)
    this.words = grown
  }
}
