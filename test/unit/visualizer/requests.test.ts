import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { histogram, percentile, shareOf, valueAt } from '../../../src/visualizer/requests/histogram.ts'
import { metricOf, NO_FILTERS, selectRows } from '../../../src/visualizer/requests/selection.ts'
import type { RequestData } from '../../../src/visualizer/worker/messages.ts'

const requests: RequestData = {
  key: Float64Array.of(1, 2, 3), receivedAt: Float64Array.of(100, 200, 300), decidedAt: Float64Array.of(100, 200, 300),
  sentAt: Float64Array.of(110, 220, NaN), firstByteAt: Float64Array.of(150, 400, NaN), endedAt: Float64Array.of(300, 900, NaN),
  outcome: Float64Array.of(1, 3, 0), model: Float64Array.of(0, 1, 0), decisionType: Float64Array.of(1, 0, 1), lane: Float64Array.of(0, 1, -1),
  attempts: Float64Array.of(1, 2, 0), promptTokens: Float64Array.of(10, 20, 30), outputTokens: Float64Array.of(1, 2, 0),
  ids: ['one', 'two', 'three'], models: ['m', 'n'], decisionTypes: ['', 'prefill-decode'],
}

describe('a histogram', () => {
  it('counts every value once, in the bin whose bounds hold it', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 10_000_000 }), { minLength: 1, maxLength: 200 }), (values) => {
      const { bounds, counts, end, total } = histogram(values)
      expect(total).toBe(values.length)
      expect(counts.reduce((a, b) => a + b)).toBe(values.length)
      counts.forEach((count, i) => {
        const next = bounds[i + 1] ?? end
        expect(values.filter((value) => value >= (bounds[i] as number) && value < next).length).toBe(count)
      })
    }))
  })

  it('leaves out what is not known', () => {
    expect(histogram([NaN, 5, NaN]).total).toBe(1)
    expect(histogram([]).counts).toEqual([])
  })

  it('leads from a value to its place and back', () => {
    const bins = histogram([10, 100, 1000])
    for (const value of [10, 47, 999]) expect(valueAt(bins, shareOf(bins, value))).toBeCloseTo(value, 6)
  })
})

describe('percentiles', () => {
  it.each([[0.5, 2], [0.9, 4], [0.99, 4], [0, 1]])('%d is of nearest rank', (share, value) => {
    expect(percentile([1, 2, 3, 4], share)).toBe(value)
  })

  it('of nothing are none', () => {
    expect(percentile([], 0.5)).toBeNaN()
  })
})

describe('a selection', () => {
  it.each([
    ['everything', {}, [0, 1, 2]],
    ['a model', { model: 'm' }, [0, 2]],
    ['an outcome', { outcome: 'failed' }, [1]],
    ['an endpoint', { lane: 0 }, [0]],
    ['a decision', { decisionType: 'prefill-decode' }, [0, 2]],
    ['part of an id', { text: 'o' }, [0, 1]],
    ['a brush', { brushes: { firstToken: [100, 1000] as const } }, [1]],
    ['two brushes', { brushes: { firstToken: [0, 1000] as const, endToEnd: [0, 300] as const } }, [0]],
  ])('by %s', (_, filters, rows) => {
    expect(selectRows(requests, { ...NO_FILTERS, ...filters })).toEqual(rows)
  })

  it('for a histogram does not look at its own brush', () => {
    expect(selectRows(requests, { ...NO_FILTERS, brushes: { firstToken: [100, 1000] } }, 'firstToken')).toEqual([0, 1, 2])
  })

  it('measures from the arrival', () => {
    expect((['firstToken', 'queue', 'endToEnd'] as const).map((metric) => metricOf(requests, metric, 1))).toEqual([200, 20, 700])
    expect(metricOf(requests, 'endToEnd', 2)).toBeNaN()
  })
})
