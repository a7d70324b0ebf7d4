import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editsToSet, scanObject, splice } from '../../../../src/adapters/http/json-splice.ts'

const set = (text: string, key: string, value: string): string => {
  const bytes = Buffer.from(text)
  return splice(bytes, editsToSet(bytes, key, value)).toString()
}

describe('the splice of one top-level value', () => {
  it('changes no other byte', () => {
    expect(set('{ "z":1e400, "model" : "a" ,"n":123456789012345678901234567890, "z":{"model":"deep"} }', 'model', '"模型"'))
      .toBe('{ "z":1e400, "model" : "模型" ,"n":123456789012345678901234567890, "z":{"model":"deep"} }')
  })

  it('finds a key however it is written, and every one of a repeated key', () => {
    expect(set('{"mod\\u0065l":"a","x":"\\"model\\":","model":{"a":[1,"]}"]}}', 'model', '"b"'))
      .toBe('{"mod\\u0065l":"b","x":"\\"model\\":","model":"b"}')
  })

  it('puts a missing key first', () => {
    expect(set('{"a":1}', 'model', '"b"')).toBe('{"model":"b","a":1}')
    expect(set(' { } ', 'model', '"b"')).toBe(' {"model":"b" } ')
  })

  it('leaves alone what is no whole object', () => {
    for (const text of ['', '[]', '"model"', '{"model"', '{"model":', '{"model":"a', '{"a":[1}', '{"a":{"b":1}', '{,}', 'null']) {
      expect(set(text, 'model', '"b"')).toBe(text)
    }
  })

  it('says the same as a JSON parser, for any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.string(), fc.jsonValue(), fc.constantFrom(0, 2), (object, key, value, indent) => {
        const before = JSON.stringify(object, null, indent)
        const after: unknown = JSON.parse(set(before, key, JSON.stringify(value)))
        const expected = Object.fromEntries([...Object.entries(object).filter(([name]) => name !== key), [key, JSON.parse(JSON.stringify(value)) as unknown]])
        expect(after).toEqual(JSON.parse(JSON.stringify(expected)))
      }),
    )
  })

  it('never throws and never loops, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), fc.constantFrom('{', '{"a":', '{"model":'), (bytes, start) => {
        const buffer = Buffer.concat([Buffer.from(start), bytes])
        const scan = scanObject(buffer, 'model')
        for (const { valueStart, valueEnd } of scan?.members ?? []) expect(valueEnd).toBeGreaterThan(valueStart)
      }),
    )
  })
})
