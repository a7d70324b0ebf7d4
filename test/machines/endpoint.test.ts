import { describe, expect, it } from 'vitest'
import { backoffMs } from '../../machines/endpoint/machine.ts'
import type { Make, TestActor } from './recording.ts'
import type { Story } from './story.ts'
import { given, interpreters } from './story.ts'
import { endpoint } from './subjects.ts'

/** Whether this failure is the third since the last success. */
const strikesOut = ({ actions }: TestActor): boolean => {
  const sinceSuccess = actions.slice(actions.findLastIndex((action) => action.startsWith('clearStrikes')) + 1)
  return sinceSuccess.filter((action) => action.startsWith('countStrike')).length >= 2
}

function region(story: Story, name: string): string | undefined {
  return story.state?.split('|').find((path) => path.startsWith(`${name}.`))?.slice(name.length + 1)
}

const threeFailures = ['attemptFailed', 'attemptFailed', 'attemptFailed']

describe.each(interpreters)('the life of an endpoint, run by %s', (_name, make: Make) => {
  const arrived = (): Story => given(make, endpoint, { strikesOut }).when('join')

  it('begins unheard of, idle and reachable', () => {
    const story = arrived()
    expect(story.state).toBe('presence.joining|reachability.reachable|freshness.unknown|load.idle')
    expect(story.actions).toEqual(['noteJoined'])
  })

  it('serves when ready, not when draining, and again when it is ready again', () => {
    const story = arrived().when('ready')
    expect(region(story, 'presence')).toBe('ready')
    expect(region(story.when('drain'), 'presence')).toBe('draining')
    expect(region(story.when('ready'), 'presence')).toBe('ready')
    expect(story.actions).toEqual(['noteJoined', 'noteReady', 'noteDraining', 'noteReady'])
  })

  it('is taken out by the third failure in a row', () => {
    const story = arrived().when('attemptFailed', 'attemptFailed')
    expect(region(story, 'reachability')).toBe('reachable')
    expect(region(story.when('attemptFailed'), 'reachability')).toBe('unreachable')
    expect(story.pending).toEqual(['backoff 1000'])
  })

  it('is not taken out when a success lies between', () => {
    const story = arrived().when('attemptFailed', 'attemptFailed', 'attemptSucceeded', 'attemptFailed', 'attemptFailed')
    expect(region(story, 'reachability')).toBe('reachable')
  })

  it('does not wait longer for failures that come while it is out', () => {
    const story = arrived().when(...threeFailures)
    const before = [...story.actor.timerLog]
    story.when('attemptFailed', 'attemptFailed')
    expect(story.actor.timerLog).toEqual(before)
    expect(story.actions.filter((action) => action === 'countStrike')).toHaveLength(3)
  })

  it('comes back when its time is over, and is out for twice as long at the next failure', () => {
    const story = arrived().when(...threeFailures).whenDue('backoff')
    expect(region(story, 'reachability')).toBe('reachable')
    expect(story.actions.at(-1)).toBe('bringBack')
    story.when('attemptFailed')
    expect(region(story, 'reachability')).toBe('unreachable')
    expect(story.pending).toEqual(['backoff 2000'])
  })

  it('comes back at once when an attempt succeeds', () => {
    const story = arrived().when(...threeFailures, 'attemptSucceeded')
    expect(region(story, 'reachability')).toBe('reachable')
    expect(story.pending).toEqual([])
    expect(story.actions.slice(-2)).toEqual(['clearStrikes', 'bringBack'])
  })

  it('is fresh, stale and fresh again as it is heard and silent', () => {
    const story = arrived().when('silent')
    expect(region(story, 'freshness')).toBe('unknown')
    expect(region(story.when('heard'), 'freshness')).toBe('fresh')
    expect(region(story.when('silent'), 'freshness')).toBe('stale')
    expect(region(story.when('heard'), 'freshness')).toBe('fresh')
    expect(story.actions).toEqual(['noteJoined', 'noteFresh', 'noteStale', 'noteFresh'])
  })

  it.each(['idle', 'busy', 'saturated'])('becomes %s from any other load, and notes only changes', (load) => {
    for (const from of ['idle', 'busy', 'saturated']) {
      const story = arrived().when(from)
      const before = story.actions.length
      expect(region(story.when(load), 'load')).toBe(load)
      expect(story.actions.length - before).toBe(from === load ? 0 : 1)
    }
  })

  it('is over in every region once it has left, with nothing pending', () => {
    const story = arrived().when('ready', 'heard', 'busy', ...threeFailures, 'leave')
    expect(story.state).toBe('presence.left|reachability.left|freshness.left|load.left')
    expect(story.isFinal).toBe(true)
    expect(story.pending).toEqual([])
    const { length } = story.actions
    expect(story.when(...endpoint.events).actions).toHaveLength(length)
  })

  it('takes every event without mixing the regions', () => {
    const story = arrived().when('ready', 'heard', 'saturated', ...threeFailures)
    expect(story.state).toBe('presence.ready|reachability.unreachable|freshness.fresh|load.saturated')
  })
})

describe('the time an endpoint is out', () => {
  it('doubles from 1 s and stays at 30 s', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 1_000_000].map(backoffMs)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000])
  })
})
