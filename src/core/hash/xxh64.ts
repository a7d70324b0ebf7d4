import { takeStripes } from './xxh64-machine.ts'

/**
 * XXH64 in 32-bit halves: no BigInt inside, so a hash of a few bytes allocates nothing.
 * (xxHash specification 0.1.1, XXH64)
 *
 * Long input goes through the machine, which costs some 300 ns to begin with and then hardly anything; below this many
 * bytes it would not pay.
 */
const LONG_BYTES = 256

// The five primes of the specification, as low and high halves.
const P1L = 0x85ebca87 | 0
const P1H = 0x9e3779b1 | 0
const P2L = 0x27d4eb4f | 0
const P2H = 0xc2b2ae3d | 0
const P3L = 0x9e3779f9 | 0
const P3H = 0x165667b1 | 0
const P4L = 0xc2b2ae63 | 0
const P4H = 0x85ebca77 | 0
const P5L = 0x165667c5 | 0
const P5H = 0x27d4eb2f | 0

/** Four accumulators, then the hash, each as low and high half. A call never yields, so one is enough. */
const state = new Int32Array(10)
const HASH = 8

/** XXH64 of bytes as an unsigned 64-bit number. */
export const xxh64 = (bytes: Uint8Array, seed = 0n): bigint => {
  const seedLow = Number(seed & 0xffffffffn)
  const seedHigh = Number((seed >> 32n) & 0xffffffffn)
  hash(bytes, 0, bytes.length, seedLow, seedHigh)
  return (BigInt((state[HASH + 1] as number) >>> 0) << 32n) | BigInt((state[HASH] as number) >>> 0)
}

/** XXH64 of `bytes[start .. end)` into `out[at]` (low half) and `out[at + 1]` (high half); allocates nothing. */
export const xxh64Into = (
  bytes: Uint8Array,
  start: number,
  end: number,
  seedLow: number,
  seedHigh: number,
  out: Uint32Array,
  at: number,
): void => {
  hash(bytes, start, end, seedLow, seedHigh)
  out[at] = state[HASH] as number
  out[at + 1] = state[HASH + 1] as number
}

const hash = (bytes: Uint8Array, start: number, end: number, seedLow: number, seedHigh: number): void => {
  const length = end - start
  let at = start
  if (length >= 32) {
    setSum(0, seedLow, seedHigh, P1L, P1H)
    setSum(0, state[0] as number, state[1] as number, P2L, P2H)
    setSum(2, seedLow, seedHigh, P2L, P2H)
    setSum(4, seedLow, seedHigh, 0, 0)
    setSum(6, seedLow, seedHigh, ~P1L + 1, ~P1H) // minus P1, whose low half is not 0
    if (length >= LONG_BYTES) at = takeStripes(state, bytes, start, end)
    for (const last = end - 32; at <= last; at += 32) {
      round(0, word(bytes, at), word(bytes, at + 4))
      round(2, word(bytes, at + 8), word(bytes, at + 12))
      round(4, word(bytes, at + 16), word(bytes, at + 20))
      round(6, word(bytes, at + 24), word(bytes, at + 28))
    }
    converge()
  } else {
    setSum(HASH, seedLow, seedHigh, P5L, P5H)
  }
  setSum(HASH, state[HASH] as number, state[HASH + 1] as number, length | 0, Math.floor(length / 4294967296))
  finish(bytes, at, end)
}

/** Joins the four accumulators into the hash. */
const converge = (): void => {
  let low = 0
  let high = 0
  for (let lane = 0; lane < 4; lane++) {
    const l = state[2 * lane] as number
    const h = state[2 * lane + 1] as number
    const turn = TURNS[lane] as number
    setSum(HASH, low, high, rotatedLow(l, h, turn), rotatedLow(h, l, turn))
    low = state[HASH] as number
    high = state[HASH + 1] as number
  }
  for (let lane = 0; lane < 4; lane++) {
    mixLane(state[2 * lane] as number, state[2 * lane + 1] as number)
    const l = state[HASH] as number
    const h = state[HASH + 1] as number
    setSum(HASH, Math.imul(l, P1L), timesHigh(l, h, P1L, P1H), P4L, P4H)
  }
}

const TURNS = new Int32Array([1, 7, 12, 18])

/** What is left after the last whole stripe of 32 bytes, then the avalanche. */
const finish = (bytes: Uint8Array, from: number, end: number): void => {
  let at = from
  for (; at + 8 <= end; at += 8) {
    mixLane(word(bytes, at), word(bytes, at + 4))
    turnTimes(27, P1L, P1H)
    setSum(HASH, state[HASH] as number, state[HASH + 1] as number, P4L, P4H)
  }
  if (at + 4 <= end) {
    const w = word(bytes, at)
    xorHash(Math.imul(w, P1L), timesHigh(w, 0, P1L, P1H))
    turnTimes(23, P2L, P2H)
    setSum(HASH, state[HASH] as number, state[HASH + 1] as number, P3L, P3H)
    at += 4
  }
  for (; at < end; at++) {
    const b = bytes[at] as number
    xorHash(Math.imul(b, P5L), timesHigh(b, 0, P5L, P5H))
    turnTimes(11, P1L, P1H)
  }
  let low = state[HASH] as number
  let high = state[HASH + 1] as number
  low ^= high >>> 1 // >> 33
  let product = Math.imul(low, P2L)
  high = timesHigh(low, high, P2L, P2H)
  low = product ^ ((product >>> 29) | (high << 3))
  high ^= high >>> 29
  product = Math.imul(low, P3L)
  high = timesHigh(low, high, P3L, P3H)
  state[HASH] = product ^ high // >> 32
  state[HASH + 1] = high
}

/** One accumulator takes in one lane of 8 bytes. */
const round = (at: number, laneLow: number, laneHigh: number): void => {
  setSum(at, state[at] as number, state[at + 1] as number, Math.imul(laneLow, P2L), timesHigh(laneLow, laneHigh, P2L, P2H))
  const low = rotatedLow(state[at] as number, state[at + 1] as number, 31)
  const high = rotatedLow(state[at + 1] as number, state[at] as number, 31)
  state[at] = Math.imul(low, P1L)
  state[at + 1] = timesHigh(low, high, P1L, P1H)
}

/** hash ^= rotl(lane * P2, 31) * P1 */
const mixLane = (laneLow: number, laneHigh: number): void => {
  const l = Math.imul(laneLow, P2L)
  const h = timesHigh(laneLow, laneHigh, P2L, P2H)
  const low = rotatedLow(l, h, 31)
  const high = rotatedLow(h, l, 31)
  xorHash(Math.imul(low, P1L), timesHigh(low, high, P1L, P1H))
}

const xorHash = (low: number, high: number): void => {
  state[HASH] = (state[HASH] as number) ^ low
  state[HASH + 1] = (state[HASH + 1] as number) ^ high
}

/** hash = rotl(hash, turn) * factor */
const turnTimes = (turn: number, factorLow: number, factorHigh: number): void => {
  const l = state[HASH] as number
  const h = state[HASH + 1] as number
  const low = rotatedLow(l, h, turn)
  const high = rotatedLow(h, l, turn)
  state[HASH] = Math.imul(low, factorLow)
  state[HASH + 1] = timesHigh(low, high, factorLow, factorHigh)
}

const setSum = (at: number, aLow: number, aHigh: number, bLow: number, bHigh: number): void => {
  const low = (aLow + bLow) | 0
  state[at] = low
  state[at + 1] = (aHigh + bHigh + (low >>> 0 < aLow >>> 0 ? 1 : 0)) | 0
}

/** Low half of a 64-bit left rotation by 1 to 31; with the halves swapped, the high half. */
const rotatedLow = (low: number, high: number, turn: number): number => (low << turn) | (high >>> (32 - turn))

/** High half of the low 64 bits of a product; the low half is `Math.imul` of the low halves. */
const timesHigh = (aLow: number, aHigh: number, bLow: number, bHigh: number): number => {
  const a0 = aLow & 0xffff
  const a1 = aLow >>> 16
  const b0 = bLow & 0xffff
  const b1 = bLow >>> 16
  const p01 = Math.imul(a0, b1)
  const p10 = Math.imul(a1, b0)
  const middle = (Math.imul(a0, b0) >>> 16) + (p01 & 0xffff) + (p10 & 0xffff)
  const carried = Math.imul(a1, b1) + (p01 >>> 16) + (p10 >>> 16) + (middle >>> 16)
  return (carried + Math.imul(aLow, bHigh) + Math.imul(aHigh, bLow)) | 0
}

const word = (bytes: Uint8Array, at: number): number =>
  (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24)
