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

  /** The highest number ever given out. */
  get highest(): number {
    return this.made
  }

  take(): number {
    if (this.firstFree === 0) {
      this.made += 1
      if (this.stride * (this.made + 1) > this.words.length) this.grow()
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

  private grow(): void {
    const grown = new Int32Array(this.stride * (this.made + 1 + Math.ceil(this.made / 2)))
    grown.set(this.words)
    this.words = grown
  }
}
