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

  /** Whole numbers of 32 bits as canonical CBOR has them: its shortest head, highest byte first. */
  cborNumbers(values: Uint32Array, start: number, end: number): void {
    // What `byte` does, with the halves at hand: these are nearly all the bytes that are ever hashed.
    let low = this.low
    let high = this.high
    for (let at = start; at < end; at++) {
      const value = values[at] as number
      let shift = value < 24 ? -8 : value < 256 ? 0 : value < 65_536 ? 8 : 24
      let next = shift < 0 ? value : shift === 0 ? 24 : shift === 8 ? 25 : 26
      for (;;) {
        const mixed = (low ^ next) >>> 0
        const product = mixed * PRIME_LOW
        high = (Math.imul(high, PRIME_LOW) + Math.floor(product / 4_294_967_296) + (mixed << 8)) >>> 0
        low = product >>> 0
        if (shift < 0) break
        next = (value >>> shift) & 255
        shift -= 8
      }
    }
    this.low = low
    this.high = high
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
