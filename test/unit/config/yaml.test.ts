import { describe, expect, it } from 'vitest'
import { Problems } from '../../../src/config/problems.ts'
import type { AggregateConfigurationError } from '../../../src/config/problems.ts'
import { parseDocuments } from '../../../src/config/yaml/document.ts'
import type { SourceDocument } from '../../../src/config/yaml/document.ts'
import { placeText } from '../../../src/core/errors.ts'

const parse = (text: string): readonly SourceDocument[] => {
  const problems = new Problems()
  const documents = parseDocuments('c.yaml', text, problems)
  problems.check()
  return documents
}

const only = (text: string): SourceDocument => {
  const [document, ...more] = parse(text)
  if (document === undefined || more.length > 0) throw new Error('one document expected')
  return document
}

const errorsOf = (text: string): readonly string[] => {
  try {
    parse(text)
  } catch (error) {
    return (error as AggregateConfigurationError).errors.map(({ code, message, place }) => `${code} ${message} ${place === undefined ? '' : placeText(place)}`)
  }
  return []
}

describe('a YAML text', () => {
  it('gives its values and their places', () => {
    const document = only('a:\n  - b: 1\n    c: [x, y]\n')
    expect(document.value).toEqual({ a: [{ b: 1, c: ['x', 'y'] }] })
    expect(placeText(document.placeOf(['a', '0', 'c', '1']))).toBe('c.yaml:3:12')
    expect(placeText(document.placeOf(['a', '0', 'c'], 'key'))).toBe('c.yaml:3:5')
    expect(placeText(document.placeOf(['a', '0', 'b']))).toBe('c.yaml:2:8')
  })

  it('gives the place of the nearest part for what is not there', () => {
    expect(placeText(only('a:\n  b:\n    c: 1\n').placeOf(['a', 'b', 'd', 'e']))).toBe('c.yaml:2:3')
    expect(placeText(only('a:\nb: 1\n').placeOf(['a']))).toBe('c.yaml:1:1')
  })

  it('follows aliases and merge keys to where a value is written', () => {
    const document = only('one: &one {size: 1}\ntwo:\n  <<: *one\n  name: x\nthree: *one\nfour:\n  <<: [{a: 1}, *one]\n')
    expect(document.value).toMatchObject({ two: { size: 1, name: 'x' }, three: { size: 1 }, four: { a: 1, size: 1 } })
    expect(placeText(document.placeOf(['two', 'size']))).toBe('c.yaml:1:18')
    expect(placeText(document.placeOf(['three', 'size']))).toBe('c.yaml:1:18')
    expect(placeText(document.placeOf(['four', 'size']))).toBe('c.yaml:1:18')
    expect(placeText(document.placeOf(['two', 'name']))).toBe('c.yaml:4:9')
  })

  it('may hold several documents, each with the lines of the file; empty ones are left out', () => {
    const documents = parse('---\n---\na: 1\n---\n# nothing\n---\nb: 2\n')
    expect(documents.map(({ value }) => value)).toEqual([{ a: 1 }, { b: 2 }])
    expect(documents.map((document) => placeText(document.placeOf([])))).toEqual(['c.yaml:3:1', 'c.yaml:7:1'])
    expect(parse('')).toEqual([])
  })

  it('may be JSON', () => {
    expect(only('{"a": {"b": [true, null, "x\\n"]}}').value).toEqual({ a: { b: [true, null, 'x\n'] } })
  })

  it('takes the unquoted booleans that llm-d takes, for values and not for keys', () => {
    expect(only('yes: yes\noff: Off\nquoted: "no"\n').value).toEqual({ yes: true, off: false, quoted: 'no' })
  })

  it('keeps a key that names an object’s own machinery as a plain key', () => {
    const { value } = only('__proto__: {polluted: 1}\n')
    expect(Object.keys(value as object)).toEqual(['__proto__'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })

  it.each([
    ['a key given twice', 'a: 1\nb:\n  c: 1\n  c: 2\n', ['config-syntax `c` is given twice c.yaml:4:3']],
    ['a key given twice in JSON', '{"a": 1,\n "a": 2}', ['config-syntax `"a"` is given twice c.yaml:2:2']],
    ['an alias without anchor', 'a: 1\nb: *nowhere\n', ['config-syntax no anchor `&nowhere` before this alias c.yaml:2:4']],
    ['what JSON does not know', 'a: .nan\nb: -.inf\n', ['config-syntax NaN is not a number that a configuration may hold c.yaml:1:4', 'config-syntax -Infinity is not a number that a configuration may hold c.yaml:2:4']],
    ['a merge of what is no object', 'a: &a 3\nb:\n  <<: *a\n', ['config-syntax Merge sources must be maps or map aliases c.yaml:1:1']],
  ])('refuses %s', (_, text, errors) => {
    expect(errorsOf(text)).toEqual(errors)
  })

  it.each([
    ['an open bracket', 'a: [1, 2\nb: 3\n', /^config-syntax .+ c\.yaml:[23]:/],
    ['a wrong indent', 'a:\n  b: 1\n c: 2\n', /^config-syntax .+ c\.yaml:3:/],
    ['a tab as indent', 'a:\n\tb: 1\n', /^config-syntax .+ c\.yaml:2:/],
    ['an unknown tag', 'a: !secret x\n', /^config-syntax .*!secret.* c\.yaml:1:4$/],
    ['an open quote', 'a: "x\n', /^config-syntax .+ c\.yaml:[12]:/],
  ])('refuses %s at its place', (_, text, error) => {
    expect(errorsOf(text)[0]).toMatch(error)
  })

  it.each([['lists', '['.repeat(20_000)], ['entries', '- '.repeat(20_000)]])('refuses %s nested beyond measure', (_, text) => {
    expect(errorsOf(text)).toEqual([expect.stringMatching(/^config-syntax nested too deeply c\.yaml:1:\d+$/)])
  })

  it('tells the first fault of syntax, not its echoes, and every key given twice', () => {
    expect(errorsOf('a: b: c: d: e\nx: 1\nx: 2\ny: 1\ny: 2\n').map((error) => error.replace(/^.* /, ''))).toEqual(['c.yaml:1:4', 'c.yaml:3:1', 'c.yaml:5:1'])
  })

  it('may begin with a byte order mark and end its lines as Windows does', () => {
    const document = only('\uFEFFa: 1\r\nb:\r\n  - c\r\n')
    expect(document.value).toEqual({ a: 1, b: ['c'] })
    expect(placeText(document.placeOf(['b', '0']))).toBe('c.yaml:3:5')
  })

  it('refuses a text that grows beyond measure by aliases', () => {
    const rows = ['a: &a [x, x, x, x, x, x, x, x, x, x]']
    for (let i = 1; i < 8; i++) rows.push(`${'abcdefgh'[i] ?? ''}: &${'abcdefgh'[i] ?? ''} [${Array.from({ length: 10 }, () => `*${'abcdefgh'[i - 1] ?? ''}`).join(', ')}]`)
    expect(errorsOf(rows.join('\n'))[0]).toMatch(/^config-syntax Excessive alias count/)
  })
})
