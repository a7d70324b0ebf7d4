import { Reader } from './runtime-reader.ts'
import { Writer } from './runtime-writer.ts'

export { Reader } from './runtime-reader.ts'
export { Writer } from './runtime-writer.ts'
export { WireError } from './wire-error.ts'

/** The bytes kept between calls of `toBytes`; a larger buffer, left by a large message, is let go. */
const KEPT_BYTES_MAX = 1 << 20

let kept = new Writer()

/**
 * Encodes one message into bytes of its own.
 * Throws `WireError` when a number does not fit its field.
 */
export function toBytes<M>(encode: (message: M, writer: Writer) => Writer, message: M): Uint8Array<ArrayBuffer> {
  const writer = kept
  // A writer left in the middle of a message by an error must not be used again.
  kept = new Writer(0)
  const bytes = encode(message, writer).finish()
  if (writer.capacity <= KEPT_BYTES_MAX) kept = writer
  return bytes
}

/**
 * Decodes one message that fills all of `bytes`; its `bytes` fields are views into them, not copies.
 * Throws `WireError` when the bytes are cut, damaged or hold a number beyond 2^53 - 1.
 */
export function fromBytes<M>(decode: (reader: Reader, length?: number) => M, bytes: Uint8Array): M {
  return decode(new Reader(bytes))
}
