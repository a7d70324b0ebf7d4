import type { BlockKeys, PromptShape } from '../../core/request.ts'
import { APPROX_KEYS } from '../../core/shape.ts'

/**
 * Keys of one prompt at most: 256 kB of text in blocks of 64 tokens. Of a longer prompt the head is told, which is what
 * other prompts may have in common with it.
 */
const KEYS_MAX = 4096
const KEY_BYTES = 8

/**
 * The block keys by which peers learn of prompts: those whose index is a guess from what was sent where, one list a
 * prompt and block size. Of the others each replica learns from the engines themselves.
 */
export const toldBlocks = (prompts: readonly PromptShape[]): BlockKeys[] =>
  prompts.flatMap(({ blocks }) => {
    const longest = new Map<number, BlockKeys>()
    for (const { kind, blockTokens, keys } of blocks) {
      if (kind !== APPROX_KEYS || keys.length <= (longest.get(blockTokens)?.keys.length ?? 0)) continue
      longest.set(blockTokens, { kind, blockTokens, keys: keys.subarray(0, KEY_BYTES * KEYS_MAX) })
    }
    return [...longest.values()]
  })
