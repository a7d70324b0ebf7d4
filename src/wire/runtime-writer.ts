import { WireError } from './wire-error.ts'

const FIRST_CAPACITY = 512
const TWO_32 = 4_294_967_296
const TWO_63 = 1n << 63n
const TWO_64 = 1n << 64n

/**
 * Appends protobuf values to one growing buffer.
 * Tags are passed whole (field number times 8 plus wire type). A number that does not fit its type throws `WireError`.
 * Strings keep lone surrogates (as three bytes each), so every string comes back as it was, in every runtime.
 */
export class Writer {
  private bytes: Uint8Array<ArrayBuffer>
  private view: DataView
  private at: number

  constructor(capacity: number = FIRST_CAPACITY) {
    this.bytes = new Uint8Array(capacity)
    this.view = new DataView(this.bytes.buffer)
    this.at = 0
  }

  /** Bytes written so far. */
  get length(): number {
    return this.at
  }

  /** Bytes that fit before the buffer grows. */
  get capacity(): number {
    return this.bytes.length
  }

  /** A copy of what was written; the writer is empty afterwards. */
  finish(): Uint8Array<ArrayBuffer> {
    const written = this.bytes.slice(0, this.at)
    this.at = 0
    return written
  }

  tag(tag: number): void {
    this.reserve(5)
    this.varint32(tag)
  }

  uint32(value: number): void {
    if (value >>> 0 !== value) throw outOfRange(value, 'uint32')
    this.reserve(5)
    this.varint32(value)
  }

  int32(value: number): void {
    if ((value | 0) !== value) throw outOfRange(value, 'int32')
    this.int64(value)
  }

  sint32(value: number): void {
    if ((value | 0) !== value) throw outOfRange(value, 'sint32')
    this.reserve(5)
    this.varint32(((value << 1) ^ (value >> 31)) >>> 0)
  }

  uint64(value: number): void {
    this.reserve(10)
    if (value >>> 0 === value) this.varint32(value)
    else if (value >= 0 && Number.isSafeInteger(value)) this.varint53(value)
    else throw outOfRange(value, 'uint64 of at most 2^53 - 1')
  }

  int64(value: number): void {
    if (value >= 0) {
      this.uint64(value)
      return
    }
    if (!Number.isSafeInteger(value)) throw outOfRange(value, 'int64 within 2^53 - 1')
    this.reserve(10)
    let rest = BigInt.asUintN(64, BigInt(value))
    while (rest > 127n) {
      this.bytes[this.at++] = Number(rest & 127n) | 128
      rest >>= 7n
    }
    this.bytes[this.at++] = Number(rest)
  }

  sint64(value: number): void {
    if (!Number.isSafeInteger(value)) throw outOfRange(value, 'sint64 within 2^53 - 1')
    this.reserve(10)
    // Zigzag: one more bit than a double holds, so the lowest bit is split off before doubling.
    const magnitude = value < 0 ? -(value + 1) : value
    const low = (magnitude % 64) * 2 + (value < 0 ? 1 : 0)
    const high = Math.floor(magnitude / 64)
    if (high === 0) {
      this.bytes[this.at++] = low
      return
    }
    this.bytes[this.at++] = low | 128
    this.varint53(high)
  }

  bool(value: boolean): void {
    this.reserve(1)
    this.bytes[this.at++] = value ? 1 : 0
  }

  double(value: number): void {
    this.reserve(8)
    this.view.setFloat64(this.at, value === value ? value : NaN, true)
    this.at += 8
  }

  float(value: number): void {
    this.reserve(4)
    this.view.setFloat32(this.at, value === value ? value : NaN, true)
    this.at += 4
  }

  fixed32(value: number): void {
    if (value >>> 0 !== value) throw outOfRange(value, 'fixed32')
    this.reserve(4)
    this.view.setUint32(this.at, value, true)
    this.at += 4
  }

  sfixed32(value: number): void {
    if ((value | 0) !== value) throw outOfRange(value, 'sfixed32')
    this.reserve(4)
    this.view.setInt32(this.at, value, true)
    this.at += 4
  }

  fixed64(value: bigint): void {
    if (value < 0n || value >= TWO_64) throw outOfRange(value, 'fixed64')
    this.reserve(8)
    this.view.setBigUint64(this.at, value, true)
    this.at += 8
  }

  sfixed64(value: bigint): void {
    if (value < -TWO_63 || value >= TWO_63) throw outOfRange(value, 'sfixed64')
    this.reserve(8)
    this.view.setBigInt64(this.at, value, true)
    this.at += 8
  }

  /** A length, then the bytes. */
  data(value: Uint8Array): void {
    this.reserve(value.length + 5)
    this.varint32(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
  }

  /** The bytes alone, without a length. */
  raw(value: Uint8Array): void {
    this.reserve(value.length)
    this.bytes.set(value, this.at)
    this.at += value.length
  }

  string(value: string): void {
    const length = value.length
    this.reserve(length + 5)
    const start = this.at
    this.varint32(length)
    const bytes = this.bytes
    let at = this.at
    for (let i = 0; i < length; i++) {
      const unit = value.charCodeAt(i)
      if (unit > 127) {
        this.at = start
        this.wideString(value)
        return
      }
      bytes[at++] = unit
    }
    this.at = at
  }

  /** Opens a value whose length is not known yet; `close` wants what this returned. */
  open(): number {
    this.reserve(1)
    return ++this.at
  }

  /** Closes what `open` opened, and writes its length in front of it. */
  close(start: number): void {
    const length = this.at - start
    if (length < 128) {
      this.bytes[start - 1] = length
      return
    }
    const extra = varintBytes(length) - 1
    this.reserve(extra)
    this.bytes.copyWithin(start + extra, start, this.at)
    const end = this.at + extra
    this.at = start - 1
    this.varint32(length)
    this.at = end
  }

  private wideString(value: string): void {
    let size = 0
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit < 0x80) size += 1
      else if (unit < 0x800) size += 2
      else if (isPair(value, i)) {
        size += 4
        i++
      } else size += 3
    }
    this.reserve(size + 5)
    this.varint32(size)
    const bytes = this.bytes
    let at = this.at
    for (let i = 0; i < value.length; i++) {
      const unit = value.charCodeAt(i)
      if (unit < 0x80) bytes[at++] = unit
      else if (unit < 0x800) {
        bytes[at++] = 0xc0 | (unit >> 6)
        bytes[at++] = 0x80 | (unit & 63)
      } else if (isPair(value, i)) {
        const point = 0x10000 + ((unit & 0x3ff) << 10) + (value.charCodeAt(++i) & 0x3ff)
        bytes[at++] = 0xf0 | (point >> 18)
        bytes[at++] = 0x80 | ((point >> 12) & 63)
        bytes[at++] = 0x80 | ((point >> 6) & 63)
        bytes[at++] = 0x80 | (point & 63)
      } else {
        bytes[at++] = 0xe0 | (unit >> 12)
        bytes[at++] = 0x80 | ((unit >> 6) & 63)
        bytes[at++] = 0x80 | (unit & 63)
      }
    }
    this.at = at
  }

  private varint32(value: number): void {
    const bytes = this.bytes
    while (value > 127) {
      bytes[this.at++] = (value & 127) | 128
      value >>>= 7
    }
    bytes[this.at++] = value
  }

  private varint53(value: number): void {
    const bytes = this.bytes
    while (value >= TWO_32) {
      bytes[this.at++] = (value % 128) | 128
      value = Math.floor(value / 128)
    }
    this.varint32(value)
  }

  private reserve(bytes: number): void {
    const wanted = this.at + bytes
    if (wanted <= this.bytes.length) return
    const grown = new Uint8Array(Math.max(wanted, this.bytes.length * 2, FIRST_CAPACITY))
    grown.set(this.bytes.subarray(0, this.at))
    this.bytes = grown
    this.view = new DataView(grown.buffer)
  }
}

function isPair(value: string, at: number): boolean {
  return (value.charCodeAt(at) & 0xfc00) === 0xd800 && (value.charCodeAt(at + 1) & 0xfc00) === 0xdc00
}

function varintBytes(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : value < 0x20_0000 ? 3 : value < 0x1000_0000 ? 4 : 5
}

function outOfRange(value: number | bigint, type: string): WireError {
  return new WireError(`${String(value)} is no ${type}`)
}
