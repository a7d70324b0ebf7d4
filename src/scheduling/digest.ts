const WORDS = new Uint32Array(2)
const NUMBER = new Float64Array(WORDS.buffer)
const BIG = new BigUint64Array(WORDS.buffer)

/**
 * A 64-bit digest of a receipt: two lanes of 32 bits, multiplied and rotated a word at a time. It tells whether two
 * receipts are the same; it is no defence against someone who wants them to look so.
 */
export class Digest {
  private low = 0x9e3779b9 | 0
  private high = 0x85ebca6b | 0

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

  numbers(values: Float64Array, offset: number, length: number): this {
    const words = new Uint32Array(values.buffer, values.byteOffset + offset * 8, length * 2)
    let low = this.low
    let high = this.high
    for (let i = 0; i < words.length; i++) {
      const word = words[i] as number
      low = Math.imul(((low << 13) | (low >>> 19)) ^ word, 0x2c1b3c6d)
      high = Math.imul(((high << 17) | (high >>> 15)) + word + low, 0x297a2d39)
    }
    this.low = low
    this.high = high
    return this
  }

  /** The digest so far, an unsigned 64-bit number. */
  value(): bigint {
    WORDS[0] = finish(this.low ^ (this.high >>> 7))
    WORDS[1] = finish(this.high ^ Math.imul(this.low, 0x1b873593))
    return BIG[0] as bigint
  }
}

const finish = (word: number): number => {
  let h = word
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}
