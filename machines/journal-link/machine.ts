import { setup } from 'xstate'
import type { AnyStateMachine } from 'xstate'
import { namedActions } from '../interpreter/names.ts'

/** Between two tries to write while the journal takes nothing: quick enough that the gap stays short. */
export const PROBE_INTERVAL_MS = 1_000
/** How long closing waits for the last batches: below the 30 s after which an orchestrator kills the process. */
export const CLOSE_TIMEOUT_MS = 10_000

export const JOURNAL_LINK_EVENTS = [
  'recovered',
  'writeFailed',
  'writeSucceeded',
  'caughtUp',
  'close',
  'closed',
] as const

export const JOURNAL_LINK_ACTIONS = [
  'openLink',
  'startSpooling',
  'probe',
  'catchUp',
  'resume',
  'flush',
  'abandon',
  'stopLink',
] as const

export type JournalLinkEventType = (typeof JOURNAL_LINK_EVENTS)[number]
export type JournalLinkAction = (typeof JOURNAL_LINK_ACTIONS)[number]
export type JournalLinkDelay = 'probeInterval' | 'closeTimeout'

/** An event of the machine; its owner's events carry more. */
export interface JournalLinkMachineEvent {
  readonly type: JournalLinkEventType
}

/** The state of the link between an engine and its journal. Names in words: README.md beside this file. */
export const journalLinkMachine: AnyStateMachine = setup({
  types: { events: {} as JournalLinkMachineEvent },
  actions: namedActions(JOURNAL_LINK_ACTIONS),
  delays: { probeInterval: PROBE_INTERVAL_MS, closeTimeout: CLOSE_TIMEOUT_MS },
}).createMachine({
  id: 'journalLink',
  initial: 'recovering',
  states: {
    recovering: { on: { recovered: { target: 'live', actions: 'openLink' }, close: 'closing' } },
    live: { on: { writeFailed: { target: 'spooling', actions: 'startSpooling' }, close: 'closing' } },
    spooling: {
      on: { writeSucceeded: 'catchingUp', close: 'closing' },
      after: { probeInterval: { target: 'spooling', reenter: true, actions: 'probe' } },
    },
    catchingUp: {
      entry: 'catchUp',
      on: {
        caughtUp: { target: 'live', actions: 'resume' },
        // What is spooled is still there: this goes on where it stood.
        writeFailed: 'spooling',
        close: 'closing',
      },
    },
    closing: {
      entry: 'flush',
      on: { closed: 'stopped' },
      after: { closeTimeout: { target: 'stopped', actions: 'abandon' } },
    },
    stopped: { type: 'final', entry: 'stopLink' },
  },
})
