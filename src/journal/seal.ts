import { xxh64 } from '../core/hash/xxh64.ts'
import { fromBytes, WireError } from '../wire/index.ts'
import type { Reader } from '../wire/index.ts'

/** Field 15 as a fixed64: how a sealed message ends. */
const SEAL_TAG = 0x79
const SEAL_BYTES = 9

/**
 * Appends the seal to a message encoded without one: the XXH64 of its bytes, as field 15.
 * Gives the whole message and its seal.
 */
export function sealed(message: Uint8Array): { readonly bytes: Uint8Array<ArrayBuffer>; readonly seal: bigint } {
  const seal = xxh64(message)
  const bytes = new Uint8Array(message.length + SEAL_BYTES)
  bytes.set(message)
  bytes[message.length] = SEAL_TAG
  new DataView(bytes.buffer).setBigUint64(message.length + 1, seal, true)
  return { bytes, seal }
}

/** The message that sealed bytes hold, a view into them; undefined when they were changed or cut. */
export function unsealed<M>(decode: (reader: Reader, length?: number) => M, bytes: Uint8Array): M | undefined {
  if (!isIntact(bytes)) return undefined
  try {
    return fromBytes(decode, bytes)
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

function isIntact(bytes: Uint8Array): boolean {
  const body = bytes.length - SEAL_BYTES
  if (body < 0 || bytes[body] !== SEAL_TAG) return false
  const seal = new DataView(bytes.buffer, bytes.byteOffset + body + 1, 8).getBigUint64(0, true)
  return xxh64(bytes.subarray(0, body)) === seal
}
