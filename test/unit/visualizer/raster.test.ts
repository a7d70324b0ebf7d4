import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { barAt } from '../../../src/visualizer/fleet/bar-at.ts'
import { barPlaces } from '../../../src/visualizer/fleet/bar-places.ts'
import { mixed, packed } from '../../../src/visualizer/fleet/colours.ts'
import { packBars } from '../../../src/visualizer/fleet/packing.ts'
import { rasterize, stripHeight } from '../../../src/visualizer/fleet/raster.ts'
import type { LanePicture, LaneView, Palette } from '../../../src/visualizer/fleet/raster.ts'
import { plainAxis } from '../../../src/visualizer/fleet/time-axis.ts'

interface Bar {
  readonly lane: number
  readonly from: number
  readonly to: number
  readonly firstByte?: number
  readonly stage?: number
  readonly outcome?: number
}

const PALETTE: Palette = { ground: 1, line: 2, absent: 3, stale: 4, unreachable: 5, bad: 6, kv: 7, queue: 8, chosen: 9, stages: [[10, 11], [12, 13], [14, 15]] }
const column = (bars: readonly Bar[], of: (bar: Bar, i: number) => number): Float64Array => Float64Array.from(bars, of)

const pictureOf = (lanes: number, bars: readonly Bar[], chosen?: number): LanePicture => {
  const from = column(bars, (bar) => bar.from)
  const to = column(bars, (bar) => bar.to)
  const lane = column(bars, (bar) => bar.lane)
  const none = new Float64Array(0)
  const axis = plainAxis(0, 100)
  const data = {
    lane, from, to, stage: column(bars, (bar) => bar.stage ?? 0), request: column(bars, (_, i) => i + 1), attempt: column(bars, () => 1),
    sent: from, firstByte: column(bars, (bar) => bar.firstByte ?? NaN), outcome: column(bars, (bar) => bar.outcome ?? 1),
  }
  return {
    axis, places: barPlaces(data, axis, 100), bars: data, chosen, now: 100, strip: { of: 'reported', areaMax: 1, lineMax: 10 }, packing: packBars(lanes, lane, from, to),
    lanes: Array.from({ length: lanes }, (_, i) => ({
      id: `e${i}`, role: '', spells: [{ kind: 'alive' as const, from: 0, to: NaN, incarnation: '1' }],
      reportedAt: none, waiting: none, running: none, kvCache: none, loadAt: none, requests: none, tokens: none,
    })),
  }
}

const viewOf = (lanes: number, laneHeight: number, more: Partial<LaneView> = {}): LaneView => ({ width: 100, height: Math.ceil(lanes * laneHeight), order: [...Array(lanes).keys()], laneHeight, top: 0, left: 0, right: 100, ...more })

const draw = (view: LaneView, picture: LanePicture): { at: (x: number, y: number) => number; drawn: ReturnType<typeof rasterize> } => {
  const pixels = new Uint32Array(view.width * view.height)
  const drawn = rasterize(pixels, view, picture, PALETTE)
  return { drawn, at: (x, y) => pixels[y * view.width + x] as number }
}

describe('bars', () => {
  it('turn from waiting to serving at the first byte, and end where they end', () => {
    const { at } = draw(viewOf(1, 20), pictureOf(1, [{ lane: 0, from: 10, firstByte: 30, to: 60 }]))
    expect([at(9, 3), at(10, 3), at(29, 3), at(30, 3), at(59, 3), at(60, 3)]).toEqual([1, 10, 10, 11, 11, 1])
  })

  it('that are far from what is seen are not looked at one by one', () => {
    const many = pictureOf(10, Array.from({ length: 10_000 }, (_, i) => ({ lane: i % 10, from: i / 100, to: i / 100 + 0.05 })))
    const { drawn } = draw(viewOf(10, 20, { left: 50, right: 51 }), many)
    expect(drawn.bars).toBeGreaterThan(99)
    expect(drawn.looked).toBeLessThan(800)
  })

  it('that failed end in the colour of what is bad', () => {
    const { at } = draw(viewOf(1, 20), pictureOf(1, [{ lane: 0, from: 10, firstByte: 20, to: 60, outcome: 3 }]))
    expect([at(56, 3), at(57, 3), at(59, 3)]).toEqual([11, 6, 6])
  })

  it('that are still open go on until now', () => {
    expect(draw(viewOf(1, 20), pictureOf(1, [{ lane: 0, from: 10, to: NaN }])).at(99, 3)).toBe(10)
  })

  it('shorter than a pixel are a pixel', () => {
    expect(draw(viewOf(1, 20), pictureOf(1, [{ lane: 0, from: 50, firstByte: 50, to: 50.001 }])).at(50, 3)).toBe(11)
  })

  it('of a lane with more rows than pixels become heights of what is in flight', () => {
    const bars = Array.from({ length: 40 }, (_, i) => ({ lane: 0, from: i, firstByte: i < 20 ? 60 : NaN, to: 100 }))
    const { at, drawn } = draw(viewOf(1, 10), pictureOf(1, bars))
    expect(drawn).toEqual({ bars: 40, looked: 40, dense: 1 })
    expect(at(5, 1)).toBe(1)
    expect([at(5, 8), at(50, 8), at(50, 1)]).toEqual([10, 10, 10])
    // Of forty half are served: what waits stands on top.
    expect([at(90, 8), at(90, 5), at(90, 3), at(90, 1)]).toEqual([11, 11, 10, 10])
  })

  it('outside of what is seen are not drawn', () => {
    const picture = pictureOf(3, [{ lane: 0, from: 0, to: 5 }, { lane: 2, from: 0, to: 100 }, { lane: 1, from: 90, to: 95 }])
    expect(draw(viewOf(3, 20, { left: 10, right: 50, height: 40 }), picture).drawn.bars).toBe(0)
  })

  it('are found again where they were drawn, each of 50', () => {
    const bars = Array.from({ length: 50 }, (_, i) => ({ lane: i % 5, from: i * 2, firstByte: i * 2, to: i * 2 + 6 }))
    const view = viewOf(5, 40)
    const picture = pictureOf(5, bars)
    bars.forEach(({ lane, from }, i) => {
      const height = Math.min(12, (40 - stripHeight(40) - 2) / (picture.packing.rows[lane] as number))
      expect(barAt(view, picture, from + 3, lane * 40 + 2 + (picture.packing.row[i] as number) * height)).toBe(i)
    })
  })
})

describe('a lane', () => {
  it('shows when it was not there, stale and unreachable', () => {
    const picture = pictureOf(1, [])
    const spells = [
      { kind: 'alive' as const, from: 20, to: 80, incarnation: '1' }, { kind: 'stale' as const, from: 30, to: 40, incarnation: '' },
      { kind: 'unreachable' as const, from: 50, to: 60, incarnation: '' },
    ]
    const { at } = draw(viewOf(1, 20), { ...picture, lanes: picture.lanes.map((lane) => ({ ...lane, spells })) })
    expect([at(10, 5), at(25, 5), at(35, 5), at(55, 5), at(90, 5)]).toEqual([3, 1, 4, 5, 3])
  })

  it('shows KV use as an area, and the queue over it', () => {
    const picture = pictureOf(1, [])
    const reported = { reportedAt: Float64Array.of(0, 50), waiting: Float64Array.of(0, 10), running: Float64Array.of(0, 0), kvCache: Float64Array.of(0.5, 0) }
    const { at } = draw(viewOf(1, 40), { ...picture, lanes: picture.lanes.map((lane) => ({ ...lane, ...reported })) })
    const strip = stripHeight(40)
    expect(at(10, 38)).toBe(7)
    expect(at(10, 40 - strip + 1)).toBe(1)
    expect(at(70, 40 - strip)).toBe(8)
  })

  it('shows tokens and requests in flight in place of them, each up to its most', () => {
    const picture = { ...pictureOf(1, []), strip: { of: 'load' as const, areaMax: 1000, lineMax: 4 } }
    const load = { loadAt: Float64Array.of(0, 50), tokens: Float64Array.of(500, 0), requests: Float64Array.of(0, 4) }
    const { at } = draw(viewOf(1, 40), { ...picture, lanes: picture.lanes.map((lane) => ({ ...lane, ...load })) })
    expect([at(10, 38), at(10, 40 - stripHeight(40) + 1), at(70, 40 - stripHeight(40))]).toEqual([7, 1, 8])
  })
})

describe('packing', () => {
  it('lets no two bars of a lane and row overlap, and needs as many rows as overlap at most', () => {
    const bar = fc.record({ lane: fc.integer({ min: 0, max: 3 }), from: fc.integer({ min: 0, max: 80 }), length: fc.integer({ min: 1, max: 20 }) })
    fc.assert(fc.property(fc.array(bar, { maxLength: 60 }), (list) => {
      const bars = list.toSorted((a, b) => a.from - b.from)
      const { row, rows } = packBars(4, Float64Array.from(bars, ({ lane }) => lane), Float64Array.from(bars, ({ from }) => from), Float64Array.from(bars, ({ from, length }) => from + length))
      bars.forEach((a, i) => bars.slice(0, i).forEach((b, j) => {
        if (a.lane === b.lane && row[i] === row[j]) expect(b.from + b.length).toBeLessThanOrEqual(a.from)
      }))
      for (let lane = 0; lane < 4; lane += 1) {
        const most = Math.max(0, ...bars.filter((each) => each.lane === lane).map(({ from }) => bars.filter((each) => each.lane === lane && each.from <= from && each.from + each.length > from).length))
        expect(rows[lane]).toBe(most)
      }
    }))
  })
})

describe('colours', () => {
  it('are packed as a picture wants them, long and short', () => {
    expect([packed('#123456'), packed(' #fff')]).toEqual([0xff563412, 0xffffffff])
  })

  it('are mixed channel by channel', () => {
    expect(mixed(packed('#000000'), packed('#ff8000'), 0.5)).toBe(packed('#804000'))
  })
})
