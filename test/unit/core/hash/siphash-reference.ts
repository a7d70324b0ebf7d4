/** SipHash-2-4 with BigInt, written from the paper: the oracle of the tests. */
export const referenceSiphash = (message: Uint8Array, k0: bigint, k1: bigint): bigint => {
  const v: [bigint, bigint, bigint, bigint] = [
    k0 ^ 0x736f6d6570736575n, k1 ^ 0x646f72616e646f6dn, k0 ^ 0x6c7967656e657261n, k1 ^ 0x7465646279746573n,
  ]
  const padded = new Uint8Array(8 * (Math.floor(message.length / 8) + 1))
  padded.set(message)
  padded[padded.length - 1] = message.length & 255
  const view = new DataView(padded.buffer)
  for (let at = 0; at < padded.length; at += 8) {
    const word = view.getBigUint64(at, true)
    v[3] ^= word
    sipRound(v)
    sipRound(v)
    v[0] ^= word
  }
  v[2] ^= 0xffn
  for (let i = 0; i < 4; i++) sipRound(v)
  return v[0] ^ v[1] ^ v[2] ^ v[3]
}

const MASK = (1n << 64n) - 1n
const rotated = (x: bigint, turn: bigint): bigint => ((x << turn) | (x >> (64n - turn))) & MASK

const sipRound = (v: [bigint, bigint, bigint, bigint]): void => {
  v[0] = (v[0] + v[1]) & MASK
  v[1] = rotated(v[1], 13n) ^ v[0]
  v[0] = rotated(v[0], 32n)
  v[2] = (v[2] + v[3]) & MASK
  v[3] = rotated(v[3], 16n) ^ v[2]
  v[0] = (v[0] + v[3]) & MASK
  v[3] = rotated(v[3], 21n) ^ v[0]
  v[2] = (v[2] + v[1]) & MASK
  v[1] = rotated(v[1], 17n) ^ v[2]
  v[2] = rotated(v[2], 32n)
}
