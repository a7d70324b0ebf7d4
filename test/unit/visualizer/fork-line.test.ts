import { describe, expect, it } from 'vitest'
import { linePath } from '../../../src/visualizer/fork/line.ts'

describe('a line over time', () => {
  it('goes from left to right, the most at the top, with gaps where nothing is known', () => {
    expect(linePath([0, 5, NaN, 10, 10], 10, 40, 20)).toBe('M0 20L10 10M30 0L40 0')
  })

  it('of nothing or of nothing but zeros is still a line', () => {
    expect([linePath([], 0, 40, 20), linePath([0, 0], 0, 40, 20)]).toEqual(['', 'M0 20L40 20'])
  })
})
