import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { clamp01, descending, naturalLogarithm, power, roundHalfAway } from '../../../src/core/numeric.ts'

const units = (a: number, b: number): number => Math.abs(a - b) / Math.max(Number.EPSILON * Math.abs(b), Number.MIN_VALUE)

describe('naturalLogarithm', () => {
  it('is within 2 units in the last place of the true value', () => {
    fc.assert(
      fc.property(fc.double({ min: Number.MIN_VALUE, max: Number.MAX_VALUE, noNaN: true }), (x) => {
        expect(units(naturalLogarithm(x), Math.log(x))).toBeLessThanOrEqual(2)
      }),
    )
  })

  it('has these very bits, on every machine', () => {
    const bits = (x: number): string => {
      const view = new DataView(new ArrayBuffer(8))
      view.setFloat64(0, naturalLogarithm(x))
      return view.getBigUint64(0).toString(16)
    }
    expect([0.5, 0.1, 2 ** -32, 3, 5e-324].map(bits)).toEqual(['bfe62e42fefa39ef', 'c0026bb1bbb55515', 'c0362e42fefa39ef', '3ff193ea7aad030b', 'c0874385446d71c3'])
  })

  it('knows the ends of its range', () => {
    expect([1, 0, -1, NaN, Infinity].map(naturalLogarithm)).toEqual([0, -Infinity, NaN, NaN, Infinity])
  })

  it('rises', () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-300, max: 1e300, noNaN: true }), fc.double({ min: 1.0000001, max: 10, noNaN: true }), (x, by) => {
        expect(naturalLogarithm(x * by)).toBeGreaterThan(naturalLogarithm(x))
      }),
    )
  })
})

describe('power', () => {
  it('is the power', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 100, noNaN: true }), fc.double({ min: 0, max: 12, noNaN: true }), (x, exponent) => {
        const truth = Math.pow(x, exponent)
        // Below the normal numbers each of up to 64 multiplications may be off by half of the smallest one.
        expect(Math.abs(power(x, exponent) - truth)).toBeLessThanOrEqual(1e-12 * truth + 32 * Number.MIN_VALUE)
      }),
    )
  })

  it('has the usual edges', () => {
    expect([power(0, 0), power(0, 0.5), power(2, 10), power(9, 0.5), power(1.5, 2)]).toEqual([1, 0, 1024, 3, 2.25])
    expect(power(9.520300394899097e-29, 11.54859608361835)).toBeLessThanOrEqual(2 * Number.MIN_VALUE)
  })
})

describe('roundHalfAway', () => {
  it('takes halves away from zero and the nearest number else', () => {
    expect([0.5, 1.5, -0.5, -2.5, 2.4, 0.49999999999999994, 4503599627370497.5].map(roundHalfAway)).toEqual([1, 2, -1, -3, 2, 0, 4503599627370498])
  })
})

describe('clamp01', () => {
  it('keeps what is in [0, 1] and takes NaN for 0', () => {
    expect([-1, 0, 0.3, 1, 2, NaN, Infinity, -Infinity].map(clamp01)).toEqual([0, 0, 0.3, 1, 1, 0, 1, 0])
  })
})

describe('descending', () => {
  it('puts what is not a number last, whatever the order it came in', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray([1, NaN, 3, 2, -Infinity], { minLength: 5 }), (numbers) => {
        expect([...numbers].sort(descending)).toEqual([3, 2, 1, -Infinity, NaN])
      }),
    )
  })
})
