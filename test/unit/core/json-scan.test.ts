import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isDeeperThan, itemsOf, memberOf, membersOf, valueEnd, withMember } from '../../../src/core/json-scan.ts'

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes)
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

const json = fc.json({ maxDepth: 4 }).map((text) => JSON.parse(text) as unknown)
// Blanks, and strings that hold what looks like structure.
const spaced = fc.tuple(json, fc.constantFrom(0, 1, 2)).map(([value, indent]) => JSON.stringify(value, null, indent))
const texts = fc.oneof(fc.string(), fc.constantFrom('"', '\\', '\\"', '{', ']', 'a"b\\', ',":', 'é€😀', 'x'.repeat(100) + '\\"'))
const object = fc.dictionary(texts, fc.oneof(json, texts))

describe('json-scan', () => {
  it('given any object, when its members are found, then they are those that JSON.parse finds', () => {
    fc.assert(
      fc.property(object, fc.nat(2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        const found = membersOf(text).map(({ name, start, end }) => [name, JSON.parse(text.slice(start, end)) as unknown])
        expect(Object.fromEntries(found)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('given any list, when its items are found, then each begins and ends where it should', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(json, texts)), fc.nat(2), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(itemsOf(text, 0).map((start) => JSON.parse(text.slice(start, valueEnd(text, start))) as unknown)).toEqual(JSON.parse(text))
      }),
    )
  })

  it('given any value, when its depth is asked, then brackets within strings do not count', () => {
    fc.assert(
      fc.property(spaced, (text) => {
        const depth = depthOf(JSON.parse(text))
        expect(isDeeperThan(text, depth)).toBe(false)
        if (depth > 0) expect(isDeeperThan(text, depth - 1)).toBe(true)
      }),
    )
  })

  it('given text that never closes, when its depth is asked, then it is told without a crash', () => {
    expect(isDeeperThan('['.repeat(3_000_000), 10_000)).toBe(true)
    expect(isDeeperThan(`"${'['.repeat(20_000)}`, 10_000)).toBe(false)
  })

  it('given several members of one name, when one is asked for, then it is the last', () => {
    const text = '{"a":1,"b":2,"a": [3]}'
    const member = memberOf(text, 0, 'a')
    expect(text.slice(member?.start, member?.end)).toBe('[3]')
  })

  it('given a name with escapes, when members are found, then it is unescaped', () => {
    expect(membersOf('{"mod\\u0065l":"x"}').map(({ name }) => name)).toEqual(['model'])
  })
})

describe('withMember', () => {
  it.each([
    ['{"model":"a","n":12345678901234567890}', '{"model":"b","n":12345678901234567890}'],
    ['{ "x" : {"model":"a"} , "model" : "a" }', '{ "x" : {"model":"a"} , "model" : "b" }'],
    ['{"model":"a","model":"c"}', '{"model":"b","model":"b"}'],
    [' {"x":"é€"}', ' {"model":"b","x":"é€"}'],
    ['{}', '{"model":"b"}'],
    ['{\n}', '{"model":"b"\n}'],
  ])('given %s, when the model is set, then every other byte stays', (before, after) => {
    expect(textOf(withMember(bytesOf(before), 'model', '"b"'))).toBe(after)
  })

  it('given bytes that are not UTF-8, when the model is set, then they stay as they are', () => {
    const body = Uint8Array.of(...bytesOf('{"x":"'), 0xff, 0x80, ...bytesOf('","model":"a"}'))
    expect(withMember(body, 'model', '"b"')).toEqual(Uint8Array.of(...bytesOf('{"x":"'), 0xff, 0x80, ...bytesOf('","model":"b"}')))
  })

  it('given what is no object, when the model is set, then there is nothing', () => {
    expect(withMember(bytesOf('[1]'), 'model', '"b"')).toBeUndefined()
    expect(withMember(bytesOf(''), 'model', '"b"')).toBeUndefined()
  })
})
