import { describe, expect, it } from 'vitest'
import type { Make } from './recording.ts'
import { given, interpreters } from './story.ts'
import { journalLink } from './subjects.ts'

describe.each(interpreters)('the link to the journal, run by %s', (_name, make: Make) => {
  const live = () => given(make, journalLink).when('recovered')

  it('is live once the journal is recovered', () => {
    expect(given(make, journalLink).state).toBe('recovering')
    expect(live().state).toBe('live')
    expect(live().actions).toEqual(['openLink'])
  })

  it('spools when a write fails, probes until one succeeds, and catches up', () => {
    const story = live().when('writeFailed')
    expect([story.state, story.pending]).toEqual(['spooling', ['probeInterval 1000']])
    story.whenDue('probeInterval').whenDue('probeInterval')
    expect([story.state, story.pending]).toEqual(['spooling', ['probeInterval 1000']])
    story.when('writeSucceeded')
    expect([story.state, story.pending]).toEqual(['catchingUp', []])
    story.when('caughtUp')
    expect(story.state).toBe('live')
    expect(story.actions).toEqual(['openLink', 'startSpooling', 'probe', 'probe', 'catchUp', 'resume'])
  })

  it('goes on spooling what it has when catching up fails', () => {
    const story = live().when('writeFailed', 'writeSucceeded', 'writeFailed')
    expect([story.state, story.pending]).toEqual(['spooling', ['probeInterval 1000']])
    expect(story.actions.filter((action) => action === 'startSpooling')).toHaveLength(1)
  })

  it.each([[[]], [['recovered']], [['recovered', 'writeFailed']], [['recovered', 'writeFailed', 'writeSucceeded']]])(
    'flushes and stops when closed after %j',
    (events: readonly string[]) => {
      const story = given(make, journalLink).when(...events, 'close')
      expect([story.state, story.pending]).toEqual(['closing', ['closeTimeout 10000']])
      story.when('closed')
      expect([story.state, story.pending, story.isFinal]).toEqual(['stopped', [], true])
      expect(story.actions.slice(-2)).toEqual(['flush', 'stopLink'])
    },
  )

  it('stops without its last records when they cannot be written in time', () => {
    const story = live().when('close').whenDue('closeTimeout')
    expect(story.state).toBe('stopped')
    expect(story.actions.slice(-3)).toEqual(['flush', 'abandon', 'stopLink'])
  })
})
