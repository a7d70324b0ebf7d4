import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { durationText } from '../../../src/config/units/duration.ts'
import { bytesText, parseBytes, parseQuantity } from '../../../src/config/units/quantity.ts'
import { parseDuration } from '../../../src/core/duration.ts'

describe('quantities', () => {
  it.each([
    ['5000', 5000], ['1G', 1e9], ['1Gi', 1_073_741_824], ['1.5k', 1500], ['100m', 0.1], ['1e3', 1000], ['2E', 2e18], ['.5Mi', 524_288], [7, 7],
  ])('%s is %d', (given, expected) => {
    expect(parseQuantity(given)).toBeCloseTo(expected, 9)
  })

  it.each(['', 'G', '1GB', '1 G', '1K', 'x', '1e', '--1', null, Number.NaN, true])('%s is none', (given) => {
    expect(parseQuantity(given)).toBeUndefined()
  })
})

describe('sizes', () => {
  it.each([['20GB', 20e9], ['512MiB', 536_870_912], ['1Gi', 1_073_741_824], ['1048576', 1_048_576], ['1.5KB', 1500], ['0', 0]])('%s is %d bytes', (given, expected) => {
    expect(parseBytes(given)).toBe(expected)
  })

  it.each(['', '-1', 'GB', '5 MB', '1e30', 'ten'])('%s is none', (given) => {
    expect(parseBytes(given)).toBeUndefined()
  })

  it('read back as they were written', () => {
    fc.assert(fc.property(fc.nat({ max: Number.MAX_SAFE_INTEGER }), (bytes) => parseBytes(bytesText(bytes)) === bytes))
  })
})

describe('durations', () => {
  it.each([[400, '400ms'], [90_000, '1m30s'], [86_400_000, '24h'], [0, '0s'], [-1500, '-1s500ms'], [0.25, '0.25ms']])('%d ms is %s', (ms, text) => {
    expect(durationText(ms)).toBe(text)
  })

  it('read back as they were written', () => {
    fc.assert(fc.property(fc.integer({ min: -1e12, max: 1e12 }), (ms) => parseDuration(durationText(ms)) === ms))
  })
})
