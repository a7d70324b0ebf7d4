/** What can be packed; numbers are whole and not negative but for a time in seconds, which is a double. */
export type Packable = null | number | string | Uint8Array | readonly Packable[] | { readonly seconds: number }

/** MessagePack, as much of it as KV events have. */
export function pack(value: Packable): Buffer {
  const parts: Uint8Array[] = []
  write(value, parts)
  return Buffer.concat(parts)
}

function write(value: Packable, parts: Uint8Array[]): void {
  if (value === null) parts.push(Buffer.of(0xc0))
  else if (typeof value === 'number') parts.push(whole(value))
  else if (typeof value === 'string') writeText(value, parts)
  else if (value instanceof Uint8Array) parts.push(head(0xc4, value.length), value)
  else if ('seconds' in value) parts.push(double(value.seconds))
  else {
    parts.push(value.length < 16 ? Buffer.of(0x90 | value.length) : Buffer.of(0xdd, ...bigEndian(value.length)))
    for (const item of value) write(item, parts)
  }
}

function writeText(text: string, parts: Uint8Array[]): void {
  const bytes = Buffer.from(text)
  parts.push(bytes.length < 32 ? Buffer.of(0xa0 | bytes.length) : head(0xd9, bytes.length), bytes)
}

/** A tag of one length byte, or the one two further of four. */
function head(tag: number, length: number): Buffer {
  return length < 256 ? Buffer.of(tag, length) : Buffer.of(tag + 2, ...bigEndian(length))
}

function whole(value: number): Buffer {
  if (value < 0x80) return Buffer.of(value)
  if (value < 0x1_0000_0000) return Buffer.of(0xce, ...bigEndian(value))
  return Buffer.of(0xcf, ...bigEndian(Math.floor(value / 0x1_0000_0000)), ...bigEndian(value % 0x1_0000_0000))
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(9, 0xcb)
  bytes.writeDoubleBE(value, 1)
  return bytes
}

function bigEndian(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, (value >>> 16) & 255, (value >>> 8) & 255, value & 255)
}
