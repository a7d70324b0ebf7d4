import { describe, expect, it } from 'vitest'
import { durationMs, parseDuration } from '../../../src/core/duration.ts'
import { decodeParameters, ParameterError } from '../../../src/core/parameters.ts'

describe('parseDuration', () => {
  it.each([
    ['200ms', 200], ['1.5s', 1500], ['1h30m', 5_400_000], ['0', 0], ['-2m', -120_000], ['.5s', 500], ['1\u00b5s', 0.001], ['100ns', 0.0001],
  ])('reads %s', (text, ms) => expect(parseDuration(text)).toBeCloseTo(ms, 9))

  it.each(['', '5', 's', '1 s', '1d', 'abc', '1.s.', '--1s'])('refuses "%s"', (text) => expect(parseDuration(text)).toBeUndefined())
})

describe('durationMs', () => {
  it('reads a field and says what is wrong with another', () => {
    expect(decodeParameters({ interval: '50ms' }, { interval: durationMs(0) })).toEqual({ interval: 50 })
    expect(() => decodeParameters({ interval: 50 }, { interval: durationMs(0) })).toThrow(ParameterError)
    expect(() => decodeParameters({ interval: 'soon' }, { interval: durationMs(0) })).toThrow('interval must be a duration such as "200ms" or "1m30s", got "soon"')
  })
})
