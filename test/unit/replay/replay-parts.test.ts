import { describe, expect, it } from 'vitest'
import { joinReplayed, replayParts } from '../../../src/replay/index.ts'
import type { Replayed } from '../../../src/replay/index.ts'
import type { SegmentInfo } from '../../../src/journal/index.ts'

const segments = (...bases: readonly number[]): SegmentInfo[] =>
  bases.map((basePosition) => ({ basePosition, atUs: 0, lastPosition: 0, lastAtUs: 0, bytes: 0, baseBytes: 0, batches: 0, declaresMissing: false }))

describe('the parts of a journal', () => {
  it.each([
    ['one for each segment', segments(0, 100, 200), {}, [{ from: 0, through: 100 }, { from: 100, through: 200 }, { from: 200, until: Infinity }]],
    ['from the base before the range, to its end', segments(0, 100, 200, 300), { from: 150, until: 250 }, [{ from: 100, through: 200 }, { from: 200, until: 250 }]],
    ['small segments go together', segments(0, 40, 90, 130, 250), {}, [{ from: 0, through: 130 }, { from: 130, through: 250 }, { from: 250, until: Infinity }]],
    ['a range that ends at a base does not begin there', segments(0, 100), { until: 100 }, [{ from: 0, until: 100 }]],
    ['one where there is one segment', segments(0), {}, [{ from: 0, until: Infinity }]],
    ['the range as it is where no base is before it', segments(100, 200), { from: 50 }, [{ from: 50 }]],
    ['the range as it is where there are no segments', [], {}, [{}]],
  ] as const)('%s', (_name, given, range, parts) => {
    expect(replayParts(given, range, 100)).toEqual(parts)
  })

  it('come to the sum of what they came to, and to how the last one ended', () => {
    const part = (from: number, to: number, divergence?: Replayed['divergence']): Replayed => ({ from, to, records: to - from, decisions: 2, basesCompared: 1, divergence })
    const divergence = { position: 30, field: 'atUs', journalSays: '1', codeSays: '2' }
    expect(joinReplayed([part(5, 20), part(20, 30, divergence)])).toEqual({ from: 5, to: 30, records: 25, decisions: 4, basesCompared: 2, divergence })
    expect(() => joinReplayed([])).toThrow(RangeError)
  })
})
