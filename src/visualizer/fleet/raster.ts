import type { BarData, LaneData } from '../worker/messages.ts'
import { lastAtMost } from '../state/search.ts'
import { BLOCK } from './bar-places.ts'
import type { BarPlaces } from './bar-places.ts'
import type { Packing } from './packing.ts'
import type { TimeAxis } from './time-axis.ts'

/** What is seen of the lanes; lengths in pixels of the picture. */
export interface LaneView {
  readonly width: number
  readonly height: number
  /** Lanes in the order in which they are drawn, by number. */
  readonly order: readonly number[]
  readonly laneHeight: number
  readonly top: number
  /** Places on the axis at the left and right edge. */
  readonly left: number
  readonly right: number
}

/** Colours as they lie in a picture: 0xAABBGGRR. */
export interface Palette {
  readonly ground: number
  readonly line: number
  readonly absent: number
  readonly stale: number
  readonly unreachable: number
  readonly bad: number
  readonly kv: number
  readonly queue: number
  readonly chosen: number
  /** By stage: waiting for the first byte, then serving. */
  readonly stages: readonly (readonly [waiting: number, serving: number])[]
}

export interface LanePicture {
  readonly axis: TimeAxis
  readonly places: BarPlaces
  readonly lanes: readonly LaneData[]
  readonly bars: BarData
  readonly packing: Packing
  readonly chosen: number | undefined
  /** What bars and spells that still last end at. */
  readonly now: number
  /** What the strip under each lane shows. */
  readonly strip: Strip
}

/** What stands under the lanes: an area and a line, each with the value at the top. */
export interface Strip {
  readonly of: 'reported' | 'load'
  readonly areaMax: number
  readonly lineMax: number
}

/** What a picture took; pixels are put on the screen in one call, however many bars there are. */
export interface Drawn {
  readonly bars: number
  /** Bars looked at one by one, to find those. */
  readonly looked: number
  /** Lanes drawn as heights of how much was in flight, since their rows would be thinner than a pixel. */
  readonly dense: number
}

/** Height of the strip of attributes under a lane; none where the lane is low. */
export const stripHeight = (laneHeight: number): number => (laneHeight >= 30 ? Math.floor(laneHeight * 0.3) : 0)

const FAILED_FROM = 2
/** Up to so many pixels are set one by one: that is faster than to ask for it. */
const SHORT = 48
const NO_STAGE: readonly [number, number] = [0, 0]
/** Lanes lower than this show bars over one another: heights could not be told apart. */
const HEIGHTS_MIN = 4

/** Draws all that is seen into a picture. */
export const rasterize = (pixels: Uint32Array, view: LaneView, picture: LanePicture, palette: Palette): Drawn => {
  pixels.fill(palette.ground)
  const raster = new Raster(pixels, view, picture, palette)
  return raster.draw()
}

/** A lane drawn as heights: by column of pixels, by how much each count changes there. */
interface Heights {
  /** Gives the colour. */
  stage: number
  readonly inFlight: Int32Array
  readonly served: Int32Array
}

class Raster {
  private readonly pixels: Uint32Array
  private readonly view: LaneView
  private readonly picture: LanePicture
  private readonly palette: Palette
  private readonly perPixel: number
  /** Place in the order, by lane; -1 when it is not on the screen. */
  private readonly places: Int32Array
  private readonly columns = new Map<number, Heights>()

  constructor(pixels: Uint32Array, view: LaneView, picture: LanePicture, palette: Palette) {
    this.pixels = pixels
    this.view = view
    this.picture = picture
    this.palette = palette
    this.perPixel = (view.right - view.left) / view.width
    this.places = new Int32Array(picture.lanes.length).fill(-1)
    view.order.forEach((lane, place) => {
      const y = this.y(place)
      if (y + view.laneHeight > 0 && y < view.height) this.places[lane] = place
    })
  }

  draw(): Drawn {
    const { view, picture } = this
    view.order.forEach((lane, place) => {
      if (this.places[lane] !== place) return
      this.background(picture.lanes[lane] as LaneData, place)
    })
    const { bars, looked } = this.bars()
    for (const [lane, counts] of this.columns) this.dense(lane, counts)
    return { bars, looked, dense: this.columns.size }
  }

  private y(place: number): number {
    return Math.floor(place * this.view.laneHeight - this.view.top)
  }

  private x(us: number): number {
    return Math.floor((this.picture.axis.place(us) - this.view.left) / this.perPixel)
  }

  private background(lane: LaneData, place: number): void {
    const { view, palette } = this
    const top = this.y(place)
    // To where the next lane begins: rounded by itself it would leave gaps between low lanes.
    const bottom = this.y(place + 1)
    this.fill(0, view.width, top, bottom, palette.absent)
    for (const kind of ['alive', 'draining', 'stale', 'unreachable'] as const) {
      const colour = kind === 'alive' ? palette.ground : kind === 'unreachable' ? palette.unreachable : palette.stale
      for (const spell of lane.spells) {
        if (spell.kind !== kind) continue
        const from = this.x(spell.from)
        this.fill(from, Math.max(from + 1, this.x(Number.isNaN(spell.to) ? this.picture.now : spell.to)), top, bottom, colour)
        // Where one life begins after another.
        if (kind === 'alive' && from > 0) this.fill(from, from + 1, top, bottom, palette.line)
      }
    }
    const strip = stripHeight(view.laneHeight)
    if (strip > 0) this.strip(lane, bottom - strip, bottom - 1)
    if (view.laneHeight >= 6) this.fill(0, view.width, bottom - 1, bottom, palette.line)
  }

  /** An area, and a line over it: KV use and the queue, or tokens and requests in flight. */
  private strip(lane: LaneData, top: number, bottom: number): void {
    const { view, palette, picture } = this
    const height = bottom - top
    const { of, areaMax, lineMax } = picture.strip
    const [at, area, line] = of === 'reported' ? [lane.reportedAt, lane.kvCache, lane.waiting] : [lane.loadAt, lane.tokens, lane.requests]
    let sample = -1
    let before = -1
    for (let x = 0; x < view.width; x += 1) {
      const us = picture.axis.time(view.left + (x + 1) * this.perPixel)
      if (us > picture.now) break
      if (sample < 0) sample = lastAtMost(at, us)
      while (sample + 1 < at.length && (at[sample + 1] as number) <= us) sample += 1
      if (sample < 0) continue
      this.fill(x, x + 1, Math.floor(bottom - ((area[sample] as number) / areaMax) * height), bottom, palette.kv)
      const value = line[sample] as number
      const y = value <= 0 ? -1 : Math.floor(bottom - (value / lineMax) * (height - 1)) - 1
      // Steps are joined, so that it reads as one line.
      if (y >= 0) this.fill(x, x + 1, before < 0 ? y : Math.min(y, before), (before < 0 ? y : Math.max(y, before)) + 2, palette.queue)
      before = y
    }
  }

  private bars(): { readonly bars: number; readonly looked: number } {
    const { view } = this
    const { blocks, from } = this.picture.places
    let bars = 0
    let looked = 0
    for (let block = 0; block < blocks.first.length; block += 1) {
      if ((blocks.first[block] as number) >= view.right || (blocks.last[block] as number) < view.left) continue
      const until = Math.min(from.length, (block + 1) * BLOCK)
      bars += this.barsOf(block * BLOCK, until)
      looked += until - block * BLOCK
    }
    return { bars, looked }
  }

  private barsOf(first: number, until: number): number {
    const { view, picture, places, perPixel } = this
    const { bars, packing } = picture
    const { from: starts, to: ends } = picture.places
    const inner = view.laneHeight - stripHeight(view.laneHeight) - (view.laneHeight >= 6 ? 2 : 0)
    let drawn = 0
    for (let i = first; i < until; i += 1) {
      if ((starts[i] as number) >= view.right || (ends[i] as number) < view.left) continue
      const lane = bars.lane[i] as number
      const place = places[lane] as number
      if (place < 0) continue
      const from = Math.floor(((starts[i] as number) - view.left) / perPixel)
      const end = Math.max(from + 1, Math.floor(((ends[i] as number) - view.left) / perPixel))
      drawn += 1
      const rows = packing.rows[lane] as number
      if (rows > inner && inner >= HEIGHTS_MIN) {
        this.count(i, lane, from, end)
        continue
      }
      const height = Math.min(12, Math.max(inner, 1) / rows)
      const top = this.y(place) + (inner >= HEIGHTS_MIN ? 1 : 0) + Math.floor((packing.row[i] as number) * height)
      this.bar(i, from, end, top, Math.max(top + 1, Math.floor(top + height - (height >= 4 ? 1 : 0))))
    }
    return drawn
  }

  private bar(i: number, from: number, end: number, top: number, bottom: number): void {
    const { bars, chosen, places } = this.picture
    const { palette } = this
    const colours = palette.stages[bars.stage[i] as number] ?? NO_STAGE
    const first = places.turn[i] as number
    const turn = Number.isNaN(first) ? end : Math.floor((first - this.view.left) / this.perPixel)
    this.fill(from, Math.min(end, turn), top, bottom, colours[0])
    this.fill(Math.max(from, turn), end, top, bottom, colours[1])
    if ((bars.outcome[i] as number) >= FAILED_FROM) this.fill(Math.max(from, end - 3), end, top, bottom, palette.bad)
    if (chosen !== undefined && bars.request[i] === chosen) {
      this.fill(from, end, top, top + 1, palette.chosen)
      this.fill(from, end, bottom - 1, bottom, palette.chosen)
      this.fill(from, from + 1, top, bottom, palette.chosen)
      this.fill(end - 1, end, top, bottom, palette.chosen)
    }
  }

  /** Counts a bar of a lane that is drawn as heights: how much is in flight, and how much of that is served. */
  private count(i: number, lane: number, from: number, end: number): void {
    const { width } = this.view
    let counts = this.columns.get(lane)
    if (counts === undefined) {
      counts = { stage: 0, inFlight: new Int32Array(width + 1), served: new Int32Array(width + 1) }
      this.columns.set(lane, counts)
    }
    counts.stage = Math.max(counts.stage, this.picture.bars.stage[i] as number)
    const first = this.picture.places.turn[i] as number
    const turn = Number.isNaN(first) ? end : Math.floor((first - this.view.left) / this.perPixel)
    const [left, right] = [Math.max(0, from), Math.min(width, end)]
    const served = Math.min(right, Math.max(left, turn))
    counts.inFlight[left]! += 1
    counts.inFlight[right]! -= 1
    counts.served[served]! += 1
    counts.served[right]! -= 1
  }

  private dense(lane: number, { stage, inFlight, served }: Heights): void {
    const { view, palette } = this
    const top = this.y(this.places[lane] as number)
    const bottom = top + Math.max(1, Math.floor(view.laneHeight - stripHeight(view.laneHeight)) - (view.laneHeight >= 6 ? 1 : 0))
    const [waiting, serving] = palette.stages[stage] ?? NO_STAGE
    this.heights(lane, inFlight, top, bottom, waiting)
    this.heights(lane, served, top, bottom, serving)
  }

  private heights(lane: number, changes: Int32Array, top: number, bottom: number, colour: number): void {
    const { width } = this.view
    const rows = Math.max(1, this.picture.packing.rows[lane] as number)
    const heightOf = (count: number): number => (count === 0 ? 0 : Math.max(1, Math.round((count / rows) * (bottom - top))))
    let count = 0
    let start = 0
    let height = 0
    for (let x = 0; x <= width; x += 1) {
      count += changes[x] as number
      const next = x === width ? -1 : heightOf(count)
      if (next === height) continue
      if (height > 0) this.fill(start, x, bottom - height, bottom, colour)
      start = x
      height = next
    }
  }

  private fill(left: number, right: number, top: number, bottom: number, colour: number): void {
    const { width, height } = this.view
    const from = Math.max(0, left)
    const to = Math.min(width, right)
    if (from >= to) return
    const { pixels } = this
    const last = Math.min(height, bottom)
    for (let y = Math.max(0, top); y < last; y += 1) {
      const end = y * width + to
      if (to - from > SHORT) pixels.fill(colour, y * width + from, end)
      else for (let at = y * width + from; at < end; at += 1) pixels[at] = colour
    }
  }
}
