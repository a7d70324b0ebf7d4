/**
 * Chained keys of the full KV blocks of a prompt: block i's key depends on every byte up to its end, so equal keys
 * mean equal prefixes. Two 32-bit lanes folded to 53 bits, enough for a simulated cache and far cheaper than a
 * cryptographic hash.
 */

const LANE_A = 0x9e3779b1
const LANE_B = 0x85ebca77
const BYTES_PER_TOKEN = 4

/** A 53-bit key of any text; the same text gives the same key on every machine. */
export function textKey(text: string): number {
  let a = LANE_A | 0
  let b = LANE_B | 0
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    a = stir(a, unit, LANE_A)
    b = stir(b, unit, LANE_B)
  }
  return fold(a, b)
}

/**
 * Keys of the full blocks of a prompt.
 * `bytes` must start on a 4-byte boundary of its memory (a fresh array does); a token is 4 bytes; the bytes after the
 * last full block have no key. `salt` separates prompts that must not share (model, adapter).
 */
export function blockKeys(bytes: Uint8Array, blockTokens: number, salt: string): Float64Array {
  const words = new Int32Array(bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / BYTES_PER_TOKEN))
  const keys = new Float64Array(Math.floor(words.length / blockTokens))
  const seed = textKey(salt)
  let a = seed | 0
  let b = Math.floor(seed / 0x1_0000_0000) | 0
  let at = 0
  for (let block = 0; block < keys.length; block++) {
    for (let end = at + blockTokens; at < end; at++) {
      const word = words[at] as number
      a = stir(a, word, LANE_A)
      b = stir(b, word, LANE_B)
    }
    keys[block] = fold(a, b)
  }
  return keys
}

function stir(lane: number, word: number, multiplier: number): number {
  const mixed = Math.imul(lane ^ word, multiplier)
  return (mixed ^ (mixed >>> 15)) + 0x27d4eb2f | 0
}

function fold(a: number, b: number): number {
  return (a >>> 0) * 0x20_0000 + (b >>> 11)
}
