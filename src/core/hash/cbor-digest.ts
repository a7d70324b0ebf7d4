import { Fnv1a64 } from './fnv.ts'

const UNSIGNED = 0x00
const TEXT = 0x60
const ARRAY = 0x80
const MAP = 0xa0
const NULL = 0xf6
const encoder = new TextEncoder()

/**
 * FNV-1a-64 of canonical CBOR as it is written: each head in its shortest form, nothing of indefinite length. The bytes
 * themselves are never there. (RFC 8949, section 4.2)
 */
export class CborDigest {
  private readonly hash = new Fnv1a64()

  begin(): void {
    this.hash.reset()
  }

  get low(): number {
    return this.hash.low
  }

  get high(): number {
    return this.hash.high
  }

  /** Unsigned numbers one after the other. */
  numbers(values: Uint32Array, start: number, end: number): void {
    this.hash.cborNumbers(values, start, end)
  }

  /** An unsigned number of 64 bits. */
  unsigned64(low: number, high: number): void {
    if (high === 0) {
      this.head(UNSIGNED, low)
      return
    }
    this.hash.byte(UNSIGNED | 27)
    this.hash.word(high)
    this.hash.word(low)
  }

  array(length: number): void {
    this.head(ARRAY, length)
  }

  map(pairs: number): void {
    this.head(MAP, pairs)
  }

  text(value: string): void {
    const bytes = encoder.encode(value)
    this.head(TEXT, bytes.length)
    this.hash.bytes(bytes)
  }

  nothing(): void {
    this.hash.byte(NULL)
  }

  private head(kind: number, value: number): void {
    const { hash } = this
    if (value < 24) {
      hash.byte(kind | value)
    } else if (value < 256) {
      hash.byte(kind | 24)
      hash.byte(value)
    } else if (value < 65_536) {
      hash.byte(kind | 25)
      hash.byte(value >>> 8)
      hash.byte(value & 255)
    } else {
      hash.byte(kind | 26)
      hash.word(value)
    }
  }
}
