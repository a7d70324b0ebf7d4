import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { foldedAxis, plainAxis, tickStep } from '../../../src/visualizer/fleet/time-axis.ts'

const S = 1_000_000
const bars = (...pairs: readonly (readonly [number, number])[]): [Float64Array, Float64Array] => [Float64Array.from(pairs, ([from]) => from), Float64Array.from(pairs, ([, to]) => to)]

describe('a plain axis', () => {
  it('is as long as the time and leads back', () => {
    const axis = plainAxis(100, 600)
    expect([axis.length, axis.place(350), axis.time(250), axis.folds]).toEqual([500, 250, 350, []])
  })
})

describe('a folded axis', () => {
  it('leaves out the middle of a long gap and nothing else', () => {
    const axis = foldedAxis(0, 100 * S, ...bars([0, 10 * S], [90 * S, 100 * S]))
    expect(axis.length).toBe(20.2 * S)
    expect(axis.folds).toEqual([10.1 * S])
    expect(axis.place(90 * S)).toBe(10.2 * S)
    expect(axis.place(50 * S)).toBe(10.1 * S)
    expect(axis.time(10.2 * S)).toBe(90 * S)
  })

  it('keeps a gap that is short, and counts an open bar as busy to the end', () => {
    expect(foldedAxis(0, 10 * S, ...bars([0, 4 * S], [4.5 * S, 10 * S])).length).toBe(10 * S)
    expect(foldedAxis(0, 100 * S, ...bars([0, NaN])).length).toBe(100 * S)
  })

  it('never runs backwards, and every bar keeps its length', () => {
    const pair = fc.tuple(fc.integer({ min: 0, max: 900 }), fc.integer({ min: 0, max: 100 }))
    fc.assert(fc.property(fc.array(pair, { maxLength: 30 }), (list) => {
      const pairs = list.map(([from, length]) => [from * S, (from + length) * S] as const)
      const axis = foldedAxis(0, 1000 * S, ...bars(...pairs))
      for (const [from, to] of pairs) expect(axis.place(to) - axis.place(from)).toBeCloseTo(to - from, 3)
      const places = Array.from({ length: 101 }, (_, i) => axis.place(i * 10 * S))
      expect(places.toSorted((a, b) => a - b)).toEqual(places)
      for (const [from] of pairs) expect(axis.time(axis.place(from))).toBeCloseTo(from, 3)
    }))
  })
})

describe('ticks', () => {
  it.each([[1, 1, 100, 100], [1000, 1, 100, 100_000], [28, 1, 100, 5000], [1e6, 1, 110, 120e6]])('at %d us a pixel are a round time apart', (perPixel, _, pixels, step) => {
    expect(tickStep(perPixel, pixels)).toBe(step)
  })
})
