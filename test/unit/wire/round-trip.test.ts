import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBytes, toBytes } from '../../../src/wire/index.ts'
import { arbitrary, codec, messages } from './messages.ts'

describe.each([...messages.keys()])('%s', name => {
  const { encode, decode, empty } = codec(name)

  it('comes back as it was, whatever it holds', () => {
    fc.assert(fc.property(arbitrary(name), message => {
      expect(fromBytes(decode, toBytes(encode, message))).toEqual(message)
    }), { numRuns: 60 })
  })

  it('given nothing but defaults, when encoded, then takes no bytes', () => {
    expect(toBytes(encode, empty())).toHaveLength(0)
    expect(fromBytes(decode, new Uint8Array(0))).toEqual(empty())
  })

  it('given the same message, when encoded twice, then the bytes are the same and its properties keep their order', () => {
    fc.assert(fc.property(arbitrary(name), message => {
      const bytes = toBytes(encode, message)
      const again = fromBytes(decode, bytes) as object
      expect(toBytes(encode, again)).toEqual(bytes)
      expect(Object.keys(again)).toEqual(Object.keys(empty() as object))
    }), { numRuns: 20 })
  })
})
