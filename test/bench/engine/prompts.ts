import type { RequestReceived } from '../../../src/wire/request.ts'
import { received } from '../../story/inputs.ts'
import type { Input } from '../../../src/wire/input.ts'

const BLOCK_TOKENS = 64
/** 8,192 tokens: 128 blocks. */
export const PROMPT_TOKENS = 8192
const BLOCKS = PROMPT_TOKENS / BLOCK_TOKENS
const GROUPS = 8

/** Fills words as hashes would: no two alike, none near another. (MurmurHash3's finalizer over a counter) */
const fill = (words: Uint32Array, from: number, to: number, seed: number): void => {
  let at = Math.imul(seed, 0x9e3779b9)
  for (let i = from; i < to; i += 1) {
    at = (at + 0x6d2b79f5) | 0
    let h = Math.imul(at ^ (at >>> 16), 0x85ebca6b)
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
    words[i] = h ^ (h >>> 16)
  }
}

/** The i-th arrival: its first half is shared with one in eight of the others, as system prompts are. */
export const arrival = (i: number, more: Partial<RequestReceived> = {}): Input => {
  const words = new Uint32Array(BLOCKS * 2)
  fill(words, 0, BLOCKS, 1 + (i % GROUPS))
  fill(words, BLOCKS, BLOCKS * 2, 1000 + i)
  return received(`request-${i}`, {
    requestId: `00000000-0000-4000-8000-${String(i).padStart(12, '0')}`,
    bodyBytes: PROMPT_TOKENS * 4,
    shape: { tokenized: true, prompts: [{ tokens: PROMPT_TOKENS, blocks: [{ kind: 'approx', blockTokens: BLOCK_TOKENS, keys: new Uint8Array(words.buffer) }], media: [] }], problem: '' },
    ...more,
  })
}
