import { CHAIN, INPUT, KEY, machineFor, OUT, OUT_BLOCKS, PORTION_BYTES } from './xxh64-machine.ts'

/** A 128-bit key as four 32-bit words, low first. */
export type MaskKey = Uint32Array

/** Number of blocks of a prompt; the last one may be short. */
export const blockCount = (tokens: number, blockTokens: number, maxBlocks: number | undefined): number => {
  if (blockTokens <= 0) return 0
  return Math.max(0, Math.min(Math.ceil(tokens / blockTokens), maxBlocks ?? Infinity))
}

/**
 * The keys of a prompt's blocks: XXH64 of each block of tokens, chained (llm-d: prefix hashing). They are 8 bytes a block,
 * little-endian, first block first. The seed is the hash of model and
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
  const held = Math.min(blockTokens, tokens.length)
  const portion = Math.max(1, Math.min(OUT_BLOCKS, Math.floor(PORTION_BYTES / (4 * held))))
  const machine = machineFor(4 * held * portion)
  const { bytes, words } = machine
  words[CHAIN / 4] = seedLow
  words[CHAIN / 4 + 1] = seedHigh
  if (mask !== undefined) words.set(mask, KEY / 4)
  const end = Math.min(tokens.length, blocks * held)
  for (let block = 0; block < blocks; block += portion) {
    const from = block * held
    const to = Math.min(end, from + portion * held)
    words.set(from === 0 && to === tokens.length ? tokens : tokens.subarray(from, to), INPUT / 4)
    machine.chain(4 * (to - from), 4 * held, mask === undefined ? 0 : 1)
    const count = Math.min(portion, blocks - block)
    keys.set(bytes.subarray(OUT, OUT + 8 * count), 8 * block)
  }
  return keys
}
