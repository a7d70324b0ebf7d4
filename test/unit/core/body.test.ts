import { describe, expect, it } from 'vitest'
import { type Parser, pathOf, resolveParser } from '../../../src/core/body.ts'

const parser = (type: string, ...suffixes: readonly string[]): Parser => ({
  typedName: { type, name: type },
  suffixes,
  protocols: [],
  parse: () => {
    throw new Error('not asked to')
  },
})

describe('pathOf', () => {
  it.each([
    [{ ':path': '/v1/a?x=1', 'x-original-path': '/b' }, '/v1/a'],
    [{ 'x-original-path': '/b', 'x-forwarded-path': '/c' }, '/b'],
    [{ 'x-forwarded-path': '/c?q' }, '/c'],
    [{}, '/v1/completions'],
  ])('given the headers %j, when asked, then the path is %s', (headers, path) => {
    expect(pathOf(new Map(Object.entries(headers)))).toBe(path)
  })
})

describe('resolveParser', () => {
  const openai = parser('openai-parser', 'chat/completions', 'completions')
  const special = parser('special', 'chat/completions/render')
  const fallback = parser('fallback')

  it.each([
    ['/v1/chat/completions', openai],
    ['/v1/completions', openai],
    ['completions', openai],
    ['/v1/chat/completions/render', special],
    ['/v1/mycompletions', fallback],
    ['/metrics', fallback],
  ])('given the path %s, when resolved, then the longest suffix of whole segments wins, else the fallback', (path, right) => {
    expect(resolveParser([openai, special, fallback], path)).toBe(right)
  })

  it('given parsers after the fallback, when resolved, then they do not count', () => {
    expect(resolveParser([fallback, openai], '/v1/completions')).toBe(fallback)
  })

  it('given two parsers of one type, when resolved, then the second does not count', () => {
    const twin = parser('openai-parser', 'v1/chat/completions')
    expect(resolveParser([openai, twin], '/v1/chat/completions')).toBe(openai)
  })

  it('given no parser for the path, when resolved, then the request is bad', () => {
    expect(() => resolveParser([openai], '/v1/unknown')).toThrow('no parser for path "/v1/unknown"')
  })
})
