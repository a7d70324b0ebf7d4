import type { BarData } from '../worker/messages.ts'
import type { TimeAxis } from './time-axis.ts'

/** Where bars begin, turn and end on the axis; worked out once, since a frame has no time for it. */
export interface BarPlaces {
  readonly from: Float64Array
  /** Where the work that is seen begins: at the first byte, of prefill and encode when the request was sent. */
  readonly turn: Float64Array
  readonly to: Float64Array
  /** Of each so many bars: the first beginning and the last end, so that a frame can step over them. */
  readonly blocks: { readonly first: Float64Array; readonly last: Float64Array }
}

/** Bars that are stepped over together. */
export const BLOCK = 256

/** The places of bars on an axis; one that is open ends at `now`. */
export const barPlaces = ({ from, sent, firstByte, stage, to }: BarData, axis: TimeAxis, now: number): BarPlaces => {
  const starts = from.map((us) => axis.place(us))
  const ends = to.map((us) => axis.place(Number.isNaN(us) ? now : us))
  const turn = firstByte.map((us, i) => {
    const at = stage[i] === 0 ? us : (sent[i] as number)
    return Number.isNaN(at) ? NaN : axis.place(at)
  })
  return { from: starts, turn, to: ends, blocks: blocksOf(starts, ends) }
}

const blocksOf = (starts: Float64Array, ends: Float64Array): BarPlaces['blocks'] => {
  const count = Math.ceil(starts.length / BLOCK)
  const first = new Float64Array(count).fill(Infinity)
  const last = new Float64Array(count).fill(-Infinity)
  for (let i = 0; i < starts.length; i += 1) {
    const block = Math.floor(i / BLOCK)
    first[block] = Math.min(first[block] as number, starts[i] as number)
    last[block] = Math.max(last[block] as number, ends[i] as number)
  }
  return { first, last }
}
