import { WireError } from './wire-error.ts'

/** Groups are long out of use; an unknown one is skipped, but not to any depth. */
const GROUP_DEPTH_MAX = 32
/** Below this a loop beats the runtime's own decoder. */
const LOOPED_BYTES_MAX = 64

/**
 * Reads protobuf values from bytes; every read past the end, and every damaged value, throws `WireError`.
 * Nothing is allocated by a length alone: a length beyond the bytes at hand is refused first.
 */
export class Reader {
  readonly bytes: Uint8Array
  /** Where the next read begins. */
  at: number
  readonly end: number
  private readonly view: DataView

  constructor(bytes: Uint8Array) {
    // A Buffer becomes a plain array: its `slice` would not copy, so fields would behave otherwise than in a browser.
    this.bytes = bytes.constructor === Uint8Array ? bytes : new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.at = 0
    this.end = bytes.length
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  /** Where a message of `length` bytes from here ends; without a length it takes all that is left. */
  limit(length: number | undefined): number {
    if (length === undefined) return this.end
    if (!(length >= 0 && length <= this.end - this.at)) throw this.cut('a message')
    return this.at + length
  }

  /** Ends a message: whoever read beyond its limit read bytes of something else. */
  finish(limit: number): void {
    if (this.at !== limit) throw new WireError(`a message ends at byte ${limit}, but its last field at ${this.at}`)
  }

  uint32(): number {
    const bytes = this.bytes
    let at = this.at
    if (at < this.end) {
      const first = bytes[at] as number
      if (first < 128) {
        this.at = at + 1
        return first
      }
    }
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      if (at >= this.end) throw this.cut('a varint')
      const byte = bytes[at++] as number
      if (shift === 28 && byte > 15) break
      value |= (byte & 127) << shift
      if (byte < 128) {
        this.at = at
        return value >>> 0
      }
    }
    throw new WireError(`a 32-bit number is too large at byte ${this.at}`)
  }

  int32(): number {
    const start = this.at
    const value = this.int64()
    if ((value | 0) !== value) throw new WireError(`a 32-bit number is too large at byte ${start}`)
    return value
  }

  sint32(): number {
    const value = this.uint32()
    return (value >>> 1) ^ -(value & 1)
  }

  uint64(): number {
    const at = this.at
    if (at < this.end) {
      const first = this.bytes[at] as number
      if (first < 128) {
        this.at = at + 1
        return first
      }
    }
    return this.varint53()
  }

  int64(): number {
    const start = this.at
    const tenth = start + 9
    if (tenth < this.end && this.bytes[tenth] === 1 && this.continues(start, tenth)) return this.negative()
    return this.uint64()
  }

  sint64(): number {
    const start = this.at
    if (start >= this.end) throw this.cut('a varint')
    const low = this.bytes[start] as number
    this.at = start + 1
    let magnitude = (low & 127) >> 1
    if (low > 127) {
      magnitude += this.uint64() * 64
      if (magnitude > Number.MAX_SAFE_INTEGER) throw tooLarge(start)
    }
    const value = low & 1 ? -magnitude - 1 : magnitude
    if (!Number.isSafeInteger(value)) throw tooLarge(start)
    return value
  }

  bool(): boolean {
    return this.uint64() !== 0
  }

  /** An enum's number; numbers beyond 32 bits, which no enum has, read as unknown. */
  enumeration(): number {
    const start = this.at
    if (start < this.end && (this.bytes[start] as number) < 128) {
      this.at = start + 1
      return this.bytes[start] as number
    }
    this.skipVarint()
    return -1
  }

  double(): number {
    const at = this.take(8, 'a double')
    return this.view.getFloat64(at, true)
  }

  float(): number {
    const at = this.take(4, 'a float')
    return this.view.getFloat32(at, true)
  }

  fixed32(): number {
    return this.view.getUint32(this.take(4, 'a fixed32'), true)
  }

  sfixed32(): number {
    return this.view.getInt32(this.take(4, 'an sfixed32'), true)
  }

  fixed64(): bigint {
    return this.view.getBigUint64(this.take(8, 'a fixed64'), true)
  }

  sfixed64(): bigint {
    return this.view.getBigInt64(this.take(8, 'an sfixed64'), true)
  }

  /** A view of the bytes, which are not copied. */
  data(): Uint8Array {
    const length = this.uint32()
    const at = this.take(length, 'a byte field')
    return this.bytes.subarray(at, at + length)
  }

  string(): string {
    const length = this.uint32()
    if (length === 0) return ''
    const start = this.take(length, 'a string')
    if (length <= LOOPED_BYTES_MAX) {
      const bytes = this.bytes
      let text = ''
      for (let at = start; at < this.at; at++) {
        const byte = bytes[at] as number
        if (byte > 127) return this.wideString(start, this.at)
        text += String.fromCharCode(byte)
      }
      return text
    }
    return this.wideString(start, this.at)
  }

  /** Steps over an unknown field with this tag. */
  skip(tag: number, depth: number = 0): void {
    if (tag < 8) throw new WireError(`field number 0 before byte ${this.at}`)
    switch (tag & 7) {
      case 0:
        this.skipVarint()
        return
      case 1:
        this.take(8, 'a field of 8 bytes')
        return
      case 2:
        this.take(this.uint32(), 'a field')
        return
      case 3:
        this.skipGroup(tag, depth)
        return
      case 5:
        this.take(4, 'a field of 4 bytes')
        return
      default:
        throw new WireError(`wire type ${tag & 7} before byte ${this.at}`)
    }
  }

  private skipGroup(tag: number, depth: number): void {
    if (depth >= GROUP_DEPTH_MAX) throw new WireError(`groups nested too deep at byte ${this.at}`)
    for (;;) {
      const inner = this.uint32()
      if ((inner & 7) !== 4) this.skip(inner, depth + 1)
      else if (inner === tag + 1) return
      else throw new WireError(`a group ends that never began before byte ${this.at}`)
    }
  }

  private skipVarint(): void {
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.end) throw this.cut('a varint')
      if ((this.bytes[this.at++] as number) < 128) return
    }
    throw new WireError(`a varint of more than 10 bytes before byte ${this.at}`)
  }

  private varint53(): number {
    const start = this.at
    let value = 0
    let factor = 1
    for (let i = 0; i < 10; i++) {
      if (this.at >= this.end) throw this.cut('a varint')
      const byte = this.bytes[this.at++] as number
      value += (byte & 127) * factor
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) throw tooLarge(start)
        return value
      }
      factor *= 128
    }
    throw tooLarge(start)
  }

  private continues(from: number, to: number): boolean {
    for (let at = from; at < to; at++) if ((this.bytes[at] as number) < 128) return false
    return true
  }

  private negative(): number {
    const start = this.at
    let value = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) value |= BigInt((this.bytes[this.at++] as number) & 127) << shift
    const signed = Number(BigInt.asIntN(64, value))
    if (!Number.isSafeInteger(signed)) throw tooLarge(start)
    return signed
  }

  private wideString(start: number, end: number): string {
    const bytes = this.bytes
    let text = ''
    let at = start
    while (at < end) {
      const lead = bytes[at++] as number
      if (lead < 0x80) {
        text += String.fromCharCode(lead)
        continue
      }
      const more = lead < 0xc2 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : lead < 0xf5 ? 3 : 0
      if (more === 0 || at + more > end) throw new WireError(`a string is no UTF-8 at byte ${at - 1}`)
      let point = lead & (0x3f >> more)
      for (let i = 0; i < more; i++) {
        const next = bytes[at++] as number
        if ((next & 0xc0) !== 0x80) throw new WireError(`a string is no UTF-8 at byte ${at - 1}`)
        point = (point << 6) | (next & 63)
      }
      if (point < (more === 2 ? 0x800 : more === 3 ? 0x10000 : 0x80) || point > 0x10ffff) {
        throw new WireError(`a string is no UTF-8 at byte ${at - more - 1}`)
      }
      text += String.fromCodePoint(point)
    }
    return text
  }

  private take(bytes: number, what: string): number {
    const at = this.at
    if (bytes > this.end - at) throw this.cut(what)
    this.at = at + bytes
    return at
  }

  private cut(what: string): WireError {
    return new WireError(`${what} is cut off at byte ${this.at} of ${this.end}`)
  }
}

function tooLarge(at: number): WireError {
  return new WireError(`a 64-bit number is beyond 2^53 - 1 at byte ${at}`)
}
