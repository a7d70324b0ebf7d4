import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { SystemClock } from '../../../../src/adapters/clock/index.ts'

const START_MS = Date.UTC(2025, 0, 1)

beforeEach(() => {
  vi.useFakeTimers({ now: START_MS, toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('now', () => {
  it('begins with the wall clock, in whole microseconds, and runs on', () => {
    const clock = new SystemClock()
    expect(clock.now()).toBe(START_MS * 1000)
    vi.advanceTimersByTime(1234)
    expect(clock.now()).toBe((START_MS + 1234) * 1000)
  })

  it('begins no earlier than it is told', () => {
    const clock = new SystemClock(START_MS * 1000 + 5_000_000)
    expect(clock.now()).toBe(START_MS * 1000 + 5_000_000)
    vi.advanceTimersByTime(1)
    expect(clock.now()).toBe(START_MS * 1000 + 5_001_000)
    expect(new SystemClock(5).now()).toBe((START_MS + 1) * 1000)
  })

  it('does not follow a wall clock that is set', () => {
    const clock = new SystemClock()
    vi.setSystemTime(START_MS - 3_600_000)
    expect(clock.now()).toBe(START_MS * 1000)
  })

  it('never falls and is always whole, on the real clock', () => {
    vi.useRealTimers()
    const clock = new SystemClock()
    let last = clock.now()
    for (let index = 0; index < 100_000; index += 1) {
      const now = clock.now()
      if (now < last || !Number.isSafeInteger(now)) throw new Error(`${last} > ${now}`)
      last = now
    }
    expect(Math.abs(last / 1000 - Date.now())).toBeLessThan(1000)
  })
})

describe('wakeAt', () => {
  it('calls back once, not before the time', () => {
    const clock = new SystemClock()
    const calls: number[] = []
    const at = clock.now() + 10_500
    clock.wakeAt(at, () => calls.push(clock.now()))
    vi.advanceTimersByTime(10)
    expect(calls).toEqual([])
    vi.advanceTimersByTime(1000)
    expect(calls).toHaveLength(1)
    expect(calls[0]).toBeGreaterThanOrEqual(at)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('calls back soon, but not at once, for a time that is past', () => {
    const clock = new SystemClock()
    let isCalled = false
    clock.wakeAt(0, () => (isCalled = true))
    expect(isCalled).toBe(false)
    vi.advanceTimersByTime(1)
    expect(isCalled).toBe(true)
  })

  it('has one call at a time: the last one asked for', () => {
    const clock = new SystemClock()
    const calls: string[] = []
    clock.wakeAt(clock.now() + 5000, () => calls.push('first'))
    clock.wakeAt(clock.now() + 9000, () => calls.push('second'))
    expect(vi.getTimerCount()).toBe(1)
    vi.advanceTimersByTime(100)
    expect(calls).toEqual(['second'])
  })

  it('can be asked again from within the call', () => {
    const clock = new SystemClock()
    let calls = 0
    const again = (): void => {
      calls += 1
      if (calls < 5) clock.wakeAt(clock.now() + 1000, again)
    }
    clock.wakeAt(clock.now() + 1000, again)
    vi.advanceTimersByTime(100)
    expect(calls).toBe(5)
  })

  it('waits for a time beyond what a timer can hold', () => {
    const clock = new SystemClock()
    const days40Ms = 40 * 86_400_000
    let calls = 0
    clock.wakeAt(clock.now() + days40Ms * 1000, () => (calls += 1))
    vi.advanceTimersByTime(days40Ms - 1)
    expect(calls).toBe(0)
    vi.advanceTimersByTime(2)
    expect(calls).toBe(1)
  })

  it('forgets the call when it is stopped', () => {
    const clock = new SystemClock()
    clock.wakeAt(clock.now() + 1000, () => expect.unreachable())
    clock.stop()
    expect(vi.getTimerCount()).toBe(0)
  })
})
