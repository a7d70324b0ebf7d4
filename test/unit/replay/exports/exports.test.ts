import { describe, expect, it } from 'vitest'
import { JournalFile } from '../../../../src/journal/index.ts'
import { engineOptions } from '../../../../src/replay/engine-options.ts'
import { inspectionEvents, stateValue } from '../../../../src/replay/exports/inspection.ts'
import { sliceFile } from '../../../../src/replay/exports/slice.ts'
import { base64, sliceTest } from '../../../../src/replay/exports/slice-test.ts'
import { feedAfter, feedStart, openStart } from '../../../../src/replay/feed/feed.ts'
import { finish } from '../../../../src/replay/recover.ts'
import { replayJournal } from '../../../../src/replay/replay-journal.ts'
import { Travel } from '../../../../src/replay/travel/travel.ts'
import { mixed } from '../../../golden/stories.ts'
import { journalOf } from '../../../story/journal.ts'

const journal = journalOf(mixed().records)
const travel = new Travel(engineOptions(), openStart(feedStart(journal, 0)))
for (const part of feedAfter(journal, 0, Infinity)) travel.take(part)
travel.decide(Infinity)

const slice = (from: number, to: number): Uint8Array => sliceFile(travel.stateAt(from - 1), travel.records(from, to))

describe('a slice', () => {
  it.each([[1, 10], [100, 400], [400, 400]])('from %d to %d is a journal of its own that replays', (from, to) => {
    const bytes = slice(from, to)
    const file = new JournalFile({ size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) })
    expect(finish(replayJournal(engineOptions(), file))).toMatchObject({ from: from - 1, to, records: to - from + 1, divergence: undefined })
  })

  it('of nothing is refused', () => {
    expect(() => slice(10_000_000, 10_000_001)).toThrow('no records in the slice')
  })

  it('as a test holds the slice and its decisions', () => {
    const bytes = slice(100, 140)
    const text = sliceTest(bytes, [...travel.records(100, 140)])
    expect(text.replaceAll(/[\s',]/g, '')).toContain(base64(bytes))
    expect(text).toContain('"outcome": "')
    expect(text).toContain('expect(replayed.records).toBe(41)')
  })
})

describe('base64', () => {
  it.each(['', 'a', 'ab', 'abc', 'abcd\u00ff'])('of "%s" is what others make of it', (text) => {
    expect(base64(new TextEncoder().encode(text))).toBe(Buffer.from(text).toString('base64'))
  })
})

describe('inspection events', () => {
  it('introduce each actor once, before what it does', () => {
    const events = inspectionEvents(travel.timeline, 50, 300)
    const seen = new Set<string>()
    for (const { type, sessionId } of events) {
      expect(seen.has(sessionId)).toBe(type !== '@xstate.actor')
      seen.add(sessionId)
    }
    expect(events.filter(({ type }) => type === '@xstate.event')).toHaveLength(events.filter(({ type }) => type === '@xstate.snapshot').length)
  })

  it.each([
    ['completed', 'completed'],
    ['scheduling.decode', { scheduling: 'decode' }],
    ['presence.ready|load.idle', { presence: 'ready', load: 'idle' }],
  ])('tell %s as XState does', (state, value) => {
    expect(stateValue(state)).toEqual(value)
  })
})
