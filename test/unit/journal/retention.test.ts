import { describe, expect, it } from 'vitest'
import { SignalboxError } from '../../../src/core/errors.ts'
import { droppableSegments, droppableSnapshots, isFull, parseKeep, SEGMENT_AGE_MAX_US, SEGMENT_BYTES_MAX } from '../../../src/journal/index.ts'
import type { SegmentInfo } from '../../../src/journal/index.ts'

const HOUR_US = 3_600_000_000

function segment(basePosition: number, lastHour: number, bytes: number): SegmentInfo {
  return { basePosition, atUs: 0, lastPosition: basePosition + 9, lastAtUs: lastHour * HOUR_US, bytes, baseBytes: 1, batches: 1, declaresMissing: false }
}

describe('what is kept', () => {
  it.each([
    ['24h', { ageUs: 24 * HOUR_US }],
    ['20GB', { bytes: 20e9 }],
    ['24h,20GB', { ageUs: 24 * HOUR_US, bytes: 20e9 }],
    [' 512MiB , 1h30m ', { ageUs: 1.5 * HOUR_US, bytes: 536_870_912 }],
    ['0.5KB', { bytes: 500 }],
  ])('given %j, when read, then it is %j', (text, keep) => {
    expect(parseKeep(text)).toEqual(keep)
  })

  it.each(['', '24', 'h', '24h,24h', '1GB,2GB', '-1h', '0', '20 gigabytes', '24h,'])('given %j, when read, then it is refused with an example', text => {
    expect(() => parseKeep(text)).toThrow(SignalboxError)
    expect(() => parseKeep(text)).toThrow(/24h,20GB/)
  })
})

describe('segments to drop', () => {
  const segments = [segment(0, 1, 99), segment(10, 2, 99), segment(20, 3, 99), segment(30, 4, 99)]

  it.each([
    ['nothing is bounded', {}, []],
    ['the age leaves the last two', { ageUs: HOUR_US }, [0, 10]],
    ['the size leaves two', { bytes: 250 }, [0, 10]],
    ['the size leaves exactly three', { bytes: 300 }, [0]],
    ['both hold, the stricter one decides', { ageUs: 2 * HOUR_US, bytes: 100 }, [0, 10, 20]],
    ['even the newest is too large and too old', { ageUs: 1, bytes: 1 }, [0, 10, 20]],
  ])('given that %s, then whole segments go, oldest first, never the newest', (_, keep, dropped) => {
    expect(droppableSegments(segments, keep, 4 * HOUR_US)).toEqual(dropped)
  })

  it('given snapshots in any order, then all but the newest two go', () => {
    expect(droppableSnapshots([30, 10, 40, 20])).toEqual([20, 10])
    expect(droppableSnapshots([30])).toEqual([])
  })
})

describe('a full segment', () => {
  it('is one of 256 MB or an hour, but never an empty one', () => {
    expect(isFull(SEGMENT_BYTES_MAX, 0, 0)).toBe(true)
    expect(isFull(SEGMENT_BYTES_MAX - 1, 0, SEGMENT_AGE_MAX_US - 1)).toBe(false)
    expect(isFull(1, 0, SEGMENT_AGE_MAX_US)).toBe(true)
    expect(isFull(0, 0, SEGMENT_AGE_MAX_US * 9)).toBe(false)
  })
})
