import { setup } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { namedActions, namedGuards } from '../interpreter/names.ts'

/** Failed attempts or 5xx in a row that take an endpoint out: one may be the request's fault, two chance. */
export const STRIKES_MAX = 3
/** The first time out: about what a process needs to be restarted by its supervisor. */
export const BACKOFF_FIRST_MS = 1_000
/** The longest time out: a mended endpoint is back within half a minute. */
export const BACKOFF_LONGEST_MS = 30_000

/** Milliseconds out of the candidates at the `outages`-th time in a row (from 1): 1 s, doubling, 30 s at most. */
export function backoffMs(outages: number): number {
  let delay = BACKOFF_FIRST_MS
  for (let n = 1; n < outages && delay < BACKOFF_LONGEST_MS; n += 1) delay *= 2
  return delay < BACKOFF_LONGEST_MS ? delay : BACKOFF_LONGEST_MS
}

export const ENDPOINT_EVENTS = [
  'join',
  'ready',
  'drain',
  'leave',
  'heard',
  'silent',
  'idle',
  'busy',
  'saturated',
  'attemptFailed',
  'attemptSucceeded',
] as const

export const ENDPOINT_ACTIONS = [
  'noteJoined',
  'noteReady',
  'noteDraining',
  'noteLeft',
  'countStrike',
  'clearStrikes',
  'takeOut',
  'bringBack',
  'noteFresh',
  'noteStale',
  'noteLoad',
] as const

export const ENDPOINT_GUARDS = ['strikesOut'] as const

export type EndpointEventType = (typeof ENDPOINT_EVENTS)[number]
export type EndpointAction = (typeof ENDPOINT_ACTIONS)[number]
export type EndpointGuard = (typeof ENDPOINT_GUARDS)[number]
export type EndpointDelay = 'backoff'

/** An event of the machine; its owner's events carry more. */
export interface EndpointMachineEvent {
  readonly type: EndpointEventType
}

/** The life of one incarnation of an endpoint: four things about it that change apart. Names in words: README.md. */
export const endpointMachine: AnyStateMachine = setup({
  types: { events: {} as EndpointMachineEvent },
  actions: namedActions(ENDPOINT_ACTIONS),
  guards: namedGuards(ENDPOINT_GUARDS),
  // No constant: it depends on how often in a row, which the record knows.
  delays: { backoff: () => BACKOFF_FIRST_MS },
}).createMachine({
  id: 'endpoint',
  type: 'parallel',
  states: {
    presence: {
      initial: 'joining',
      on: { leave: '.left' },
      states: {
        joining: {
          on: {
            join: { actions: 'noteJoined' },
            ready: { target: 'ready', actions: 'noteReady' },
            drain: { target: 'draining', actions: 'noteDraining' },
          },
        },
        ready: { on: { drain: { target: 'draining', actions: 'noteDraining' } } },
        draining: { on: { ready: { target: 'ready', actions: 'noteReady' } } },
        left: { type: 'final', entry: 'noteLeft' },
      },
    },
    reachability: {
      initial: 'reachable',
      on: { leave: '.left' },
      states: {
        reachable: {
          on: {
            attemptFailed: [
              { guard: 'strikesOut', target: 'unreachable', actions: 'countStrike' },
              { actions: 'countStrike' },
            ],
            attemptSucceeded: { actions: 'clearStrikes' },
          },
        },
        unreachable: {
          entry: 'takeOut',
          // Attempts that were under way when it was taken out fail too: they neither count nor renew the timer.
          on: { attemptSucceeded: { target: 'reachable', actions: ['clearStrikes', 'bringBack'] } },
          after: { backoff: { target: 'reachable', actions: 'bringBack' } },
        },
        left: { type: 'final' },
      },
    },
    freshness: {
      initial: 'unknown',
      on: { leave: '.left' },
      states: {
        unknown: { on: { heard: { target: 'fresh', actions: 'noteFresh' } } },
        fresh: { on: { silent: { target: 'stale', actions: 'noteStale' } } },
        stale: { on: { heard: { target: 'fresh', actions: 'noteFresh' } } },
        left: { type: 'final' },
      },
    },
    load: {
      initial: 'idle',
      on: { leave: '.left' },
      states: {
        idle: {
          on: {
            busy: { target: 'busy', actions: 'noteLoad' },
            saturated: { target: 'saturated', actions: 'noteLoad' },
          },
        },
        busy: {
          on: {
            idle: { target: 'idle', actions: 'noteLoad' },
            saturated: { target: 'saturated', actions: 'noteLoad' },
          },
        },
        saturated: {
          on: {
            idle: { target: 'idle', actions: 'noteLoad' },
            busy: { target: 'busy', actions: 'noteLoad' },
          },
        },
        left: { type: 'final' },
      },
    },
  },
})
