/** What a message says: numbers beyond 2^53 are bigints, maps are entries in their order. */
export type Packed = null | boolean | number | bigint | string | Uint8Array | readonly Packed[] | ReadonlyMap<Packed, Packed>

/** Deeper than any event; more is only ever made to hurt. */
const DEPTH_MAX = 16

/** A message that is not MessagePack, or goes on after its end. */
export class MsgpackError extends Error {
  override readonly name = 'MsgpackError'
}

/**
 * Reads one MessagePack value. Lengths are held against the bytes that are there before room is taken for them.
 * @throws MsgpackError
 */
export const unpack = (bytes: Uint8Array): Packed => {
  const reader = new Reader(bytes)
  const value = reader.value(0)
  if (!reader.isAtEnd) throw new MsgpackError('bytes after the end of the message')
  return value
}

class Reader {
  private readonly bytes: Uint8Array
  private readonly view: DataView
  private readonly decoder = new TextDecoder()
  private at = 0

  constructor(bytes: Uint8Array) {
    // A plain view: parts of a Buffer would be Buffers.
    this.bytes = new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length)
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length
  }

  value(depth: number): Packed {
    if (depth > DEPTH_MAX) throw new MsgpackError(`nested more than ${DEPTH_MAX} deep`)
    const tag = this.unsigned(1)
    if (tag < 0x80) return tag
    if (tag < 0x90) return this.map(tag & 15, depth)
    if (tag < 0xa0) return this.array(tag & 15, depth)
    if (tag < 0xc0) return this.text(tag & 31)
    if (tag >= 0xe0) return tag - 256
    return this.tagged(tag, depth)
  }

  private tagged(tag: number, depth: number): Packed {
    switch (tag) {
      case 0xc0: return null
      case 0xc2: return false
      case 0xc3: return true
      case 0xc4: case 0xc5: case 0xc6: return this.take(this.unsigned(1 << (tag - 0xc4)))
      case 0xca: return this.view.getFloat32(this.skip(4))
      case 0xcb: return this.view.getFloat64(this.skip(8))
      case 0xcc: case 0xcd: case 0xce: return this.unsigned(1 << (tag - 0xcc))
      case 0xcf: return narrowed(this.view.getBigUint64(this.skip(8)))
      case 0xd0: return this.view.getInt8(this.skip(1))
      case 0xd1: return this.view.getInt16(this.skip(2))
      case 0xd2: return this.view.getInt32(this.skip(4))
      case 0xd3: return narrowed(this.view.getBigInt64(this.skip(8)))
      case 0xd9: case 0xda: case 0xdb: return this.text(this.unsigned(1 << (tag - 0xd9)))
      case 0xdc: case 0xdd: return this.array(this.unsigned(2 << (tag - 0xdc)), depth)
      case 0xde: case 0xdf: return this.map(this.unsigned(2 << (tag - 0xde)), depth)
      // Extensions mean nothing here, but what follows them does.
      case 0xc7: case 0xc8: case 0xc9: return this.extension(this.unsigned(1 << (tag - 0xc7)))
      case 0xd4: case 0xd5: case 0xd6: case 0xd7: case 0xd8: return this.extension(1 << (tag - 0xd4))
      default: throw new MsgpackError(`unknown tag ${tag}`)
    }
  }

  private array(length: number, depth: number): readonly Packed[] {
    this.require(length)
    const items = new Array<Packed>(length)
    for (let index = 0; index < length; index++) items[index] = this.small() ?? this.value(depth + 1)
    return items
  }

  /** A whole number of up to 32 bits, which is what long lists are of; undefined for anything else. */
  private small(): number | undefined {
    const { bytes, at } = this
    const tag = bytes[at] as number
    if (tag < 0x80) {
      this.at = at + 1
      return tag
    }
    if (tag === 0xcd && at + 3 <= bytes.length) {
      this.at = at + 3
      return ((bytes[at + 1] as number) << 8) | (bytes[at + 2] as number)
    }
    if (tag !== 0xce || at + 5 > bytes.length) return undefined
    this.at = at + 5
    return (((bytes[at + 1] as number) << 24) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 8) | (bytes[at + 4] as number)) >>> 0
  }

  private map(length: number, depth: number): ReadonlyMap<Packed, Packed> {
    this.require(2 * length)
    const entries = new Map<Packed, Packed>()
    for (let left = length; left > 0; left--) {
      const key = this.value(depth + 1)
      entries.set(key, this.value(depth + 1))
    }
    return entries
  }

  private text(length: number): string {
    return this.decoder.decode(this.take(length))
  }

  private extension(length: number): null {
    this.take(length + 1)
    return null
  }

  private take(length: number): Uint8Array {
    const from = this.skip(length)
    return this.bytes.subarray(from, from + length)
  }

  private unsigned(bytes: number): number {
    const from = this.skip(bytes)
    if (bytes === 1) return this.bytes[from] as number
    return bytes === 2 ? this.view.getUint16(from) : this.view.getUint32(from)
  }

  private skip(bytes: number): number {
    this.require(bytes)
    const from = this.at
    this.at += bytes
    return from
  }

  /** Every value takes a byte at least. */
  private require(bytes: number): void {
    if (this.bytes.length - this.at < bytes) throw new MsgpackError('the message ends too soon')
  }
}

const narrowed = (value: bigint): number | bigint => (value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER) ? Number(value) : value)
