import type { BlockKeys, PromptShape } from '../../core/request.ts'
import { APPROX_KEYS } from '../../core/shape.ts'

/**
 * Bytes of keys that are told of one request, at most: 32 kB are those of 1 MB of text in blocks of 64 tokens. Of a
 * longer prompt the head is told, which is what other prompts may have in common with it.
 */
const BYTES_MAX = 32_768
const KEY_BYTES = 8

/** Kinds whose index is a guess from what was sent where. */
const GUESSED: ReadonlySet<string> = new Set([APPROX_KEYS])

/**
 * The block keys by which peers learn of prompts: of the kinds given, one list a prompt, kind and block size. Of kinds
 * about which nobody guesses each replica learns from the engines themselves.
 */
export const toldBlocks = (prompts: readonly PromptShape[], kinds: ReadonlySet<string> = GUESSED): BlockKeys[] => {
  let left = BYTES_MAX
  return prompts.flatMap(({ blocks }) => {
    const longest = new Map<string, BlockKeys>()
    for (const block of blocks) {
      const name = `${block.kind} ${block.blockTokens}`
      if (kinds.has(block.kind) && block.keys.length > (longest.get(name)?.keys.length ?? 0)) longest.set(name, block)
    }
    return [...longest.values()].flatMap(({ kind, blockTokens, keys }) => {
      const told = keys.subarray(0, Math.min(left, keys.length))
      left -= told.length
      return told.length < KEY_BYTES ? [] : [{ kind, blockTokens, keys: told }]
    })
  })
}
