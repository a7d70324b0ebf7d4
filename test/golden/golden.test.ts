import { readdirSync, readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { JournalError, JournalFile } from '../../src/journal/index.ts'
import { engineOptions, finish, replayJournal } from '../../src/replay/index.ts'

const open = (name: string): JournalFile => {
  const bytes = readFileSync(new URL(`./${name}`, import.meta.url))
  return new JournalFile({ size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) })
}

const whole = readdirSync(new URL('.', import.meta.url)).filter((name) => name.endsWith('.sbj') && name !== 'corrupted.sbj')

describe('golden journals', () => {
  it('are there', () => {
    expect(whole.length).toBeGreaterThanOrEqual(2)
  })

  for (const interpreter of ['table', 'xstate'] as const) {
    it.each(whole)(`%s comes out the same again (${interpreter})`, (name) => {
      const journal = open(name)
      const replayed = finish(replayJournal(engineOptions([], { interpreter }), journal))
      expect(replayed.divergence).toBeUndefined()
      expect(replayed.to).toBe(journal.lastPosition())
      expect(replayed.decisions).toBeGreaterThan(50)
    })
  }

  it('one that was damaged is refused with the place, and its beginning can be used', () => {
    const journal = open('corrupted.sbj')
    let error: unknown
    try {
      finish(replayJournal(engineOptions(), journal))
    } catch (thrown) {
      error = thrown
    }
    expect(error).toBeInstanceOf(JournalError)
    const { position } = error as JournalError
    expect(position).toBeGreaterThan(0)
    expect(finish(replayJournal(engineOptions(), open('corrupted.sbj'), { until: position })).to).toBe(position)
  })
})

describe('with the clock, chance and timers taken away', () => {
  const forbidden = (name: string) => (): never => {
    throw new Error(`${name} was called during a replay`)
  }
  beforeEach(() => {
    vi.stubGlobal('Date', Object.assign(forbidden('Date'), { now: forbidden('Date.now') }))
    for (const name of ['setTimeout', 'setInterval', 'setImmediate', 'queueMicrotask']) vi.stubGlobal(name, forbidden(name))
    vi.stubGlobal('performance', { now: forbidden('performance.now') })
    vi.spyOn(Math, 'random').mockImplementation(forbidden('Math.random'))
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.unstubAllGlobals()
  })

  it.each(whole)('%s comes out the same', (name) => {
    const journal = open(name)
    expect(finish(replayJournal(engineOptions(), journal)).divergence).toBeUndefined()
  })
})
