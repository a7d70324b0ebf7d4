import { assemble, call, type Code, i32, i64, ifElse, local, loopWhile, type Routine, select } from './assembly.ts'

/**
 * Block keys of a whole prompt: XXH64 of each block of tokens, chained. (llm-d: prefix hashing)
 *
 * In WebAssembly, because a 64-bit product is one instruction there and a dozen in JavaScript: a prompt of 8,192 tokens
 * in blocks of 64 takes some 6 µs here and 160 µs with `xxh64.ts` (test/bench/hash). It is as deterministic as the
 * rest: integers only. The module is made when first needed, so whoever only replays never makes it.
 */

/** A 128-bit key as four 32-bit words, low first. */
export type MaskKey = Uint32Array

const SCRATCH = 0 // 16 bytes: the link that is hashed
const CHAIN = 16 // the last hash of the chain
const KEY = 24 // 16 bytes
const OUT = 64
const OUT_BLOCKS = 2048
const TOKENS = OUT + 8 * OUT_BLOCKS
/** Tokens are copied in by portions of this size, so that memory stays small and in the processor's cache. */
const PORTION_BYTES = 65_536
const PAGE = 65_536
const PAGES = 2

const P1 = i64.constant(0x9e3779b185ebca87n)
const P2 = i64.constant(0xc2b2ae3d27d4eb4fn)
const P3 = i64.constant(0x165667b19e3779f9n)
const P4 = i64.constant(0x85ebca77c2b2ae63n)
const P5 = i64.constant(0x27d4eb2f165667c5n)
const turn = (count: number): Code => i64.constant(BigInt(count))
const shiftXor = (value: number, count: number): Code =>
  local.set(value, i64.xor(local.get(value), i64.shiftRight(local.get(value), turn(count))))
const round = (accumulator: Code, lane: Code): Code =>
  i64.mul(i64.rotateLeft(i64.add(accumulator, i64.mul(lane, P2)), turn(31)), P1)

/** XXH64 with seed 0. */
const xxh64Routine = (): Routine => {
  const [at, length, end, v1, v2, v3, v4, h] = [0, 1, 2, 3, 4, 5, 6, 7] as const
  const left = (count: number): Code => i32.lessOrEqual(i32.add(local.get(at), i32.constant(count)), local.get(end))
  const advance = (count: number): Code => local.set(at, i32.add(local.get(at), i32.constant(count)))
  const stripe = [v1, v2, v3, v4].map((v, lane) => local.set(v, round(local.get(v), i64.load(local.get(at), 8 * lane))))
  const merge = [v1, v2, v3, v4].map((v) =>
    local.set(h, i64.add(i64.mul(i64.xor(local.get(h), round(i64.constant(0n), local.get(v))), P1), P4)),
  )
  const turned = (v: number, count: number): Code => i64.rotateLeft(local.get(v), turn(count))
  return {
    parameters: ['i32', 'i32'],
    locals: ['i32', 'i64', 'i64', 'i64', 'i64', 'i64'],
    result: 'i64',
    body: [
      local.set(end, i32.add(local.get(at), local.get(length))),
      ifElse(
        left(32),
        [
          local.set(v1, i64.add(P1, P2)),
          local.set(v2, P2),
          local.set(v3, i64.constant(0n)),
          local.set(v4, i64.sub(i64.constant(0n), P1)),
          loopWhile(left(32), ...stripe, advance(32)),
          local.set(h, i64.add(i64.add(turned(v1, 1), turned(v2, 7)), i64.add(turned(v3, 12), turned(v4, 18)))),
          ...merge,
        ],
        [local.set(h, P5)],
      ),
      local.set(h, i64.add(local.get(h), i64.fromI32(local.get(length)))),
      loopWhile(
        left(8),
        local.set(h, i64.xor(local.get(h), round(i64.constant(0n), i64.load(local.get(at))))),
        local.set(h, i64.add(i64.mul(turned(h, 27), P1), P4)),
        advance(8),
      ),
      ifElse(left(4), [
        local.set(h, i64.xor(local.get(h), i64.mul(i64.load32(local.get(at)), P1))),
        local.set(h, i64.add(i64.mul(turned(h, 23), P2), P3)),
        advance(4),
      ]),
      // No single bytes are left: tokens have four bytes and links sixteen.
      shiftXor(h, 33),
      local.set(h, i64.mul(local.get(h), P2)),
      shiftXor(h, 29),
      local.set(h, i64.mul(local.get(h), P3)),
      shiftXor(h, 32),
      local.get(h),
    ],
  }
}

/** SipHash-2-4 of one 64-bit number under the key in memory. (Aumasson and Bernstein, "SipHash: a fast short-input PRF") */
const maskRoutine = (): Routine => {
  const [word, v0, v1, v2, v3] = [0, 1, 2, 3, 4] as const
  const plus = (a: number, b: number): Code => local.set(a, i64.add(local.get(a), local.get(b)))
  const mix = (a: number, b: number, count: number): Code =>
    local.set(a, i64.xor(i64.rotateLeft(local.get(a), turn(count)), local.get(b)))
  const swap = (a: number): Code => local.set(a, i64.rotateLeft(local.get(a), turn(32)))
  const sipRound = [
    plus(v0, v1), mix(v1, v0, 13), swap(v0),
    plus(v2, v3), mix(v3, v2, 16),
    plus(v0, v3), mix(v3, v0, 21),
    plus(v2, v1), mix(v1, v2, 17), swap(v2),
  ].flat()
  const key = (half: number): Code => i64.load(i32.constant(KEY), 8 * half)
  const start = (v: number, half: number, constant: bigint): Code => local.set(v, i64.xor(key(half), i64.constant(constant)))
  const xorInto = (v: number, value: Code): Code => local.set(v, i64.xor(local.get(v), value))
  const length = i64.constant(8n << 56n)
  return {
    parameters: ['i64'],
    locals: ['i64', 'i64', 'i64', 'i64'],
    result: 'i64',
    body: [
      start(v0, 0, 0x736f6d6570736575n),
      start(v1, 1, 0x646f72616e646f6dn),
      start(v2, 0, 0x6c7967656e657261n),
      start(v3, 1, 0x7465646279746573n),
      xorInto(v3, local.get(word)), sipRound, sipRound, xorInto(v0, local.get(word)),
      xorInto(v3, length), sipRound, sipRound, xorInto(v0, length),
      xorInto(v2, i64.constant(0xffn)), sipRound, sipRound, sipRound, sipRound,
      i64.xor(i64.xor(local.get(v0), local.get(v1)), i64.xor(local.get(v2), local.get(v3))),
    ],
  }
}

/** chain(bytes of tokens in memory, bytes a block, 1 to mask): keys to OUT, the chain goes on from CHAIN. */
const chainRoutine: Routine = (() => {
  const [length, blockBytes, masked, at, out, end, link] = [0, 1, 2, 3, 4, 5, 6] as const
  const rest = i32.sub(local.get(end), local.get(at))
  const key: Code = local.get(link)
  return {
    parameters: ['i32', 'i32', 'i32'],
    locals: ['i32', 'i32', 'i32', 'i64'],
    result: undefined,
    exportAs: 'chain',
    body: [
      local.set(at, i32.constant(TOKENS)),
      local.set(out, i32.constant(OUT)),
      local.set(end, i32.add(local.get(at), local.get(length))),
      local.set(link, i64.load(i32.constant(CHAIN))),
      loopWhile(
        i32.less(local.get(at), local.get(end)),
        i64.store(i32.constant(SCRATCH), local.get(link), 8),
        i64.store(i32.constant(SCRATCH), call(0, local.get(at), select(i32.less(local.get(blockBytes), rest), local.get(blockBytes), rest))),
        local.set(link, call(0, i32.constant(SCRATCH), i32.constant(16))),
        ifElse(local.get(masked), [i64.store(local.get(out), call(1, key))], [i64.store(local.get(out), key)]),
        local.set(at, i32.add(local.get(at), local.get(blockBytes))),
        local.set(out, i32.add(local.get(out), i32.constant(8))),
      ),
      i64.store(i32.constant(CHAIN), local.get(link)),
    ],
  }
})()

/** The part of WebAssembly's own interface that is used here; its types come with a browser's library only. */
interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface Machine {
  readonly memory: Memory
  readonly chain: (length: number, blockBytes: number, masked: number) => void
  bytes: Uint8Array
  words: Uint32Array
}

let machine: Machine | undefined

const start = (): Machine => {
  const module = new WebAssembly.Module(assemble([xxh64Routine(), maskRoutine(), chainRoutine], PAGES))
  const { memory, chain } = new WebAssembly.Instance(module).exports as Pick<Machine, 'memory' | 'chain'>
  return { memory, chain, bytes: new Uint8Array(memory.buffer), words: new Uint32Array(memory.buffer) }
}

/** Number of blocks of a prompt; the last one may be short. */
export const blockCount = (tokens: number, blockTokens: number, maxBlocks: number | undefined): number => {
  if (blockTokens <= 0) return 0
  return Math.max(0, Math.min(Math.ceil(tokens / blockTokens), maxBlocks ?? Infinity))
}

/**
 * The keys of a prompt's blocks, 8 bytes a block, little-endian, first block first. The seed is the hash of model and
 * salt as low and high half; with a mask each key is its SipHash-2-4 under that, which keeps equality and hides the rest.
 */
export const chainKeys = (
  tokens: Uint32Array,
  blockTokens: number,
  maxBlocks: number | undefined,
  seedLow: number,
  seedHigh: number,
  mask?: MaskKey,
): Uint8Array => {
  const blocks = blockCount(tokens.length, blockTokens, maxBlocks)
  const keys = new Uint8Array(8 * blocks)
  if (blocks === 0) return keys
  machine ??= start()
  const held = Math.min(blockTokens, tokens.length)
  const portion = Math.max(1, Math.min(OUT_BLOCKS, Math.floor(PORTION_BYTES / (4 * held))))
  reserve(machine, TOKENS + 4 * held * portion)
  const { bytes, words } = machine
  words[CHAIN / 4] = seedLow
  words[CHAIN / 4 + 1] = seedHigh
  if (mask !== undefined) words.set(mask, KEY / 4)
  const end = Math.min(tokens.length, blocks * held)
  for (let block = 0; block < blocks; block += portion) {
    const from = block * held
    const to = Math.min(end, from + portion * held)
    words.set(from === 0 && to === tokens.length ? tokens : tokens.subarray(from, to), TOKENS / 4)
    machine.chain(4 * (to - from), 4 * held, mask === undefined ? 0 : 1)
    const count = Math.min(portion, blocks - block)
    keys.set(bytes.subarray(OUT, OUT + 8 * count), 8 * block)
  }
  return keys
}

const reserve = (held: Machine, bytes: number): void => {
  const missing = bytes - held.bytes.length
  if (missing <= 0) return
  held.memory.grow(Math.ceil(missing / PAGE))
  held.bytes = new Uint8Array(held.memory.buffer)
  held.words = new Uint32Array(held.memory.buffer)
}

// Tokens lie in memory as the machine lays out its words, and their hashes are defined over little-endian bytes.
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) throw new Error('signalbox runs on little-endian machines only')
