/**
 * FNV-1a in 64 bits, kept as two 32-bit halves so that no byte costs a BigInt: the prime is 2^40 + 435, so the product
 * is one small multiplication and one shift. (Fowler, Noll and Vo: FNV-1a)
 */
export class Fnv1a64 {
  low = OFFSET_LOW
  high = OFFSET_HIGH

  reset(): void {
    this.low = OFFSET_LOW
    this.high = OFFSET_HIGH
  }

  byte(value: number): void {
    const low = (this.low ^ value) >>> 0
    const product = low * PRIME_LOW
    this.high = (Math.imul(this.high, PRIME_LOW) + Math.floor(product / 4_294_967_296) + (low << 8)) >>> 0
    this.low = product >>> 0
  }

  bytes(values: Uint8Array): void {
    for (const value of values) this.byte(value)
  }

  /** A number of 32 bits, highest byte first. */
  word(value: number): void {
    this.byte(value >>> 24)
    this.byte((value >>> 16) & 255)
    this.byte((value >>> 8) & 255)
    this.byte(value & 255)
  }
}

const OFFSET_LOW = 0x8422_2325
const OFFSET_HIGH = 0xcbf2_9ce4
/** The prime less its 2^40. */
const PRIME_LOW = 435
