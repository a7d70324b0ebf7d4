import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MsgpackError, unpack } from '../../../../src/adapters/kv-events/msgpack.ts'
import { pack } from '../../../../src/simulation/endpoint/packing.ts'
import type { Packable } from '../../../../src/simulation/endpoint/packing.ts'

const bytes = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(' ', ''), 'hex'))

describe('unpack', () => {
  // Values and bytes as the MessagePack specification gives its formats.
  it.each([
    ['c0', null], ['c2', false], ['c3', true], ['7f', 127], ['ff', -1], ['e0', -32], ['cc ff', 255], ['cd 0100', 256], ['ce ffffffff', 4_294_967_295],
    ['cf 001fffffffffffff', Number.MAX_SAFE_INTEGER], ['cf ffffffffffffffff', 18_446_744_073_709_551_615n], ['d0 80', -128], ['d1 8000', -32_768],
    ['d2 80000000', -2_147_483_648], ['d3 8000000000000000', -9_223_372_036_854_775_808n], ['ca 3fc00000', 1.5], ['cb 3ff8000000000000', 1.5],
    ['a1 61', 'a'], ['d9 01 61', 'a'], ['da 0001 61', 'a'], ['db 00000001 61', 'a'], ['c4 01 07', Uint8Array.of(7)], ['c5 0001 07', Uint8Array.of(7)],
    ['c6 00000001 07', Uint8Array.of(7)], ['92 01 02', [1, 2]], ['dc 0001 01', [1]], ['dd 00000001 01', [1]], ['81 a1 61 01', new Map([['a', 1]])],
    ['de 0001 01 02', new Map([[1, 2]])], ['df 00000001 01 02', new Map([[1, 2]])], ['92 d4 01 00 05', [null, 5]], ['92 c7 02 01 0000 05', [null, 5]],
  ])('given %s, when read, then it is its value', (hex, value) => expect(unpack(bytes(hex))).toEqual(value))

  it.each([
    ['', 'the message ends too soon'], ['cd 01', 'the message ends too soon'], ['a2 61', 'the message ends too soon'], ['dd ffffffff', 'the message ends too soon'],
    ['df 7fffffff 00', 'the message ends too soon'], ['c6 ffffffff', 'the message ends too soon'], ['c1', 'unknown tag 193'], ['01 02', 'bytes after the end'],
    ['91'.repeat(40), 'nested more than 16 deep'],
  ])('given %s, when read, then it is refused', (hex, message) => {
    expect(() => unpack(bytes(hex))).toThrow(MsgpackError)
    expect(() => unpack(bytes(hex))).toThrow(message)
  })

  it('given any bytes, when read, then there is a value or a MsgpackError', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 60 }), (any) => {
      try {
        unpack(any)
      } catch (error) {
        expect(error).toBeInstanceOf(MsgpackError)
      }
    }), { numRuns: 500 })
  })

  it('given what a simulated engine packs, when read, then it is the same', () => {
    const item: fc.Arbitrary<Packable> = fc.oneof(fc.constant(null), fc.maxSafeNat(), fc.string({ unit: 'grapheme', maxLength: 300 }), fc.uint8Array({ maxLength: 300 }))
    fc.assert(fc.property(fc.array(fc.array(item, { maxLength: 20 }), { maxLength: 20 }), (value) => {
      expect(unpack(pack(value))).toEqual(value)
    }))
  })
})
