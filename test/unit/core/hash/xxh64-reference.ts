/** XXH64 with BigInt, written from the specification's formulas and nothing else: the oracle of the tests. */

const P1 = 0x9e3779b185ebca87n
const P2 = 0xc2b2ae3d27d4eb4fn
const P3 = 0x165667b19e3779f9n
const P4 = 0x85ebca77c2b2ae63n
const P5 = 0x27d4eb2f165667c5n
const MASK = (1n << 64n) - 1n

const rotated = (x: bigint, turn: bigint): bigint => ((x << turn) | (x >> (64n - turn))) & MASK
const round = (accumulator: bigint, lane: bigint): bigint => (rotated((accumulator + lane * P2) & MASK, 31n) * P1) & MASK

export const referenceXxh64 = (bytes: Uint8Array, seed = 0n): bigint => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  let at = 0
  let h = (seed + P5) & MASK
  if (bytes.length >= 32) {
    const lanes = [seed + P1 + P2, seed + P2, seed, seed - P1].map((x) => x & MASK)
    for (; at + 32 <= bytes.length; at += 32) {
      lanes.forEach((lane, i) => (lanes[i] = round(lane, view.getBigUint64(at + 8 * i, true))))
    }
    const turns = [1n, 7n, 12n, 18n]
    h = lanes.reduce((sum, lane, i) => (sum + rotated(lane, turns[i] ?? 0n)) & MASK, 0n)
    for (const lane of lanes) h = ((h ^ round(0n, lane)) * P1 + P4) & MASK
  }
  h = (h + BigInt(bytes.length)) & MASK
  for (; at + 8 <= bytes.length; at += 8) h = (rotated(h ^ round(0n, view.getBigUint64(at, true)), 27n) * P1 + P4) & MASK
  if (at + 4 <= bytes.length) {
    h = (rotated(h ^ ((BigInt(view.getUint32(at, true)) * P1) & MASK), 23n) * P2 + P3) & MASK
    at += 4
  }
  for (; at < bytes.length; at++) h = (rotated(h ^ ((BigInt(bytes[at] ?? 0) * P5) & MASK), 11n) * P1) & MASK
  h = ((h ^ (h >> 33n)) * P2) & MASK
  h = ((h ^ (h >> 29n)) * P3) & MASK
  return h ^ (h >> 32n)
}
