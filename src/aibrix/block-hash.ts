import { xxh64Into } from '../core/hash/xxh64.ts'

/**
 * Hashes of the full blocks of a prompt's bytes, each chained to the one before:
 * h(i) = XXH64(seed, LE64(h(i-1)) + block i), h(-1) = seed. What does not fill a block is left out.
 * 8 bytes a hash, little-endian. (AIBrix: prefix hash table)
 * @param blockBytes from 1
 */
export const blockHashBytes = (bytes: Uint8Array, blockBytes: number, seed: bigint): Uint8Array => {
  const blocks = Math.floor(bytes.length / blockBytes)
  const words = new Uint32Array(2 * blocks)
  const seedLow = Number(seed & 0xffffffffn)
  const seedHigh = Number(seed >> 32n)
  const block = new Uint8Array(8 + blockBytes)
  const view = new DataView(block.buffer)
  let low = seedLow
  let high = seedHigh
  for (let i = 0; i < blocks; i++) {
    view.setUint32(0, low, true)
    view.setUint32(4, high, true)
    block.set(bytes.subarray(i * blockBytes, (i + 1) * blockBytes), 8)
    xxh64Into(block, 0, block.length, seedLow, seedHigh, words, 2 * i)
    low = words[2 * i] as number
    high = words[2 * i + 1] as number
  }
  return new Uint8Array(words.buffer)
}

/** Hashes as unsigned 64-bit numbers. */
export const hashesOf = (keys: Uint8Array): readonly bigint[] => {
  const view = new DataView(keys.buffer, keys.byteOffset, keys.byteLength)
  const hashes: bigint[] = []
  for (let at = 0; at + 8 <= keys.length; at += 8) hashes.push(view.getBigUint64(at, true))
  return hashes
}

/** Token ids as bytes, 4 each, the highest first. (AIBrix: tiktoken tokenizer) */
export const tokenBytes = (tokenIds: Uint32Array): Uint8Array => {
  const bytes = new Uint8Array(4 * tokenIds.length)
  const view = new DataView(bytes.buffer)
  for (let i = 0; i < tokenIds.length; i++) view.setUint32(4 * i, tokenIds[i] as number)
  return bytes
}
