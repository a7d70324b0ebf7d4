import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { percentiles } from '../../../../src/simulation/play/percentiles.ts'

describe('percentiles', () => {
  it('takes the nearest rank', () => {
    expect(percentiles(Array.from({ length: 100 }, (_, i) => 100 - i))).toEqual({ p50: 50, p90: 90, p99: 99 })
    expect(percentiles([7])).toEqual({ p50: 7, p90: 7, p99: 7 })
    expect(percentiles([3, 1])).toEqual({ p50: 1, p90: 3, p99: 3 })
  })

  it('has nothing to say of nothing', () => {
    expect(percentiles([])).toEqual({ p50: null, p90: null, p99: null })
  })

  it('is the smallest value with enough values at or below it', () => {
    fc.assert(fc.property(fc.array(fc.double({ noNaN: true, min: 0, max: 1e9 }), { minLength: 1 }), (values) => {
      const { p50, p90, p99 } = percentiles(values)
      for (const [share, value] of [[0.5, p50], [0.9, p90], [0.99, p99]] as const) {
        expect(values).toContain(value)
        expect(values.filter((other) => other <= (value as number)).length).toBeGreaterThanOrEqual(share * values.length)
        expect(values.filter((other) => other < (value as number)).length).toBeLessThan(share * values.length)
      }
    }))
  })
})
