import { parseDuration } from '../core/duration.ts'
import { SignalboxError } from '../core/errors.ts'
import type { Duration, Instant } from '../core/instant.ts'
import { millis } from '../core/instant.ts'
import type { SegmentInfo } from './segment.ts'

/** What of a journal is kept: all bounds hold at once. */
export interface Keep {
  readonly ageUs?: Duration
  readonly bytes?: number
}

/** Snapshots beyond this many are dropped, oldest first: one to use, and one in case the newest is damaged. */
export const SNAPSHOTS_KEPT = 2

const BYTES_PER_UNIT: ReadonlyMap<string, number> = new Map([
  ['B', 1], ['KB', 1e3], ['MB', 1e6], ['GB', 1e9], ['TB', 1e12],
  ['KiB', 1024], ['MiB', 1_048_576], ['GiB', 1_073_741_824], ['TiB', 1_099_511_627_776],
])

/** Reads "24h,20GB": an age, a size, or both. Throws `SignalboxError` ('usage') when it is neither. */
export function parseKeep(text: string): Keep {
  let keep: Keep = {}
  for (const part of text.split(',')) {
    const word = part.trim()
    const size = /^(\d+(?:\.\d+)?)\s*([KMGT]i?B|B)$/.exec(word)
    const ms = parseDuration(word)
    if (size !== null && keep.bytes === undefined) {
      keep = { ...keep, bytes: Math.floor(Number(size[1]) * (BYTES_PER_UNIT.get(size[2] ?? '') ?? 1)) }
    } else if (ms !== undefined && ms > 0 && keep.ageUs === undefined) {
      keep = { ...keep, ageUs: millis(ms) }
    } else {
      throw new SignalboxError('usage', `\`${text}\` says not what to keep of the journal: an age, a size or both are wanted, as in 24h,20GB`)
    }
  }
  return keep
}

/**
 * Base positions of the segments that need not be kept at `nowUs`: oldest first, and never the newest one.
 * A segment goes when its last record is older than the age, or while all together are larger than the size.
 */
export function droppableSegments(segments: readonly SegmentInfo[], keep: Keep, nowUs: Instant): number[] {
  const { ageUs = Infinity, bytes: bytesMax = Infinity } = keep
  let bytes = segments.reduce((sum, segment) => sum + segment.bytes + segment.baseBytes, 0)
  const dropped: number[] = []
  for (const segment of segments.slice(0, -1)) {
    if (nowUs - segment.lastAtUs <= ageUs && bytes <= bytesMax) break
    dropped.push(segment.basePosition)
    bytes -= segment.bytes + segment.baseBytes
  }
  return dropped
}

/** Positions of the snapshots to drop, of those at `positions`. */
export function droppableSnapshots(positions: readonly number[], kept: number = SNAPSHOTS_KEPT): number[] {
  return [...positions].sort((a, b) => b - a).slice(kept)
}
