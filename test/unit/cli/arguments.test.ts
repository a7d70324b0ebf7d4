import { InvalidArgumentError } from 'commander'
import { describe, expect, it } from 'vitest'
import { commaList, countFrom, httpUrl, numberAbove, share } from '../../../src/cli/arguments.ts'

describe('command line arguments', () => {
  it.each<[string, (text: string) => unknown, string, unknown]>([
    ['a count', countFrom(0), '12', 12],
    ['the greatest port', countFrom(0, 65_535), '65535', 65_535],
    ['a factor', numberAbove(0), '0.5', 0.5],
    ['a share', share, '0.05', 0.05],
    ['a whole share', share, '1', 1],
    ['names', commaList, 'a, b,', ['a', 'b']],
    ['an address', httpUrl, 'http://[::1]:8080', 'http://[::1]:8080'],
  ])('given %s, then it is read', (_what, read, text, value) => {
    expect(read(text)).toEqual(value)
  })

  it.each<[string, (text: string) => unknown, string]>([
    ['a word for a count', countFrom(0), 'two'], ['a negative count', countFrom(0), '-1'], ['half a count', countFrom(0), '1.5'],
    ['nothing for a count', countFrom(0), ''], ['a count below the least', countFrom(1), '0'], ['a port too great', countFrom(0, 65_535), '65536'],
    ['0 for a factor', numberAbove(0), '0'], ['nothing for a factor', numberAbove(0), ' '], ['no end of a factor', numberAbove(0), 'Infinity'],
    ['a share above 1', share, '1.1'], ['a share below 0', share, '-0.1'], ['nothing for a share', share, ''],
    ['no names', commaList, ' ,'], ['an address without a scheme', httpUrl, 'localhost:80'], ['another scheme', httpUrl, 'ftp://a'],
  ])('given %s, then it is wrong usage', (_what, read, text) => {
    expect(() => read(text)).toThrow(InvalidArgumentError)
  })
})
