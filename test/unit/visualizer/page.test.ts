import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { arrowHead, isActive, isLit, refusedEdge, roundedPath, strokeOf } from '../../../src/visualizer/machines/geometry.ts'
import { candidateRows } from '../../../src/visualizer/receipt/candidates.ts'
import { rowWindow } from '../../../src/visualizer/records/window.ts'
import { linkTo, placeOf, VIEWS } from '../../../src/visualizer/state/link.ts'
import { nextWhere } from '../../../src/visualizer/state/search.ts'
import { countText, durationText, kindText, scoreText, shortText, timeText } from '../../../src/visualizer/state/text.ts'
import { density } from '../../../src/visualizer/time/density.ts'
import { emptyProfileReceipt } from '../../../src/wire/decision.ts'

describe('a link', () => {
  it('leads to the place it was made from', () => {
    const position = fc.option(fc.integer({ min: 1, max: 1e15 - 1 }), { nil: undefined })
    const span = fc.option(fc.tuple(fc.integer({ min: 0, max: 1e15 }), fc.integer({ min: 1, max: 1e15 })).map(([from, length]) => [from, from + length] as const), { nil: undefined })
    fc.assert(fc.property(fc.constantFrom(...VIEWS), position, position, span, (view, at, request, stretch) => {
      const place = { view, at, request, span: stretch }
      expect(placeOf(linkTo(place))).toEqual(place)
    }))
  })

  it.each(['', '#', '#/nowhere?at=x', '#/fleet?span=9-3', '#/fleet?at=-1'])('"%s" that cannot be read leads to the fleet', (fragment) => {
    expect(placeOf(fragment)).toEqual({ view: 'fleet', at: undefined, request: undefined, span: undefined })
  })
})

describe('texts', () => {
  it.each([[5, '5 µs'], [1500, '1.5 ms'], [46_000, '46 ms'], [2_345_000, '2.35 s'], [90e6, '1.5 min'], [7200e6, '2 h'], [NaN, '–']])('%d us read %s', (us, text) => {
    expect(durationText(us)).toBe(text)
  })

  it('leave out the namespace that nobody set, and no other', () => {
    expect(['default/a', 'decode on default/a: ahead of default/b', 'other/default/c'].map(shortText)).toEqual(['a', 'decode on a: ahead of b', 'other/default/c'])
  })

  it('are plain', () => {
    expect([timeText(1_700_000_000_123_456), countText(1234567), scoreText(0.123456), kindText('requestReceived')]).toEqual(['22:13:20.123', '1\u202f234\u202f567', '0.1235', 'request received'])
  })
})

describe('the rows of a list', () => {
  it('are those seen, with some around, and never others than there are', () => {
    fc.assert(fc.property(fc.integer({ min: 0, max: 1e6 }), fc.integer({ min: 0, max: 3e7 }), fc.integer({ min: 1, max: 2000 }), (rows, scroll, height) => {
      const { first, count } = rowWindow(rows, 26, scroll, height)
      expect(first).toBeGreaterThanOrEqual(0)
      expect(first + count).toBeLessThanOrEqual(rows)
      expect(count).toBeLessThanOrEqual(height / 26 + 22)
    }))
  })
})

describe('a search', () => {
  it('finds the next either way, and nothing beyond the ends', () => {
    const even = (i: number): boolean => i % 4 === 0
    expect([nextWhere(10, 1, 1, even), nextWhere(10, 7, -1, even), nextWhere(10, 8, 1, even), nextWhere(10, 0, -1, even)]).toEqual([4, 4, undefined, undefined])
  })
})

describe('the density of records', () => {
  it('stands highest where they come fastest, and tells marks', () => {
    const { rates, marked } = density(Float64Array.of(0, 1, 2, 3, 100, 200, 300, 400), Float64Array.of(0, 0, 2, 0, 0, 0, 0, 0), 2, 2)
    expect(rates[0]).toBe(1)
    expect(rates[1]).toBeCloseTo(Math.sqrt(1 / 3))
    expect(marked).toEqual([1, 0])
  })
})

describe('candidates', () => {
  const receipt = {
    ...emptyProfileReceipt(), candidates: ['a', 'b', 'c', 'd'], filters: [{ plugin: 'full', removed: ['d'] }], survivors: ['a', 'b', 'c'],
    scorers: [{ plugin: 's', weight: 2, raw: [0.5, 1.5, NaN] }], totals: [1, 2, 0], metricAgesUs: [10, -1, 30],
    decision: { profile: 'p', stage: 'decode', picks: [{ endpoint: 'b', score: 2 }], margin: 1, runnerUp: 'a', ties: 1, draws: [], candidates: 4, survivors: 3, error: '' },
  }

  it('come picks first, then by total, then those that filters removed', () => {
    expect(candidateRows(receipt).map(({ id, removedBy }) => [id, removedBy])).toEqual([['b', undefined], ['a', undefined], ['c', undefined], ['d', 'full']])
  })

  it('weigh raw scores as the profile does: clamped, NaN as nothing', () => {
    expect(candidateRows(receipt).slice(0, 3).map(({ weighted }) => weighted)).toEqual([[2], [1], [0]])
  })
})

describe('a statechart', () => {
  const edge = { id: 'a.b:go:0', source: 'a.b', targets: ['c'], guard: 'not isFull and isReady', actions: [], kind: 'event' as const, event: 'go', label: '', labelX: 0, labelY: 0, labelWidth: 0, points: [[0, 0], [0, 10]] as const }

  it('lights a state and all around it', () => {
    expect(['a', 'a.b', 'a.bc', 'c'].map((state) => isActive(state, ['a.b']))).toEqual([true, true, false, false])
  })

  it('names the guard that held an edge back, where the actor is', () => {
    expect(refusedEdge(edge, ['a.b'], ['isReady'], [])).toBe('isReady')
    expect(refusedEdge(edge, ['c'], ['isReady'], [])).toBeUndefined()
    expect(refusedEdge(edge, ['a.b'], ['isReady'], ['a.b:go:0'])).toBeUndefined()
  })

  it('points arrows along the last stretch', () => {
    expect(arrowHead([[0, 0], [0, 10], [0, 10]])).toBe('0,10 -3.5,3 3.5,3')
  })

  it('bends ways roundly, less where there is little room', () => {
    expect(roundedPath([[0, 0], [0, 20], [6, 20], [6, 40]])).toBe('M0 0L0 13Q0 20 3 20L3 20Q6 20 6 27L6 40')
    expect(roundedPath([[1, 2], [1, 2], [1, 9]])).toBe('M1 2L1 2Q1 2 1 5.5L1 9')
  })

  it('lights the one of an end that was come to last, and all of them where that is not known', () => {
    const end = { id: 'done', key: 'done', kind: 'final' as const, parent: '', isInitial: false, description: null, entry: [], entered: ['a:go:0'], x: 0, y: 0, width: 1, height: 1 }
    expect([isLit(end, ['done'], 'a:go:0'), isLit(end, ['done'], 'b:go:0'), isLit(end, ['done'], undefined), isLit(end, ['a'], 'a:go:0')]).toEqual([true, false, true, false])
  })

  it('draws what is taken more often thicker', () => {
    expect([0, 1, 10, 100].map((count) => strokeOf(count, 100))).toEqual([1, 1.3 + 2.2 / Math.log2(101), 1.3 + (2.2 * Math.log2(11)) / Math.log2(101), 3.5])
  })
})
