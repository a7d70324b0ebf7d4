/**
 * SipHash-2-4 of 64-bit numbers in 32-bit halves, for keys that one by one come from outside; whole prompts go through
 * the machine. (Aumasson and Bernstein, "SipHash: a fast short-input PRF")
 */

/** v0 to v3, each as low and high half. A call never yields, so one is enough. */
const v = new Int32Array(8)
const INITIAL = new Int32Array([0x70736575, 0x736f6d65, 0x6e646f6d, 0x646f7261, 0x6e657261, 0x6c796765, 0x79746573, 0x74656462])

/** Masks keys of 8 bytes in place; `mask` is a key of 128 bits as four words, low first. */
export const maskKeys = (keys: Uint8Array, mask: Uint32Array): void => {
  for (let at = 0; at + 8 <= keys.length; at += 8) {
    start(mask)
    absorb(wordAt(keys, at), wordAt(keys, at + 4), 2)
    absorb(0, 0x0800_0000, 2) // the length, 8, in the top byte
    v[4] = (v[4] as number) ^ 0xff
    for (let round = 0; round < 4; round++) sipRound()
    putWord(keys, at, (v[0] as number) ^ (v[2] as number) ^ (v[4] as number) ^ (v[6] as number))
    putWord(keys, at + 4, (v[1] as number) ^ (v[3] as number) ^ (v[5] as number) ^ (v[7] as number))
  }
}

const start = (mask: Uint32Array): void => {
  for (let half = 0; half < 8; half++) v[half] = (INITIAL[half] as number) ^ (mask[half % 4] as number)
}

const absorb = (low: number, high: number, rounds: number): void => {
  v[6] = (v[6] as number) ^ low
  v[7] = (v[7] as number) ^ high
  for (let round = 0; round < rounds; round++) sipRound()
  v[0] = (v[0] as number) ^ low
  v[1] = (v[1] as number) ^ high
}

const sipRound = (): void => {
  mix(0, 2, 13)
  turn32(0)
  mix(4, 6, 16)
  mix(0, 6, 21)
  mix(4, 2, 17)
  turn32(4)
}

/** v[a] += v[b]; v[b] = rotl(v[b], turn) ^ v[a] */
const mix = (a: number, b: number, turn: number): void => {
  const low = ((v[a] as number) + (v[b] as number)) | 0
  const carry = low >>> 0 < (v[b] as number) >>> 0 ? 1 : 0
  const high = ((v[a + 1] as number) + (v[b + 1] as number) + carry) | 0
  const bLow = v[b] as number
  const bHigh = v[b + 1] as number
  v[a] = low
  v[a + 1] = high
  v[b] = ((bLow << turn) | (bHigh >>> (32 - turn))) ^ low
  v[b + 1] = ((bHigh << turn) | (bLow >>> (32 - turn))) ^ high
}

const turn32 = (a: number): void => {
  const low = v[a] as number
  v[a] = v[a + 1] as number
  v[a + 1] = low
}

const putWord = (bytes: Uint8Array, at: number, word: number): void => {
  bytes[at] = word
  bytes[at + 1] = word >>> 8
  bytes[at + 2] = word >>> 16
  bytes[at + 3] = word >>> 24
}

const wordAt = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
