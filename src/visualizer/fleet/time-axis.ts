import { lastAtMost } from '../state/search.ts'

/** A way between time (microseconds since the epoch) and places on an axis on which idle gaps may be short. */
export interface TimeAxis {
  readonly length: number
  place(us: number): number
  time(place: number): number
  /** Places at which time was left out. */
  readonly folds: readonly number[]
}

/** Gaps shorter than this stay as they are. */
const GAP_MIN_US = 1_000_000
/** How long a folded gap is on the axis. */
const FOLD_US = 200_000

/** An axis on which every microsecond is as long as the other. */
export const plainAxis = (first: number, last: number): TimeAxis => ({
  length: Math.max(1, last - first), folds: [],
  place: (us) => us - first,
  time: (place) => first + place,
})

/** An axis from `first` to `last` on which stretches without a bar are folded. `from` and `to` are the bars', NaN: still open. */
export const foldedAxis = (first: number, last: number, from: Float64Array, to: Float64Array): TimeAxis => {
  const starts: number[] = [first]
  const places: number[] = [0]
  const folds: number[] = []
  let busyUntil = first
  let place = 0
  const order = [...from.keys()].sort((a, b) => (from[a] as number) - (from[b] as number))
  const fold = (next: number): void => {
    if (next - busyUntil <= GAP_MIN_US) return
    const margin = FOLD_US / 2
    // The gap in three pieces: its edges true to scale, its middle folded to nothing.
    const start = starts.at(-1) as number
    const cut = busyUntil + margin
    place += cut - start
    starts.push(cut, next - margin)
    places.push(place, place)
    folds.push(place)
  }
  for (const i of order) {
    fold(from[i] as number)
    const end = to[i] as number
    busyUntil = Math.max(busyUntil, Number.isNaN(end) ? last : end)
  }
  fold(last)
  const length = Math.max(1, place + last - (starts.at(-1) as number))
  return {
    length, folds,
    place: (us) => {
      const i = Math.max(0, lastAtMost(starts, us))
      const offset = us - (starts[i] as number)
      const next = places[i + 1]
      return next === undefined ? (places[i] as number) + offset : Math.min(next, (places[i] as number) + offset)
    },
    time: (at) => {
      const i = Math.max(0, lastAtMost(places, at))
      return (starts[i] as number) + at - (places[i] as number)
    },
  }
}

const STEPS_US = [1, 2, 5, 10, 20, 50, 100, 200, 500].flatMap((n) => [n, n * 1000]).concat([1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200].map((s) => s * 1e6)).sort((a, b) => a - b)

/** Distance between two ticks, in microseconds, so that about one in `pixels` is drawn. */
export const tickStep = (usPerPixel: number, pixels: number): number => STEPS_US.find((step) => step / usPerPixel >= pixels) ?? 86_400e6
