import { describe, expect, it } from 'vitest'
import { done, given, interpreters } from './story.ts'
import type { Story } from './story.ts'
import type { Make } from './recording.ts'
import { request } from './subjects.ts'

/** Admitted, its attributes there at once, one decode stage per attempt (two attempts at most), an endpoint found. */
const routed = {
  isAdmitted: true,
  isProduced: true,
  picksDecode: (actor: Story['actor']) => done('runStage')(actor) === done('releaseAttempt')(actor) && !done('runStage', 2)(actor),
  isRouted: true,
}

const happyDecision = ['admit', 'produce', 'openScheduling', 'pick', 'runStage', 'pick', 'assign']

describe.each(interpreters)('the life of a request, run by %s', (_name, make: Make) => {
  it('goes from its arrival to a decision in one event', () => {
    const story = given(make, request, routed).when('receive')
    expect(story.state).toBe('scheduled')
    expect(story.actions).toEqual(happyDecision)
    expect(story.pending).toEqual(['sentTimeout 30000'])
  })

  it('is completed after its stream', () => {
    const story = given(make, request, routed).when('receive', 'sent', 'started', 'progressed', 'ended')
    expect(story.state).toBe('completed')
    expect(story.isFinal).toBe(true)
    expect(story.actions.slice(happyDecision.length)).toEqual(['markSent', 'startStream', 'progress', 'endStream', 'complete'])
    expect(story.pending).toEqual([])
  })

  it('is rejected when it is not admitted', () => {
    const story = given(make, request).when('receive')
    expect(story.state).toBe('rejected')
    expect(story.actions).toEqual(['admit', 'reject'])
  })

  it('waits for attributes that come later, and for all of them', () => {
    const story = given(make, request, { ...routed, isProduced: done('takeAttributes', 2) }).when('receive')
    expect(story.state).toBe('producing.waiting')
    expect(story.pending).toEqual(['producerTimeout 400'])
    expect(story.when('produced').state).toBe('producing.waiting')
    expect(story.pending).toEqual(['producerTimeout 400'])
    expect(story.when('produced').state).toBe('scheduled')
    expect(story.pending).toEqual(['sentTimeout 30000'])
  })

  it('is scheduled without attributes that do not come in time', () => {
    const story = given(make, request, { ...routed, isProduced: false }).when('receive').whenDue('producerTimeout')
    expect(story.state).toBe('scheduled')
    expect(story.actions).toEqual(['admit', 'produce', 'giveUpProducing', ...happyDecision.slice(2)])
  })

  it('runs the stages that the profile handler picks, in its order', () => {
    const story = given(make, request, {
      ...{ isAdmitted: true, isProduced: true, isRouted: true },
      picksPrefill: (actor) => !done('runStage')(actor),
      picksEncode: (actor) => done('runStage')(actor) && !done('runStage', 2)(actor),
    }).when('receive')
    expect(story.actions.filter((action) => action === 'pick' || action === 'runStage')).toEqual(
      ['pick', 'runStage', 'pick', 'runStage', 'pick'],
    )
    expect(story.state).toBe('scheduled')
  })

  it('is rejected when an admitter denies it or no endpoint is found', () => {
    expect(given(make, request, { ...routed, isDenied: true }).when('receive').state).toBe('rejected')
    expect(given(make, request, { isAdmitted: true, isProduced: true }).when('receive').state).toBe('rejected')
  })

  it.each([
    ['scheduled', ['receive']],
    ['dispatched', ['receive', 'sent']],
  ])('is scheduled anew when an attempt fails in %s', (state, events) => {
    const story = given(make, request, { ...routed, canRetry: true }).when(...events)
    expect(story.state).toBe(state)
    story.when('attemptFailed')
    expect(story.state).toBe('scheduled')
    expect(story.actions.slice(story.actions.indexOf('releaseAttempt'))).toEqual(
      ['releaseAttempt', 'openScheduling', 'pick', 'runStage', 'pick', 'assign'],
    )
    expect(story.pending).toEqual(['sentTimeout 30000'])
  })

  it('fails when attempts are used up, and when no endpoint is left for another', () => {
    expect(given(make, request, routed).when('receive', 'sent', 'attemptFailed').state).toBe('failed')
    const leftAlone = { ...routed, canRetry: true, picksDecode: false, hasFailedBefore: done('releaseAttempt'), isRouted: (actor: Story['actor']) => !done('releaseAttempt')(actor) }
    expect(given(make, request, leftAlone).when('receive', 'attemptFailed').state).toBe('failed')
  })

  it('fails without another attempt once the client has bytes', () => {
    const story = given(make, request, { ...routed, canRetry: true }).when('receive', 'sent', 'started', 'attemptFailed')
    expect(story.state).toBe('failed')
    expect(story.actions.slice(-2)).toEqual(['failAttempt', 'fail'])
    expect(story.pending).toEqual([])
  })

  it.each([
    ['started', 'streaming', ['markSent', 'startStream']],
    ['progressed', 'streaming', ['markSent', 'startStream', 'progress']],
    ['ended', 'completed', ['markSent', 'startStream', 'endStream', 'complete']],
  ])('makes up for lost reports when %s comes first', (event, state, actions) => {
    const story = given(make, request, routed).when('receive', event)
    expect(story.state).toBe(state)
    expect(story.actions.slice(happyDecision.length)).toEqual(actions)
  })

  it.each([
    ['sentTimeout', ['receive']],
    ['firstTokenTimeout', ['receive', 'sent']],
    ['silenceTimeout', ['receive', 'sent', 'started']],
  ])('expires when %s is over', (delay, events) => {
    const story = given(make, request, routed).when(...events).whenDue(delay)
    expect(story.state).toBe('expired')
    expect(story.actions.at(-1)).toBe('expire')
    expect(story.pending).toEqual([])
  })

  it('renews the silence timeout with every sign of life', () => {
    const story = given(make, request, routed).when('receive', 'sent', 'started', 'progressed')
    expect(story.actor.timerLog.slice(-2)).toEqual(['cancel 3', 'schedule 3 in 300000'])
    expect(story.pending).toEqual(['silenceTimeout 300000'])
  })

  it.each([[['receive']], [['receive', 'sent']], [['receive', 'sent', 'started']]])(
    'ends at once on abort and on restart after %j',
    (events) => {
      const aborted = given(make, request, routed).when(...events, 'abort')
      expect([aborted.state, aborted.actions.at(-1), aborted.pending]).toEqual(['aborted', 'abortRequest', []])
      const restarted = given(make, request, routed).when(...events, 'restart')
      expect([restarted.state, restarted.actions.at(-1), restarted.pending]).toEqual(['failed', 'fail', []])
    },
  )

  it('ends on abort and restart while it waits for attributes', () => {
    const waiting = { isAdmitted: true }
    expect(given(make, request, waiting).when('receive', 'abort').state).toBe('aborted')
    expect(given(make, request, waiting).when('receive', 'restart').state).toBe('failed')
  })

  it('ends once: whatever comes later changes nothing', () => {
    const story = given(make, request, routed).when('receive', 'sent', 'ended')
    const { length } = story.actions
    story.when(...request.events)
    expect(story.state).toBe('completed')
    expect(story.actions).toHaveLength(length)
  })

  it('comes to an end in exactly one final state from anywhere, releasing once', () => {
    const ends = ['complete', 'reject', 'fail', 'abortRequest', 'expire']
    for (const last of ['ended', 'attemptFailed', 'abort', 'restart']) {
      const story = given(make, request, routed).when('receive', 'sent', 'started', last, last)
      expect(story.actions.filter((action) => ends.includes(action))).toHaveLength(1)
    }
  })
})
