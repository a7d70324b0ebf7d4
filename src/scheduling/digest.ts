import type { Endpoint } from '../core/endpoint.ts'

const WORDS = new Uint32Array(2)
const NUMBER = new Float64Array(WORDS.buffer)
const BIG = new BigUint64Array(WORDS.buffer)

/** Lists of endpoints remembered: all of them, and what filters leave for each of three stages. */
const LISTS = 4

/**
 * A 64-bit digest of a receipt: two lanes of 32 bits, multiplied and rotated a word at a time. It tells whether two
 * receipts are the same; it is no defence against someone who wants them to look so.
 */
export class Digest {
  private low = 0x9e3779b9 | 0
  private high = 0x85ebca6b | 0
  private listed: readonly Endpoint[] | undefined = undefined
  private listedWord = 0
  private readonly lists: (readonly Endpoint[] | undefined)[] = Array.from({ length: LISTS }, () => undefined)
  private readonly listWords = new Int32Array(LISTS)
  private nextList = 0

  reset(): this {
    this.low = 0x9e3779b9 | 0
    this.high = 0x85ebca6b | 0
    return this
  }

  word(value: number): this {
    this.low = Math.imul(((this.low << 13) | (this.low >>> 19)) ^ value, 0x2c1b3c6d)
    this.high = Math.imul(((this.high << 17) | (this.high >>> 15)) + value + this.low, 0x297a2d39)
    return this
  }

  text(value: string): this {
    for (let i = 0; i < value.length; i++) this.word(value.charCodeAt(i))
    return this.word(value.length)
  }

  number(value: number): this {
    // One bit pattern for every NaN: which one an engine keeps is its own affair.
    NUMBER[0] = value === value ? value : NaN
    return this.word(WORDS[0] as number).word(WORDS[1] as number)
  }

  /**
   * Which lives, in order. Lists met lately are remembered: the fleet, and filters by role, hand out the same ones until they
   * change. A list itself never changes: receipts keep it, and the next filter may remember what came of it.
   */
  lives(endpoints: readonly Endpoint[]): this {
    if (endpoints !== this.listed) {
      this.listed = endpoints
      this.listedWord = this.wordOf(endpoints)
    }
    return this.word(this.listedWord)
  }

  /** Numbers by their bits, in four lanes so that one multiplication need not wait for the last. */
  numbers(values: Float64Array, offset: number, length: number): this {
    const words = new Uint32Array(values.buffer, values.byteOffset + offset * 8, length * 2)
    let a = this.low
    let b = this.high
    let c = ~this.low
    let d = ~this.high
    const whole = words.length & ~3
    let i = 0
    for (; i < whole; i += 4) {
      a = Math.imul(((a << 13) | (a >>> 19)) ^ (words[i] as number), 0x2c1b3c6d)
      b = Math.imul(((b << 13) | (b >>> 19)) ^ (words[i + 1] as number), 0x297a2d39)
      c = Math.imul(((c << 13) | (c >>> 19)) ^ (words[i + 2] as number), 0x1b56c4e9)
      d = Math.imul(((d << 13) | (d >>> 19)) ^ (words[i + 3] as number), 0x2c3e5d4b)
    }
    for (; i < words.length; i++) a = Math.imul(((a << 13) | (a >>> 19)) ^ (words[i] as number), 0x2c1b3c6d)
    return this.word(a).word(b).word(c).word(d)
  }

  /** The digest so far, an unsigned 64-bit number. */
  value(): bigint {
    WORDS[0] = finish(this.low ^ (this.high >>> 7))
    WORDS[1] = finish(this.high ^ Math.imul(this.low, 0x1b873593))
    return BIG[0] as bigint
  }

  private wordOf(endpoints: readonly Endpoint[]): number {
    const known = this.lists.indexOf(endpoints)
    if (known >= 0) return this.listWords[known] as number
    let word = endpoints.length
    for (const endpoint of endpoints) word = Math.imul(((word << 11) | (word >>> 21)) ^ endpoint.life, 0x2c1b3c6d)
    this.lists[this.nextList] = endpoints
    this.listWords[this.nextList] = word
    this.nextList = (this.nextList + 1) % LISTS
    return word
  }
}

const finish = (word: number): number => {
  let h = word
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
