import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blockCount, chainKeys } from '../../../../src/core/hash/xxh64-chain.ts'
import { referenceSiphash } from './siphash-reference.ts'
import { referenceXxh64 } from './xxh64-reference.ts'

const bytesOf = (...words: readonly bigint[]): Uint8Array => new Uint8Array(new BigUint64Array(words).buffer)
const keysOf = (keys: Uint8Array): bigint[] => [...new BigUint64Array(keys.slice().buffer)]
const low = (word: bigint): number => Number(word & 0xffffffffn)
const high = (word: bigint): number => Number(word >> 32n)

const referenceKeys = (tokens: Uint32Array, blockTokens: number, blocks: number, seed: bigint): bigint[] => {
  const keys: bigint[] = []
  let link = seed
  for (let block = 0; block < blocks; block++) {
    const ids = tokens.slice(block * blockTokens, (block + 1) * blockTokens)
    link = referenceXxh64(bytesOf(referenceXxh64(new Uint8Array(ids.buffer)), link))
    keys.push(link)
  }
  return keys
}

const word64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })

describe('chainKeys', () => {
  it('given any prompt, block size, bound and seed, when hashed, then it is the chain of the formulas', () => {
    fc.assert(
      fc.property(
        fc.uint32Array({ maxLength: 200 }), fc.integer({ min: 1, max: 80 }), fc.option(fc.nat(40), { nil: undefined }), word64,
        (tokens, blockTokens, maxBlocks, seed) => {
          const keys = chainKeys(tokens, blockTokens, maxBlocks, low(seed), high(seed))
          const blocks = blockCount(tokens.length, blockTokens, maxBlocks)
          expect(keysOf(keys)).toEqual(referenceKeys(tokens, blockTokens, blocks, seed))
        },
      ),
    )
  })

  it.each([
    [40_000, 64], // more than one portion
    [5000, 1], // more blocks than one portion has room for
    [70_000, 60_000], // blocks larger than a portion: memory grows
    [100, 1_000_000], // a block larger than the prompt
  ])('given %i tokens in blocks of %i, when hashed, then portions do not show', (count, blockTokens) => {
    const tokens = Uint32Array.from({ length: count }, (_, i) => Math.imul(i, 2654435761))
    const right = referenceKeys(tokens, blockTokens, Math.ceil(count / blockTokens), 5n)
    expect(keysOf(chainKeys(tokens, blockTokens, undefined, 5, 0))).toEqual(right)
  })

  it('given a mask, when hashed, then each key is the SipHash of the unmasked one', () => {
    fc.assert(
      fc.property(fc.uint32Array({ minLength: 1, maxLength: 30 }), word64, word64, (tokens, k0, k1) => {
        const mask = Uint32Array.of(low(k0), high(k0), low(k1), high(k1))
        const plain = keysOf(chainKeys(tokens, 4, undefined, 1, 2))
        expect(keysOf(chainKeys(tokens, 4, undefined, 1, 2, mask))).toEqual(plain.map((key) => referenceSiphash(bytesOf(key), k0, k1)))
      }),
    )
  })

  it("given the paper's key and message, when the oracle hashes it, then it gives the paper's value", () => {
    const counting = Uint8Array.from({ length: 16 }, (_, i) => i)
    const [k0 = 0n, k1 = 0n] = keysOf(counting)
    expect(referenceSiphash(counting.slice(0, 15), k0, k1)).toBe(0xa129ca6149be45e5n)
  })

  it.each([[10, 0, undefined, 0], [10, 4, undefined, 3], [0, 4, undefined, 0], [10, 4, 0, 0], [10, 4, -3, 0], [10, 4, 2, 2], [10, -1, 5, 0]])(
    'given %i tokens in blocks of %i and the bound %s, when counted, then there are %i blocks',
    (tokens, blockTokens, maxBlocks, blocks) => {
      expect(blockCount(tokens, blockTokens, maxBlocks)).toBe(blocks)
      expect(chainKeys(new Uint32Array(tokens), blockTokens, maxBlocks, 0, 0)).toHaveLength(8 * blocks)
    },
  )
})
