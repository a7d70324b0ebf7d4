import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromBytes, toBytes } from '../../../src/wire/index.ts'
import { arbitrary, codec, messages, root, toReflected } from './messages.ts'

const AS_TEXT = { longs: String, bytes: String }

describe.each([...messages.keys()])('%s beside protobufjs', name => {
  const { encode, decode } = codec(name)
  const reflected = root.lookupType(`signalbox.v1.${name}`)

  it('given our bytes, when reflection decodes them, then it finds the same values', () => {
    fc.assert(fc.property(arbitrary(name), message => {
      const theirs = reflected.decode(toBytes(encode, message))
      const wanted = reflected.decode(reflected.encode(toReflected(name, message)).finish())
      expect(reflected.toObject(theirs, AS_TEXT)).toEqual(reflected.toObject(wanted, AS_TEXT))
    }), { numRuns: 40 })
  })

  it('given bytes of reflection, when we decode them, then we find the same values', () => {
    fc.assert(fc.property(arbitrary(name), message => {
      const bytes = reflected.encode(toReflected(name, message)).finish()
      expect(fromBytes(decode, bytes)).toEqual(message)
    }), { numRuns: 40 })
  })
})
