import type { SegmentInfo } from '../journal/segment.ts'
import type { Replayed, ReplayRange } from './replay-journal.ts'

/** Fewer records are not worth a part: a thread needs about two seconds until it is as fast as one that has been at it. */
const PART_RECORDS_MIN = 250_000

/**
 * Stretches of a journal that can be replayed each by itself, in order: each begins at a base and goes on through a later
 * one, whose state and place in the chain it checks; the last one to the end of the range. Together they check all that one
 * replay of the whole range checks.
 */
export const replayParts = (segments: readonly SegmentInfo[], range: ReplayRange, recordsMin: number = PART_RECORDS_MIN): ReplayRange[] => {
  const { from, until = Infinity } = range
  const first = from === undefined ? 0 : segments.findLastIndex(({ basePosition }) => basePosition <= from)
  const bases = segments.slice(Math.max(0, first)).map(({ basePosition }) => basePosition).filter((base) => base < until)
  const [oldest] = bases
  // Where there is no base to begin at, whoever replays says so.
  if (first < 0 || oldest === undefined) return [range]
  const parts: ReplayRange[] = []
  let begin = oldest
  for (const base of bases) {
    if (base - begin < recordsMin) continue
    parts.push({ from: begin, through: base })
    begin = base
  }
  return [...parts, { from: begin, until }]
}

/** What parts came to, in order, as one replay of them all. */
export const joinReplayed = (parts: readonly Replayed[]): Replayed => {
  const [first] = parts
  const last = parts.at(-1)
  if (first === undefined || last === undefined) throw new RangeError('no parts were replayed')
  const sum = (count: (part: Replayed) => number): number => parts.reduce((total, part) => total + count(part), 0)
  return {
    from: first.from,
    to: last.to,
    records: sum(({ records }) => records),
    decisions: sum(({ decisions }) => decisions),
    basesCompared: sum(({ basesCompared }) => basesCompared),
    divergence: last.divergence,
  }
}
