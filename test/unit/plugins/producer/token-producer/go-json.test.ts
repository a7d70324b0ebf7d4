import { describe, expect, it } from 'vitest'
import type { Json } from '../../../../../src/core/body.ts'
import { compacted, goJson, goString } from '../../../../../src/plugins/producer/token-producer/go-json.ts'

describe('goJson', () => {
  it.each<[Json, string]>([
    [null, 'null'],
    [true, 'true'],
    [[], '[]'],
    [{}, '{}'],
    [{ b: 1, a: [1, { d: 'x', c: null }] }, '{"a":[1,{"c":null,"d":"x"}],"b":1}'],
    [{ 10: 'x', 9: 'y' }, '{"10":"x","9":"y"}'],
    [{ '\ue000': 1, '\u{1f600}': 2 }, '{"\ue000":1,"\u{1f600}":2}'],
    [{ ab: 1, a: 2 }, '{"a":2,"ab":1}'],
    [[1.0, 1e21, 0.1, 1e20, 1e-7, 1e-6, -0], '[1,1e+21,0.1,100000000000000000000,1e-7,0.000001,-0]'],
    ['<b>&\u2028\u2029', '"\\u003cb\\u003e\\u0026\\u2028\\u2029"'],
    ['"\\/\b\f\n\r\t\u0001\u007f', '"\\"\\\\/\\u0008\\u000c\\n\\r\\t\\u0001\u007f"'],
    ['\\b \\u003c', '"\\\\b \\\\u003c"'],
    ['a\ud800b', '"a\ufffdb"'],
    [JSON.parse('{"__proto__":{"x":1}}') as Json, '{"__proto__":{"x":1}}'],
  ])('given %j, when written, then it is %s', (value, text) => {
    expect(goJson(value)).toBe(text)
  })

  it('given a value nested ten thousand deep, when written, then it is written', () => {
    const text = `${'['.repeat(10_000)}${']'.repeat(10_000)}`
    expect(goJson(JSON.parse(text) as Json)).toBe(text)
  })
})

describe('goString', () => {
  it('given text, when written, then it is between quotes', () => expect(goString('a"b')).toBe('"a\\"b"'))
})

describe('compacted', () => {
  it.each([
    ['{ "z" : 1.0 ,\n "a": [ 1,\t2 ] }', '{"z":1.0,"a":[1,2]}'],
    ['{"a b":" c < \\" \\\\ > "}', '{"a b":" c \\u003c \\" \\\\ \\u003e "}'],
    ['{"a":1,"a":12345678901234567890}', '{"a":1,"a":12345678901234567890}'],
  ])('given %s, when compacted, then only blanks go', (text, right) => {
    expect(compacted(text)).toBe(right)
  })
})
