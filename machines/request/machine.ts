import { setup } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { namedActions, namedGuards } from '../interpreter/names.ts'

/** How long the producers of attributes may take before scheduling goes on without them. llm-d: its producer timeout. */
export const PRODUCER_TIMEOUT_MS = 400
/** From the decision until the data plane says that it took the request: a lost answer or a dead data plane. */
export const SENT_TIMEOUT_MS = 30_000
/** From sent until the first byte: long enough for a queue in the endpoint and the prefill of a very long prompt. */
export const FIRST_TOKEN_TIMEOUT_MS = 600_000
/** Between two signs of life of a stream. Data planes report progress every 10 s: thirty of them are missing. */
export const SILENCE_TIMEOUT_MS = 300_000

export const REQUEST_EVENTS = [
  'receive',
  'produced',
  'sent',
  'started',
  'progressed',
  'ended',
  'attemptFailed',
  'abort',
  'restart',
] as const

export const REQUEST_ACTIONS = [
  'admit',
  'produce',
  'takeAttributes',
  'giveUpProducing',
  'openScheduling',
  'pick',
  'runStage',
  'assign',
  'markSent',
  'startStream',
  'progress',
  'endStream',
  'releaseAttempt',
  'failAttempt',
  'complete',
  'reject',
  'fail',
  'abortRequest',
  'expire',
] as const

export const REQUEST_GUARDS = [
  'isAdmitted',
  'isProduced',
  'isDenied',
  'picksDecode',
  'picksEncode',
  'picksPrefill',
  'isRouted',
  'hasFailedBefore',
  'canRetry',
] as const

export type RequestEventType = (typeof REQUEST_EVENTS)[number]
export type RequestAction = (typeof REQUEST_ACTIONS)[number]
export type RequestGuard = (typeof REQUEST_GUARDS)[number]
export type RequestDelay = 'producerTimeout' | 'sentTimeout' | 'firstTokenTimeout' | 'silenceTimeout'

/** An event of the machine; its owner's events carry more. */
export interface RequestMachineEvent {
  readonly type: RequestEventType
}

const retryOrFail = [
  { guard: 'canRetry', target: '#request.scheduling', actions: 'releaseAttempt' },
  { target: '#request.failed', actions: 'failAttempt' },
] as const

const endings = { abort: '#request.aborted', restart: '#request.failed' } as const

const stage = { entry: 'runStage', always: 'picking' } as const

/** The life of one request, from its arrival to its end. Names in words: README.md beside this file. */
export const requestMachine: AnyStateMachine = setup({
  types: { events: {} as RequestMachineEvent },
  actions: namedActions(REQUEST_ACTIONS),
  guards: namedGuards(REQUEST_GUARDS),
  delays: {
    producerTimeout: PRODUCER_TIMEOUT_MS,
    sentTimeout: SENT_TIMEOUT_MS,
    firstTokenTimeout: FIRST_TOKEN_TIMEOUT_MS,
    silenceTimeout: SILENCE_TIMEOUT_MS,
  },
}).createMachine({
  id: 'request',
  initial: 'received',
  states: {
    received: { on: { receive: 'admitting', ...endings } },
    admitting: {
      entry: 'admit',
      always: [{ guard: 'isAdmitted', target: 'producing' }, { target: 'rejected' }],
    },
    producing: {
      entry: 'produce',
      initial: 'asking',
      on: endings,
      states: {
        // Most requests have all they need at once: for them no timer is set.
        asking: {
          always: [{ guard: 'isProduced', target: '#request.scheduling' }, { target: 'waiting' }],
        },
        waiting: {
          always: { guard: 'isProduced', target: '#request.scheduling' },
          on: { produced: { actions: 'takeAttributes' } },
          after: { producerTimeout: { target: '#request.scheduling', actions: 'giveUpProducing' } },
        },
      },
    },
    scheduling: {
      entry: 'openScheduling',
      initial: 'picking',
      states: {
        picking: {
          entry: 'pick',
          always: [
            { guard: 'isDenied', target: '#request.rejected' },
            { guard: 'picksDecode', target: 'decode' },
            { guard: 'picksEncode', target: 'encode' },
            { guard: 'picksPrefill', target: 'prefill' },
            { guard: 'isRouted', target: '#request.scheduled' },
            { guard: 'hasFailedBefore', target: '#request.failed' },
            { target: '#request.rejected' },
          ],
        },
        decode: stage,
        encode: stage,
        prefill: stage,
      },
    },
    scheduled: {
      entry: 'assign',
      // Reports may be lost on their way: a later one says what the missing ones would have.
      on: {
        sent: { target: 'dispatched', actions: 'markSent' },
        started: { target: 'streaming', actions: ['markSent', 'startStream'] },
        progressed: { target: 'streaming', actions: ['markSent', 'startStream', 'progress'] },
        ended: { target: 'completed', actions: ['markSent', 'startStream', 'endStream'] },
        attemptFailed: retryOrFail,
        ...endings,
      },
      after: { sentTimeout: 'expired' },
    },
    dispatched: {
      on: {
        started: { target: 'streaming', actions: 'startStream' },
        progressed: { target: 'streaming', actions: ['startStream', 'progress'] },
        ended: { target: 'completed', actions: ['startStream', 'endStream'] },
        attemptFailed: retryOrFail,
        ...endings,
      },
      after: { firstTokenTimeout: 'expired' },
    },
    streaming: {
      on: {
        progressed: { target: 'streaming', reenter: true, actions: 'progress' },
        ended: { target: 'completed', actions: 'endStream' },
        // The client has bytes of this attempt: another one cannot take its place.
        attemptFailed: { target: 'failed', actions: 'failAttempt' },
        ...endings,
      },
      after: { silenceTimeout: 'expired' },
    },
    completed: { type: 'final', entry: 'complete' },
    rejected: { type: 'final', entry: 'reject' },
    failed: { type: 'final', entry: 'fail' },
    aborted: { type: 'final', entry: 'abortRequest' },
    expired: { type: 'final', entry: 'expire' },
  },
})
