import { blockCount, chainKeys } from '../../src/core/hash/xxh64-chain.ts'
import { xxh64 } from '../../src/core/hash/xxh64.ts'
import { shape } from '../../src/core/shape.ts'
import { expect } from 'vitest'
import { type Case, expectMatch, forEachCase } from './runner.ts'

interface Hashes {
  readonly absent?: boolean
  readonly model: string
  readonly cacheSalt: string | null
  readonly prompts: readonly (readonly number[])[] | null
}

const hexOf = (keys: Uint8Array): string[] => Array.from(new BigUint64Array(keys.slice().buffer), (key) => key.toString(16).padStart(16, '0'))

forEachCase('prefix-hash.json', {
  split: ({ config, input, expected }: Case<{ blockSizeTokens: number }, { tokenIDs: readonly number[] }, { blocks: readonly unknown[] }>) => {
    const size = config.blockSizeTokens
    const blocks = Array.from({ length: blockCount(input.tokenIDs.length, size, undefined) }, (_, i) => input.tokenIDs.slice(i * size, (i + 1) * size))
    expectMatch(blocks, expected.blocks)
  },

  hashes: ({ config, input, expected }: Case<{ blockSizeTokens: number; maxPrefixBlocks: number }, Hashes>) => {
    const prompts = (input.absent === true ? null : input.prompts) ?? []
    const tokenized = { prompts: prompts.map((ids) => ({ tokenIds: Uint32Array.from(ids), media: [] })), cacheSalt: input.cacheSalt ?? '' }
    const wanted = [{ kind: 'approx', blockTokens: config.blockSizeTokens, maxBlocks: config.maxPrefixBlocks }]
    const lists = shape(tokenized, input.model ?? '', wanted).prompts.flatMap(({ blocks }) => blocks.map(({ keys }) => hexOf(keys))).filter((list) => list.length > 0)
    const blockCounts = lists.map((list) => list.length)
    expectMatch({ hashesHex: lists, blockCounts, totalBlocks: blockCounts.reduce((a, b) => a + b, 0) }, differencesDropped(expected))
  },

  blockEquality: ({ input, expected }: Case<unknown, { a: readonly number[]; b: readonly number[] }, { equal: boolean }>) => {
    const keyOf = (ids: readonly number[]): string => hexOf(chainKeys(Uint32Array.from(ids), Math.max(1, ids.length), undefined, 0, 0)).join()
    expect(keyOf(input.a) === keyOf(input.b)).toBe(expected.equal)
  },

  xxh64: ({ config, input, expected }: Case<{ seed: number }, { text: string }, { hex: string }>) => {
    expect(xxh64(new TextEncoder().encode(input.text), BigInt(config.seed)).toString(16).padStart(16, '0')).toBe(expected.hex)
  },
})

/** What is asserted: the other fields of these cases say how they relate to each other. */
function differencesDropped(expected: unknown): unknown {
  const { hashesHex, blockCounts, totalBlocks } = expected as Record<string, unknown>
  return { hashesHex, blockCounts, totalBlocks }
}
