import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decodeRequestReceived, encodeRecord, encodeRequestReceived, emptyRecord, emptyRequestReceived, fromBytes, Reader, toBytes, WireError, Writer } from '../../../src/wire/index.ts'
import { arbitrary, codec, messages } from './messages.ts'

function outcome(run: () => unknown): 'decoded' | 'refused' {
  try {
    run()
    return 'decoded'
  } catch (error) {
    expect(error).toBeInstanceOf(WireError)
    return 'refused'
  }
}

describe.each([...messages.keys()])('%s from damaged bytes', name => {
  const { encode, decode } = codec(name)

  it('given garbage, when decoded, then it is a message or a WireError and nothing else', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      outcome(() => fromBytes(decode, bytes))
    }), { numRuns: 200 })
  })

  it('given bytes cut or changed anywhere, when decoded, then it is a message or a WireError and nothing else', () => {
    fc.assert(fc.property(arbitrary(name), fc.nat(), fc.nat(255), (message, place, value) => {
      const bytes = toBytes(encode, message)
      if (bytes.length === 0) return
      const at = place % bytes.length
      outcome(() => fromBytes(decode, bytes.subarray(0, at)))
      bytes[at] = value
      outcome(() => fromBytes(decode, bytes))
    }), { numRuns: 40 })
  })
})

describe('what a reader refuses', () => {
  const refused = (...bytes: readonly number[]): void => {
    expect(outcome(() => fromBytes(decodeRequestReceived, Uint8Array.from(bytes)))).toBe('refused')
  }

  it('a string longer than the bytes at hand', () => refused(0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x61))
  it('a nested message longer than the bytes at hand', () => refused(0x72, 0x05, 0x08))
  it('a nested message whose last field runs beyond it', () => refused(0x72, 0x02, 0x1a, 0x02, 0x61, 0x61))
  it('a varint that never ends', () => refused(0x58, ...Array<number>(11).fill(0xff)))
  it('a number beyond 2^53 - 1', () => refused(0x58, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10))
  it('field number 0', () => refused(0x02, 0x00))
  it('wire types 6 and 7', () => {
    refused(0x0e, 0x00)
    refused(0x0f, 0x00)
  })
  it('a group that ends but never began', () => refused(0x0c))
  it('groups without end, nested without end', () => refused(...Array<number>(1000).fill(0xa3, 0, 1000)))
  it('text that is no UTF-8', () => {
    refused(0x0a, 0x01, 0x80)
    refused(0x0a, 0x02, 0xc0, 0x80)
    refused(0x0a, 0x01, 0xe2)
    refused(0x0a, 0x04, 0xf4, 0x90, 0x80, 0x80)
  })
})

describe('what a reader takes', () => {
  it('given unknown fields of every wire type, when decoded, then they are stepped over', () => {
    const unknown = [0xf8, 0x01, 0x96, 0x01, 0xf9, 0x01, 1, 2, 3, 4, 5, 6, 7, 8, 0xfa, 0x01, 2, 9, 9, 0xfd, 0x01, 1, 2, 3, 4, 0xfb, 0x01, 0x08, 0x01, 0xfc, 0x01]
    const bytes = Uint8Array.from([...unknown, ...toBytes(encodeRequestReceived, { ...emptyRequestReceived(), model: 'm' }), ...unknown])
    expect(fromBytes(decodeRequestReceived, bytes)).toEqual({ ...emptyRequestReceived(), model: 'm' })
  })

  it('given a known field of another wire type, when decoded, then it counts as unknown', () => {
    expect(fromBytes(decodeRequestReceived, Uint8Array.from([0x08, 0x05]))).toEqual(emptyRequestReceived())
  })

  it('given a lone surrogate in a string, when encoded and decoded, then it is still there', () => {
    const message = { ...emptyRequestReceived(), requestId: 'a\ud800b\udc00\u{1f600}' }
    expect(fromBytes(decodeRequestReceived, toBytes(encodeRequestReceived, message))).toEqual(message)
  })

  it('given a Buffer, when decoded, then byte fields are plain arrays', () => {
    const reader = new Reader(Buffer.from([1, 7]))
    expect(reader.data().constructor).toBe(Uint8Array)
  })
})

describe('what a writer refuses', () => {
  it.each([-1, 1.5, 2 ** 53, Number.NaN, Infinity])('given %d for a 64-bit number, when encoded, then it fails loudly', value => {
    expect(() => toBytes(encodeRecord, { ...emptyRecord(), position: value })).toThrow(WireError)
  })

  it('given a failure in the middle of a message, when the next is encoded, then it is whole', () => {
    const wanted = toBytes(encodeRecord, { ...emptyRecord(), position: 7 })
    expect(() => toBytes(encodeRecord, { ...emptyRecord(), position: 9, atUs: -1 })).toThrow(WireError)
    expect(toBytes(encodeRecord, { ...emptyRecord(), position: 7 })).toEqual(wanted)
  })

  it('given numbers beyond their type, when written, then each is refused', () => {
    const writer = new Writer()
    expect(() => writer.uint32(2 ** 32)).toThrow(WireError)
    expect(() => writer.int32(2 ** 31)).toThrow(WireError)
    expect(() => writer.sint32(-(2 ** 31) - 1)).toThrow(WireError)
    expect(() => writer.sint64(2 ** 53)).toThrow(WireError)
    expect(() => writer.int64(-(2 ** 53))).toThrow(WireError)
    expect(() => writer.fixed32(-1)).toThrow(WireError)
    expect(() => writer.sfixed32(2 ** 31)).toThrow(WireError)
    expect(() => writer.fixed64(2n ** 64n)).toThrow(WireError)
    expect(() => writer.sfixed64(2n ** 63n)).toThrow(WireError)
  })
})

describe('numbers that the schemas do not use yet', () => {
  it('come back as they were', () => {
    fc.assert(fc.property(fc.maxSafeInteger(), fc.maxSafeInteger(), fc.integer(), fc.float(), (a, b, c, d) => {
      const writer = new Writer()
      writer.int64(a)
      writer.sint64(b)
      writer.int32(c)
      writer.sint32(c)
      writer.float(d)
      writer.sfixed32(c)
      writer.sfixed64(BigInt(a))
      const reader = new Reader(writer.finish())
      expect([reader.int64(), reader.sint64(), reader.int32(), reader.sint32(), reader.float(), reader.sfixed32(), reader.sfixed64()])
        .toEqual([a, b, c, c, d, c, BigInt(a)])
    }))
  })
})
