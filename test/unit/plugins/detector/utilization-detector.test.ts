import { describe, expect, it } from 'vitest'
import { millis } from '../../../../src/core/instant.ts'
import { utilizationDetector, type UtilizationDetector } from '../../../../src/plugins/detector/utilization-detector/index.ts'
import { context, Desk, endpoint, make, request } from '../given.ts'

const NOW = 1_000_000_000

const heard = (name: string, waitingQueueSize: number, kvCacheUsage: number, ageMs = 0) => endpoint(name, { waitingQueueSize, kvCacheUsage, heardAt: NOW - millis(ageMs) })

const desk = (): Desk => Object.assign(new Desk(), { time: NOW })

const detector = (parameters: unknown = undefined, at: Desk = desk()): UtilizationDetector => make(utilizationDetector, parameters, at)

describe('utilization-detector as a detector', () => {
  it('takes the fuller side of each endpoint and the mean of all', () => {
    expect(detector().saturation([heard('a', 5, 0.4), heard('b', 0, 0.4)], NOW)).toBe(0.75)
  })

  it('counts a stale endpoint as full, and one never heard', () => {
    expect(detector().saturation([heard('a', 0, 0, 201), heard('b', 0, 0, 200), endpoint('c')], NOW)).toBeCloseTo(2 / 3, 12)
  })

  it('finds an empty pool full', () => expect(detector().saturation([], NOW)).toBe(1))

  it('goes above 1', () => expect(detector().saturation([heard('a', 10, 0)], NOW)).toBe(2))

  it('tells how many are stale when that changes', () => {
    const at = desk()
    const one = detector(undefined, at)
    one.saturation([heard('a', 0, 0, 999)], NOW)
    one.saturation([heard('a', 0, 0, 999)], NOW)
    one.saturation([heard('a', 0, 0)], NOW)
    expect(at.observations.map(({ value }) => value)).toEqual([1, 0])
  })
})

describe('utilization-detector as a filter', () => {
  it('keeps fresh endpoints under both thresholds', () => {
    const good = heard('good', 4, 0.79)
    expect(detector().filter(request(), [heard('long', 5, 0), heard('full', 0, 0.8), good, heard('old', 0, 0, 500)])).toEqual([good])
  })

  it('lets headroom go beyond', () => {
    const one = heard('a', 5, 0.9)
    expect(detector({ headroom: 0.2 }).filter(request(), [one, heard('b', 6, 0)])).toEqual([one])
  })

  it('keeps all when none is left, and the same list when nothing goes', () => {
    const all = [heard('a', 9, 0), heard('b', 9, 0)]
    expect(detector().filter(request(), all)).toBe(all)
    const good = [heard('a', 0, 0)]
    expect(detector().filter(request(), good)).toBe(good)
  })
})

describe('utilization-detector parameters', () => {
  it('says all that is wrong at once', () => {
    const wrong = { queueDepthThreshold: 0, kvCacheUtilThreshold: 1.1, metricsStalenessThreshold: '0s', headroom: -1 }
    expect(() => detector(wrong)).toThrow(/queueDepthThreshold must be strictly positive.*kvCacheUtilThreshold must be in \(0\.0, 1\.0\].*metricsStalenessThreshold.*headroom/)
  })

  it('warns of a headroom that looks like a percentage', () => {
    const given = context({ headroom: 20 })
    utilizationDetector.create(given)
    expect(given.warnings[0]).toContain('it is a fraction')
  })
})
