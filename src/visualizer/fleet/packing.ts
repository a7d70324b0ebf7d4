/** Which row of its lane each bar is in, and how many rows each lane needs. */
export interface Packing {
  readonly row: Int32Array
  readonly rows: Int32Array
}

/** Puts bars that overlap into rows of their own, the first that is free; bars must come in order of their start. */
export const packBars = (lanes: number, lane: Float64Array, from: Float64Array, to: Float64Array): Packing => {
  const ends: number[][] = Array.from({ length: lanes }, () => [])
  const row = new Int32Array(lane.length)
  for (let i = 0; i < lane.length; i += 1) {
    const busy = ends[lane[i] as number] as number[]
    const start = from[i] as number
    let at = 0
    while (at < busy.length && (busy[at] as number) > start) at += 1
    const end = to[i] as number
    busy[at] = Number.isNaN(end) ? Infinity : end
    row[i] = at
  }
  return { row, rows: Int32Array.from(ends, (busy) => busy.length) }
}
