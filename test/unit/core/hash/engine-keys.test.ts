import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { engineKeys, rootKey } from '../../../../src/core/hash/engine-keys.ts'
import { maskKeys } from '../../../../src/core/hash/siphash.ts'
import { cbor, referenceFnv, referenceKeys, referenceRoot } from './cbor-fnv-reference.ts'
import { referenceSiphash } from './siphash-reference.ts'
import { referenceXxh64 } from './xxh64-reference.ts'

const numbers = (keys: Uint8Array): bigint[] => [...new BigUint64Array(keys.slice().buffer)]
const key = (value: bigint): Uint8Array => new Uint8Array(BigUint64Array.of(value).buffer)
const le64 = (value: bigint | number): number[] => [...key(BigInt(value))]
const utf8 = (text: string): number[] => [...new TextEncoder().encode(text)]

const referenceXxhKeys = (parent: bigint, tokens: readonly number[], blockTokens: number, extras: readonly (readonly string[])[]): bigint[] => {
  const keys: bigint[] = []
  for (let block = 0; (block + 1) * blockTokens <= tokens.length; block++) {
    const ids = new Uint8Array(Uint32Array.from(tokens.slice(block * blockTokens, (block + 1) * blockTokens)).buffer)
    const texts = (extras[block] ?? []).flatMap((text) => [...le64(utf8(text).length), ...utf8(text)])
    keys.push(referenceXxh64(Uint8Array.from([...le64(keys.at(-1) ?? parent), ...ids, ...texts])))
  }
  return keys
}

const prompts = fc.record({
  parent: fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }),
  tokens: fc.array(fc.oneof(fc.nat(30), fc.nat(300), fc.nat(100_000), fc.nat(4_294_967_295)), { maxLength: 60 }),
  blockTokens: fc.integer({ min: 1, max: 20 }),
  texts: fc.array(fc.array(fc.string({ maxLength: 40, unit: 'grapheme' }), { maxLength: 3 }), { maxLength: 60 }),
})

describe('the reference', () => {
  it('is FNV-1a and CBOR as published', () => {
    expect(referenceFnv(utf8(''))).toBe(0xcbf29ce484222325n)
    expect(referenceFnv(utf8('a'))).toBe(0xaf63dc4c8601ec8cn)
    expect(referenceFnv(utf8('foobar'))).toBe(0x85944171f73967e8n)
    // RFC 8949, appendix A
    expect(cbor([1n, 100n, 1000n, 1_000_000n, 1_000_000_000_000n])).toEqual([0x85, 1, 0x18, 100, 0x19, 3, 0xe8, 0x1a, 0, 0x0f, 0x42, 0x40, 0x1b, 0, 0, 0, 0xe8, 0xd4, 0xa5, 0x10, 0])
    expect(cbor({ Hash: 'ü' })).toEqual([0xa1, 0x64, 0x48, 0x61, 0x73, 0x68, 0x62, 0xc3, 0xbc])
  })
})

describe('engineKeys', () => {
  it('given any parent, tokens, block size and extras, when hashed as cbor-fnv, then it is the chain of the formulas', () => {
    fc.assert(fc.property(prompts, ({ parent, tokens, blockTokens, texts }) => {
      const extras = Array.from({ length: Math.floor(tokens.length / blockTokens) }, (_, block) => texts[block] ?? [])
      expect(numbers(engineKeys('cbor-fnv', key(parent), Uint32Array.from(tokens), blockTokens, extras))).toEqual(referenceKeys(parent, tokens, blockTokens, extras))
    }))
  })

  it('given the same, when hashed as xxh64, then it is the chain of its formulas', () => {
    fc.assert(fc.property(prompts, ({ parent, tokens, blockTokens, texts }) => {
      const extras = Array.from({ length: Math.floor(tokens.length / blockTokens) }, (_, block) => texts[block] ?? [])
      expect(numbers(engineKeys('xxh64', key(parent), Uint32Array.from(tokens), blockTokens, extras))).toEqual(referenceXxhKeys(parent, tokens, blockTokens, extras))
    }))
  })

  it('given a rest of less than a block, when hashed, then it has no key; given extras of other blocks, then they are refused', () => {
    expect(engineKeys('cbor-fnv', key(1n), Uint32Array.of(1, 2, 3), 2, undefined)).toHaveLength(8)
    expect(() => engineKeys('cbor-fnv', key(1n), Uint32Array.of(1, 2, 3), 2, [])).toThrow('extras of 0 blocks for 1 full blocks')
  })

  it('keeps its values: seed "", model "m", tokens 1 to 4 in blocks of 2', () => {
    const values = (kind: 'cbor-fnv' | 'xxh64'): bigint[] => [...numbers(rootKey(kind, '', 'm')), ...numbers(engineKeys(kind, rootKey(kind, '', 'm'), Uint32Array.of(1, 2, 3, 4), 2, undefined))]
    const cborRoot = referenceRoot('', 'm')
    const xxhRoot = referenceXxh64(Uint8Array.from([...le64(referenceXxh64(new Uint8Array(0))), ...le64(1), ...utf8('m')]))
    expect(values('cbor-fnv')).toEqual([0x9ddb2db69f3f452cn, 0x286ffb1f39334ad6n, 0x77966feee0bb9389n])
    expect(values('cbor-fnv')).toEqual([cborRoot, ...referenceKeys(cborRoot, [1, 2, 3, 4], 2, [])])
    expect(values('xxh64')).toEqual([0xc90cbf5421a4994bn, 0x98dc9260f5e658a8n, 0x1cfa722f8787f9e3n])
    expect(values('xxh64')).toEqual([xxhRoot, ...referenceXxhKeys(xxhRoot, [1, 2, 3, 4], 2, [])])
  })
})

describe('rootKey', () => {
  it('given any seed and model, when made, then it is of both', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (seed, model) => {
      expect(numbers(rootKey('cbor-fnv', seed, model))).toEqual([referenceRoot(seed, model)])
    }))
    expect(rootKey('xxh64', '42', 'm')).not.toEqual(rootKey('xxh64', '', 'm'))
  })
})

describe('maskKeys', () => {
  it('given any keys and mask, when masked, then each is its SipHash-2-4', () => {
    const word64 = fc.bigInt({ min: 0n, max: (1n << 64n) - 1n })
    fc.assert(fc.property(fc.array(word64, { maxLength: 8 }), word64, word64, (given, k0, k1) => {
      const keys = new Uint8Array(BigUint64Array.from(given).buffer)
      maskKeys(keys, new Uint32Array(BigUint64Array.of(k0, k1).buffer))
      expect(numbers(keys)).toEqual(given.map((value) => referenceSiphash(key(value), k0, k1)))
    }))
  })
})
