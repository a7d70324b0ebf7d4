import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Rounds } from '../../../../src/adapters/metrics-scrape/rounds.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const given = (members: number, intervalMs = 50) => {
  const calls: { readonly name: string; readonly atMs: number }[] = []
  const rounds = new Rounds<{ readonly name: string }>(intervalMs, ({ name }, atMs) => calls.push({ name, atMs }))
  const all = Array.from({ length: members }, (_, index) => ({ name: String(index) }))
  for (const member of all) rounds.add(member)
  const timesOf = (name: string): number[] => calls.filter((call) => call.name === name).map(({ atMs }) => atMs)
  return { rounds, all, calls, timesOf }
}

describe('Rounds', () => {
  it('calls each member once an interval, always the same time apart', () => {
    const { timesOf } = given(3)
    vi.advanceTimersByTime(500)
    for (const name of ['0', '1', '2']) {
      const times = timesOf(name)
      expect(times.length).toBeGreaterThanOrEqual(10)
      expect(new Set(times.slice(1).map((at, index) => at - (times[index] as number)))).toEqual(new Set([50]))
    }
  })

  it('spreads the members evenly over the interval', () => {
    const { calls } = given(100)
    vi.advanceTimersByTime(49)
    const perStep = new Map<number, number>()
    for (const { atMs } of calls) perStep.set(atMs, (perStep.get(atMs) ?? 0) + 1)
    expect([...perStep.values()]).toEqual(Array.from({ length: 10 }, () => 10))
  })

  it('has one timer for all, and none without members', () => {
    const { rounds, all } = given(50)
    expect(vi.getTimerCount()).toBe(1)
    for (const member of all) rounds.delete(member)
    expect(vi.getTimerCount()).toBe(0)
    expect(rounds.size).toBe(0)
  })

  it('calls nobody after it was taken out, and everybody again after the last one left and one came', () => {
    const { rounds, all, calls } = given(1)
    vi.advanceTimersByTime(120)
    rounds.delete(all[0] as { name: string })
    calls.length = 0
    vi.advanceTimersByTime(500)
    expect(calls).toEqual([])
    rounds.add({ name: 'new' })
    vi.advanceTimersByTime(120)
    expect(calls.length).toBeGreaterThanOrEqual(2)
  })

  it('calls each member once after a long standstill, not once for each interval missed', () => {
    const { calls } = given(10)
    vi.advanceTimersByTime(60)
    calls.length = 0
    const later = performance.now() + 10_000
    vi.spyOn(performance, 'now').mockReturnValue(later)
    vi.runOnlyPendingTimers()
    vi.mocked(performance.now).mockRestore()
    expect(calls.map(({ name }) => name).sort()).toEqual(Array.from({ length: 10 }, (_, index) => String(index)))
  })
})
