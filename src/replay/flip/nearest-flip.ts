/** A value that can be turned, and whether the answer is another one at a value. */
export interface Turnable {
  readonly from: number
  readonly low: number
  readonly high: number
  /** Only whole values have a meaning. */
  readonly whole: boolean
  flipped(value: number): boolean
}

/** The first look away from a value, as a share of it or of the range. */
const FIRST_STEP = 1 / 1024
/** Halvings at most: more than a double has bits to tell apart. */
const HALVINGS_MAX = 60
/** The value found lies this close to the true one, relative to the way from `from`. */
const CLOSE = 1e-6

/**
 * The value nearest to `from`, within the range, at which the answer is another: looks outwards in doubling steps on
 * either side, then halves the last step. Every value given was tried. Undefined when no look found another answer; one
 * that holds only between two looks can be missed.
 */
export const nearestFlip = (turn: Turnable): number | undefined => {
  const up = outwards(turn, turn.high)
  const down = outwards(turn, turn.low)
  if (up === undefined || down === undefined) return up ?? down
  return up - turn.from <= turn.from - down ? up : down
}

const outwards = (turn: Turnable, end: number): number | undefined => {
  const { from, whole } = turn
  const span = end - from
  if (span === 0) return undefined
  const direction = span > 0 ? 1 : -1
  let same = from
  let step = Math.max(Math.abs(from), Math.abs(span) / 1024) * FIRST_STEP
  if (whole) step = Math.max(1, Math.round(step))
  // Between numbers so small or so close that a step would not move.
  if (from + step * direction === from) step = Math.abs(span)
  for (; same !== end; step *= 2) {
    const next = direction > 0 ? Math.min(end, same + step) : Math.max(end, same - step)
    if (turn.flipped(next)) return closer(turn, same, next)
    same = next
  }
  return undefined
}

const closer = (turn: Turnable, same: number, flipped: number): number => {
  let near = same
  let far = flipped
  for (let i = 0; i < HALVINGS_MAX; i += 1) {
    const middle = turn.whole ? Math.trunc((near + far) / 2) : (near + far) / 2
    if (middle === near || middle === far || (!turn.whole && Math.abs(far - near) <= CLOSE * Math.abs(far - turn.from))) break
    if (turn.flipped(middle)) far = middle
    else near = middle
  }
  return far
}
