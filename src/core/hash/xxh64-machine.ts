import { assemble, call, type Code, i32, i64, ifElse, local, loopWhile, type Routine, select } from './assembly.ts'

/**
 * XXH64 in WebAssembly, where a 64-bit product is one instruction instead of the dozen it takes in JavaScript: 10 to
 * 25 times faster on long input (test/bench/hash). As deterministic as the rest: integers only. It is assembled when first
 * needed. A page whose policy forbids WebAssembly still hashes, in JavaScript; only prompts need the machine.
 */

const SCRATCH = 0 // 16 bytes: the link that is hashed
export const CHAIN = 16 // the last hash of the chain
export const KEY = 24 // 16 bytes
const LANES = 64 // 32 bytes: the four accumulators
/** Where keys come out, with room for `OUT_BLOCKS`. */
export const OUT = 96
export const OUT_BLOCKS = 2048
/** Where what is hashed goes in. */
export const INPUT = OUT + 8 * OUT_BLOCKS
/** Input is copied in by portions of this size, so that memory stays small and in the processor's cache. */
export const PORTION_BYTES = 65_536
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

const left = (at: number, end: number, count: number): Code => i32.lessOrEqual(i32.add(local.get(at), i32.constant(count)), local.get(end))
const advance = (at: number, count: number): Code => local.set(at, i32.add(local.get(at), i32.constant(count)))
/** The accumulators take in stripes of 32 bytes as long as there are whole ones. */
const stripes = (at: number, end: number, lanes: readonly number[]): Code =>
  loopWhile(
    left(at, end, 32),
    ...lanes.map((v, lane) => local.set(v, round(local.get(v), i64.load(local.get(at), 8 * lane)))),
    advance(at, 32),
  )

/** XXH64 with seed 0. */
const xxh64Routine = (): Routine => {
  const [at, length, end, v1, v2, v3, v4, h] = [0, 1, 2, 3, 4, 5, 6, 7] as const
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
        left(at, end, 32),
        [
          local.set(v1, i64.add(P1, P2)),
          local.set(v2, P2),
          local.set(v3, i64.constant(0n)),
          local.set(v4, i64.sub(i64.constant(0n), P1)),
          stripes(at, end, [v1, v2, v3, v4]),
          local.set(h, i64.add(i64.add(turned(v1, 1), turned(v2, 7)), i64.add(turned(v3, 12), turned(v4, 18)))),
          ...merge,
        ],
        [local.set(h, P5)],
      ),
      local.set(h, i64.add(local.get(h), i64.fromI32(local.get(length)))),
      loopWhile(
        left(at, end, 8),
        local.set(h, i64.xor(local.get(h), round(i64.constant(0n), i64.load(local.get(at))))),
        local.set(h, i64.add(i64.mul(turned(h, 27), P1), P4)),
        advance(at, 8),
      ),
      ifElse(left(at, end, 4), [
        local.set(h, i64.xor(local.get(h), i64.mul(i64.load32(local.get(at)), P1))),
        local.set(h, i64.add(i64.mul(turned(h, 23), P2), P3)),
        advance(at, 4),
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

/** stripes(bytes of input): the accumulators in memory take in whole stripes. */
const stripesRoutine = (): Routine => {
  const [length, at, end, ...lanes] = [0, 1, 2, 3, 4, 5, 6] as const
  return {
    parameters: ['i32'],
    locals: ['i32', 'i32', 'i64', 'i64', 'i64', 'i64'],
    result: undefined,
    exportAs: 'stripes',
    body: [
      local.set(at, i32.constant(INPUT)),
      local.set(end, i32.add(local.get(at), local.get(length))),
      ...lanes.map((v, lane) => local.set(v, i64.load(i32.constant(LANES), 8 * lane))),
      stripes(at, end, lanes),
      ...lanes.map((v, lane) => i64.store(i32.constant(LANES), local.get(v), 8 * lane)),
    ],
  }
}

/** chain(bytes of tokens in memory, bytes a block, 1 to mask): keys to OUT, the chain goes on from CHAIN. */
const chainRoutine = (): Routine => {
  const [length, blockBytes, masked, at, out, end, link] = [0, 1, 2, 3, 4, 5, 6] as const
  const rest = i32.sub(local.get(end), local.get(at))
  const key: Code = local.get(link)
  return {
    parameters: ['i32', 'i32', 'i32'],
    locals: ['i32', 'i32', 'i32', 'i64'],
    result: undefined,
    exportAs: 'chain',
    body: [
      local.set(at, i32.constant(INPUT)),
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
}

/** The part of WebAssembly's own interface that is used here; its types come with a browser's library only. */
interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

export interface Machine {
  readonly memory: Memory
  readonly chain: (length: number, blockBytes: number, masked: number) => void
  readonly stripes: (length: number) => void
  /** The whole memory. */
  bytes: Uint8Array
  words: Uint32Array
}

let machine: Machine | undefined

/** Where a policy forbids WebAssembly it is asked for once. */
let forbidden = false

/**
 * The machine with room for so many bytes of input.
 * @throws whatever WebAssembly throws where it is forbidden or not there.
 */
export const machineFor = (inputBytes: number): Machine => {
  machine ??= started()
  const missing = INPUT + inputBytes - machine.bytes.length
  if (missing > 0) {
    machine.memory.grow(Math.ceil(missing / PAGE))
    machine.bytes = new Uint8Array(machine.memory.buffer)
    machine.words = new Uint32Array(machine.memory.buffer)
  }
  return machine
}

/**
 * Lets four accumulators, as eight words, take in the whole stripes of a part of `bytes`; returns where the rest begins,
 * which is `start` where there can be no machine.
 */
export const takeStripes = (lanes: Int32Array, bytes: Uint8Array, start: number, end: number): number => {
  const held = permitted()
  if (held === undefined) return start
  held.words.set(lanes.subarray(0, 8), LANES / 4)
  const last = start + 32 * Math.floor((end - start) / 32)
  for (let at = start; at < last; at += PORTION_BYTES) {
    const to = Math.min(last, at + PORTION_BYTES)
    held.bytes.set(bytes.subarray(at, to), INPUT)
    held.stripes(to - at)
  }
  lanes.set(held.words.subarray(LANES / 4, LANES / 4 + 8))
  return last
}

const permitted = (): Machine | undefined => {
  if (forbidden) return undefined
  try {
    return machineFor(PORTION_BYTES)
  } catch {
    forbidden = true
    return undefined
  }
}

const started = (): Machine => {
  const module = new WebAssembly.Module(assemble([xxh64Routine(), maskRoutine(), chainRoutine(), stripesRoutine()], PAGES))
  const { memory, chain, stripes } = new WebAssembly.Instance(module).exports as Pick<Machine, 'memory' | 'chain' | 'stripes'>
  return { memory, chain, stripes, bytes: new Uint8Array(memory.buffer), words: new Uint32Array(memory.buffer) }
}

// Words lie in memory as the machine lays them out, and hashes are defined over little-endian bytes.
if (new Uint8Array(new Uint32Array([1]).buffer)[0] !== 1) throw new Error('signalbox runs on little-endian machines only')
