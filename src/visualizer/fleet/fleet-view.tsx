import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { ReadonlySignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { choose, chosen, collapseIdle, goTo, look, span, story, theme } from '../state/store.ts'
import { countText, durationText, shortText, timeText } from '../state/text.ts'
import { OUTCOMES, STAGES } from '../../replay/timeline/timeline.ts'
import type { LaneData } from '../worker/messages.ts'
import { barAt } from './bar-at.ts'
import { barPlaces } from './bar-places.ts'
import { paletteOf } from './colours.ts'
import { packBars } from './packing.ts'
import { rasterize } from './raster.ts'
import type { LanePicture, LaneView, Strip } from './raster.ts'
import { foldedAxis, plainAxis, tickStep } from './time-axis.ts'
import type { TimeAxis } from './time-axis.ts'

const LANE_MIN = 18
const LANE_MAX = 132
const MILLISECOND = 1000
/** Some room at the end, so that what has just begun is seen. */
const END_MARGIN = 1.01

/** A lane an endpoint: what was where, and when. */
export const FleetView = (): JSX.Element => {
  const canvas = useRef<HTMLCanvasElement>(null)
  const names = useRef<HTMLDivElement>(null)
  const size = useSignal({ width: 800, height: 400 })
  const scroll = useSignal(0)
  const overview = useSignal(false)
  const under = useSignal<Strip['of']>('reported')
  const tip = useSignal<{ x: number; y: number; bar: number } | undefined>(undefined)
  const drawn = useComputed(() => pictureOf(collapseIdle.value, under.value))
  const picture = useComputed(() => (drawn.value === undefined ? undefined : { ...drawn.value, chosen: chosen.value }))
  const order = useComputed(() => laneOrder())
  const laneHeight = useComputed(() => {
    const fit = size.value.height / Math.max(1, order.value.length)
    return overview.value ? fit : Math.min(LANE_MAX, Math.max(LANE_MIN, fit))
  })
  const shown = useComputed(() => viewOf(picture.value, size.value, order.value, laneHeight.value, scroll.value))

  useEffect(() => {
    const element = canvas.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      size.value = { width: Math.max(50, element.clientWidth), height: Math.max(50, element.clientHeight) }
    })
    observer.observe(element)
    // Not passive: the wheel zooms the lanes instead of moving the page.
    const wheel = (event: WheelEvent): void => zoomBy(event, shown.value, picture.value, names.current)
    element.addEventListener('wheel', wheel, { passive: false })
    return () => {
      observer.disconnect()
      element.removeEventListener('wheel', wheel)
    }
  }, [])

  usePaint(canvas, shown, picture)

  const drag = useDrag(shown, picture, scroll)
  const now = picture.value
  const cursor = now === undefined ? -1 : placeOnScreen(shown.value, now.axis, look.value?.atUs ?? 0)
  return (
    <>
      <div class="bar">
        <div class="legend" aria-label="Legend">
          {STAGES.map((stage) => <span key={stage}><i style={{ background: `var(--${stage})` }} />{stage}</span>)}
          <span><i style={{ background: 'var(--decode-wait)' }} />waiting</span>
          <span><i style={{ background: 'var(--bad)' }} />not completed</span>
          <span><i style={{ background: 'var(--kv)' }} />{under.value === 'reported' ? 'KV use' : `tokens in flight, up to ${countText(now?.strip.areaMax ?? 1)}`}</span>
          <span><i style={{ background: 'var(--queue)' }} />{under.value === 'reported' ? 'queue' : 'requests in flight'}, up to {countText(now?.strip.lineMax ?? 1)}</span>
        </div>
        <span class="grow" />
        <div class="row tools">
          <label class="row small quiet">under the lanes<select value={under.value} onChange={(event) => { under.value = event.currentTarget.value === 'load' ? 'load' : 'reported' }}><option value="reported">KV use and queue</option><option value="load">what is in flight</option></select></label>
          <button type="button" aria-pressed={collapseIdle.value} onClick={() => { span.value = undefined; collapseIdle.value = !collapseIdle.value }}>Fold idle time</button>
          <button type="button" aria-pressed={overview.value} onClick={() => { overview.value = !overview.value }}>All lanes</button>
          <button type="button" onClick={() => zoomAround(shown.value, picture.value, 0.5, 0.5)} aria-label="Zoom in">+</button>
          <button type="button" onClick={() => zoomAround(shown.value, picture.value, 0.5, 2)} aria-label="Zoom out">−</button>
          <button type="button" onClick={() => { span.value = undefined }}>Fit</button>
        </div>
      </div>
      <div class="fleet">
        <div class="corner">{order.value.length} endpoints</div>
        <div class="axis" aria-hidden="true">{now === undefined ? null : ticks(shown.value, now.axis)}</div>
        <div class="names" ref={names} tabIndex={0} role="group" aria-label="Endpoints" onScroll={(event) => { scroll.value = event.currentTarget.scrollTop }}>
          <div style={{ height: `${order.value.length * laneHeight.value}px` }}>{laneNames(order.value, laneHeight.value, scroll.value, size.value.height)}</div>
        </div>
        <div class="plane">
          <canvas
            ref={canvas} tabIndex={0} role="img" aria-label="Requests by endpoint over time. The Requests and Records views hold the same as text."
            onPointerDown={drag.down} onPointerUp={drag.up}
            onPointerMove={(event) => {
              drag.move(event)
              const bar = now === undefined ? undefined : barAt(shown.value, now, event.offsetX, event.offsetY)
              tip.value = bar === undefined ? undefined : { x: event.offsetX, y: event.offsetY, bar }
            }}
            onPointerLeave={() => { tip.value = undefined }}
            onClick={(event) => {
              if (drag.moved() || now === undefined) return
              const bar = barAt(shown.value, now, event.offsetX, event.offsetY)
              if (bar === undefined) goToTime(now.axis.time(shown.value.left + (event.offsetX / shown.value.width) * (shown.value.right - shown.value.left)))
              else choose(now.bars.request[bar])
            }}
          />
          {cursor >= 0 ? <div class="cursor" style={{ left: `${cursor}px` }} /> : null}
          {tip.value === undefined || now === undefined ? null : <BarTip picture={now} {...tip.value} width={size.value.width} />}
        </div>
      </div>
    </>
  )
}

const pictureOf = (fold: boolean, under: Strip['of']): Omit<LanePicture, 'chosen'> | undefined => {
  const current = story.value
  if (current === undefined) return undefined
  const { bars, lanes, records } = current
  const first = records.atUs[0] ?? 0
  const now = records.atUs.at(-1) ?? first + 1
  const axis = fold ? foldedAxis(first, now, bars.from, bars.to) : plainAxis(first, now)
  return {
    axis, places: barPlaces(bars, axis, now), lanes, bars, packing: packBars(lanes.length, bars.lane, bars.from, bars.to), now, strip: stripOf(lanes, under),
  }
}

const stripOf = (lanes: readonly LaneData[], of: Strip['of']): Strip => {
  const most = (values: (lane: LaneData) => Float64Array): number => lanes.reduce((largest, lane) => values(lane).reduce((a, b) => Math.max(a, b), largest), 1)
  return of === 'reported' ? { of, areaMax: 1, lineMax: most(({ waiting }) => waiting) } : { of, areaMax: most(({ tokens }) => tokens), lineMax: most(({ requests }) => requests) }
}

const ROLES = ['', 'decode', 'prefill', 'encode']

const laneOrder = (): number[] => {
  const lanes = story.value?.lanes ?? []
  return [...lanes.keys()].sort((a, b) => {
    const [x, y] = [lanes[a], lanes[b]]
    return ROLES.indexOf(x?.role ?? '') - ROLES.indexOf(y?.role ?? '') || (x?.id ?? '').localeCompare(y?.id ?? '', 'en', { numeric: true })
  })
}

const viewOf = (picture: LanePicture | undefined, size: { width: number; height: number }, order: readonly number[], laneHeight: number, top: number): LaneView => {
  const axis = picture?.axis
  const [from, to] = span.value ?? [NaN, NaN]
  const left = axis === undefined ? 0 : Number.isNaN(from) ? 0 : axis.place(from)
  const right = axis === undefined ? 1 : Number.isNaN(to) ? axis.length * END_MARGIN : axis.place(to)
  return { ...size, order, laneHeight, top, left, right: Math.max(right, left + 1) }
}

/** Paints what is shown, at most once a frame however often it changes. */
const usePaint = (canvas: { readonly current: HTMLCanvasElement | null }, shown: ReadonlySignal<LaneView>, picture: ReadonlySignal<LanePicture | undefined>): void => {
  const frame = useRef(0)
  const image = useRef<ImageData | undefined>(undefined)
  useSignalEffect(() => {
    void [theme.value, shown.value, picture.value]
    if (frame.current !== 0) return
    frame.current = requestAnimationFrame(() => {
      frame.current = 0
      const [element, seen] = [canvas.current, picture.peek()]
      if (element !== null && seen !== undefined) image.current = paint(element, shown.peek(), seen, image.current)
    })
  })
}

/** Paints one frame; gives the picture back, to be painted over next time. */
const paint = (element: HTMLCanvasElement, shown: LaneView, picture: LanePicture, before: ImageData | undefined): ImageData | undefined => {
  const ratio = Math.min(2, devicePixelRatio)
  const width = Math.round(shown.width * ratio)
  const height = Math.round(shown.height * ratio)
  if (element.width !== width || element.height !== height) Object.assign(element, { width, height })
  const context = element.getContext('2d', { alpha: false })
  if (context === null) return undefined
  const image = before?.width === width && before.height === height ? before : context.createImageData(width, height)
  const pixels = new Uint32Array(image.data.buffer)
  const seen = rasterize(pixels, { ...shown, width, height, laneHeight: shown.laneHeight * ratio, top: shown.top * ratio }, picture, paletteOf(getComputedStyle(document.documentElement)))
  context.putImageData(image, 0, 0)
  element.dataset['bars'] = String(seen.bars)
  element.dataset['calls'] = '1'
  return image
}

const placeOnScreen = (shown: LaneView, axis: TimeAxis, us: number): number => {
  const x = ((axis.place(us) - shown.left) / (shown.right - shown.left)) * shown.width
  return us > 0 && x >= 0 && x <= shown.width ? x : -1
}

const goToTime = (us: number): void => {
  const records = story.value?.records
  if (records === undefined) return
  let place = records.atUs.findIndex((each) => each > us)
  if (place < 0) place = records.atUs.length
  goTo(records.first + Math.max(0, place - 1))
}

/** Makes the stretch shown longer or shorter around a share of its width. */
const zoomAround = (shown: LaneView, picture: LanePicture | undefined, share: number, factor: number): void => {
  if (picture === undefined) return
  const length = Math.min(picture.axis.length, Math.max(MILLISECOND, (shown.right - shown.left) * factor))
  const fixed = shown.left + (shown.right - shown.left) * share
  show(picture, fixed - length * share, length)
}

const show = (picture: LanePicture, left: number, length: number): void => {
  if (length >= picture.axis.length) {
    span.value = undefined
    return
  }
  const from = Math.max(0, Math.min(picture.axis.length - length, left))
  span.value = [picture.axis.time(from), picture.axis.time(from + length)]
}

const zoomBy = (event: WheelEvent, shown: LaneView, picture: LanePicture | undefined, names: HTMLElement | null): void => {
  event.preventDefault()
  if (event.shiftKey) names?.scrollBy(0, event.deltaY)
  else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && picture !== undefined) {
    show(picture, shown.left + (event.deltaX / shown.width) * (shown.right - shown.left), shown.right - shown.left)
  } else zoomAround(shown, picture, event.offsetX / shown.width, event.deltaY > 0 ? 1.25 : 0.8)
}

interface Drag {
  down(event: PointerEvent): void
  move(event: PointerEvent): void
  up(event: PointerEvent): void
  moved(): boolean
}

const useDrag = (shown: { readonly value: LaneView }, picture: { readonly value: LanePicture | undefined }, scroll: { value: number }): Drag => {
  const start = useRef<{ x: number; y: number; left: number; length: number; scroll: number } | undefined>(undefined)
  const far = useRef(false)
  return {
    down: (event) => {
      const { left, right } = shown.value
      start.current = { x: event.clientX, y: event.clientY, left, length: right - left, scroll: scroll.value }
      far.current = false
    },
    move: (event) => {
      const from = start.current
      if (from === undefined || event.buttons === 0 || picture.value === undefined) return
      if (Math.abs(event.clientX - from.x) > 3) far.current = true
      if (far.current) show(picture.value, from.left - ((event.clientX - from.x) / shown.value.width) * from.length, from.length)
    },
    up: () => {
      start.current = undefined
    },
    moved: () => far.current,
  }
}

const laneNames = (order: readonly number[], height: number, top: number, seen: number): JSX.Element[] => {
  const first = Math.max(0, Math.floor(top / height))
  const count = Math.min(400, Math.ceil(seen / height) + 1)
  return order.slice(first, first + count).flatMap((lane, i) => {
    const data = story.value?.lanes[lane]
    if (data === undefined || height < 13) return []
    const values = look.value?.endpoints.find(({ id }) => id === data.id)?.values
    const detail = values === undefined ? (look.value?.known === true ? 'not there' : '') : `${values['inFlightRequests']} in flight, ${values['waitingQueueSize']} queued, KV ${Math.round(Number(values['kvCacheUsage']) * 100)} %`
    return [
      <div class="lane" key={data.id} style={{ top: `${(first + i) * height}px`, height: `${height}px` }} title={`${data.id}: ${detail}`}>
        {shortText(data.id)}
        {height > 34 ? <div class="small quiet detail">{detail}</div> : null}
      </div>,
    ]
  })
}

const TICK_PIXELS = 56

const ticks = (shown: LaneView, axis: TimeAxis): JSX.Element[] => {
  const perPixel = (shown.right - shown.left) / shown.width
  const step = tickStep(perPixel, 110)
  const origin = axis.time(0)
  const found: JSX.Element[] = []
  // None so close to the edge that it would be cut.
  const end = shown.right - TICK_PIXELS * perPixel
  for (let place = Math.ceil(shown.left / step) * step; place < end && found.length < 60; place += step) {
    found.push(<span key={place} style={{ left: `${(place - shown.left) / perPixel}px` }}>{axis.folds.length > 0 ? timeText(axis.time(place)) : `+${durationText(axis.time(place) - origin)}`}</span>)
  }
  return found
}

const BarTip = ({ picture, bar, x, y, width }: { picture: LanePicture; bar: number; x: number; y: number; width: number }): JSX.Element => {
  const { bars } = picture
  const requests = story.value?.requests
  const row = requests?.key.indexOf(bars.request[bar] as number) ?? -1
  const from = bars.from[bar] as number
  const to = bars.to[bar] as number
  return (
    <div class="tip" style={{ left: `${Math.min(x + 12, width - 240)}px`, top: `${y + 14}px` }}>
      <strong>{requests?.ids[row] ?? `request ${bars.request[bar]}`}</strong>
      <div>{STAGES[bars.stage[bar] as 0] ?? ''} on {shortText(picture.lanes[bars.lane[bar] as number]?.id ?? '')}</div>
      <div class="quiet">first byte after {durationText((bars.firstByte[bar] as number) - from)}, {Number.isNaN(to) ? 'open' : `over after ${durationText(to - from)}`}, {OUTCOMES[bars.outcome[bar] as 0]}</div>
    </div>
  )
}

