import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { xxh64, xxh64Into } from '../../../../src/core/hash/xxh64.ts'
import { referenceXxh64 } from './xxh64-reference.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('xxh64', () => {
  it.each([
    ['', 0n, 'ef46db3751d8e999'],
    ['a', 0n, 'd24ec4f1a98c6e5b'],
    ['abc', 0n, '44bc2cf5ad770999'],
  ])('given the published input %j, when hashed, then it gives the published value', (text, seed, hex) => {
    expect(xxh64(bytesOf(text), seed).toString(16)).toBe(hex)
  })

  it('given any bytes and seed, when hashed, then it agrees with the formulas of the specification', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (bytes, seed) => {
        expect(xxh64(bytes, seed)).toBe(referenceXxh64(bytes, seed))
      }),
    )
  })

  it.each([255, 256, 287, 65_536, 65_568, 200_001])('given %i bytes, when hashed, then length does not show', (length) => {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31 + (i >>> 8)) & 255)
    expect(xxh64(bytes, 12345678901n)).toBe(referenceXxh64(bytes, 12345678901n))
  })

  it('given a page that forbids WebAssembly, when long input is hashed, then it is hashed all the same', async () => {
    const bytes = Uint8Array.from({ length: 5000 }, (_, i) => (i * 13) & 255)
    vi.resetModules()
    vi.stubGlobal('WebAssembly', undefined)
    try {
      const fresh = await import('../../../../src/core/hash/xxh64.ts')
      expect(fresh.xxh64).not.toBe(xxh64)
      expect([fresh.xxh64(bytes), fresh.xxh64(bytes, 9n)]).toEqual([referenceXxh64(bytes), referenceXxh64(bytes, 9n)])
    } finally {
      vi.unstubAllGlobals()
    }
  })

  it('given a part of a buffer, when hashed into words, then only that part counts and the halves are low, high', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(100), fc.nat(100), (bytes, a, b) => {
        const start = Math.min(a, b, bytes.length)
        const end = Math.min(Math.max(a, b), bytes.length)
        const out = new Uint32Array(4)
        xxh64Into(bytes, start, end, 7, 9, out, 1)
        const right = referenceXxh64(bytes.slice(start, end), (9n << 32n) | 7n)
        expect([...out]).toEqual([0, Number(right & 0xffffffffn), Number(right >> 32n), 0])
      }),
    )
  })
})
