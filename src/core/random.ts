/**
 * A named stream of chance. Its numbers depend on its name alone, so a draw in one stream never shifts another.
 * Each number drawn is kept, for the receipt.
 */
export interface RandomStream {
  /** The next number, uniform in [0, 1), a multiple of 2^-32. */
  next(): number
  /** A whole number, uniform in [0, bound); bound from 1 to 2^32. */
  below(bound: number): number
}

/** Mixes a 32-bit word so that near inputs give far outputs. (MurmurHash3's finalizer) */
const mix = (word: number): number => {
  let h = word | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const mixText = (start: number, text: string): number => {
  let h = start | 0
  for (let i = 0; i < text.length; i++) h = Math.imul(h ^ text.charCodeAt(i), 0x01000193)
  return mix(h)
}

/** SFC32: 128 bits of state, passes PractRand; chosen because it needs 32-bit adds and shifts only. */
export class SeededStream implements RandomStream {
  private a = 0
  private b = 0
  private c = 0
  private counter = 1
  /** Where each number drawn is noted, in order; several streams may share it. */
  private readonly drawn: number[]

  constructor(drawn: number[]) {
    this.drawn = drawn
  }

  /** Begins the stream of this name: seed as two 32-bit words, position and attempt of the request, profile, plugin. */
  begin(seedLow: number, seedHigh: number, position: number, attempt: number, profile: string, plugin: string): this {
    const place = mix((position % 4294967296) ^ mix(Math.floor(position / 4294967296)))
    this.a = mix(seedLow ^ place)
    this.b = mix(seedHigh ^ mixText(attempt ^ place, profile))
    this.c = mixText(this.a ^ 0x9e3779b9, plugin)
    this.counter = 1
    for (let i = 0; i < WARM_UP; i++) this.step()
    return this
  }

  next(): number {
    const number = (this.step() >>> 0) / 4294967296
    this.drawn.push(number)
    return number
  }

  below(bound: number): number {
    return Math.floor(this.next() * bound)
  }

  private step(): number {
    const sum = (this.a + this.b + this.counter) | 0
    this.counter = (this.counter + 1) | 0
    this.a = this.b ^ (this.b >>> 9)
    this.b = (this.c + (this.c << 3)) | 0
    this.c = (this.c << 21) | (this.c >>> 11)
    this.c = (this.c + sum) | 0
    return sum
  }
}

// SFC32's author asks for 12 rounds after seeding before the output is used.
const WARM_UP = 12
