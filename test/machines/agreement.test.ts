import fc from 'fast-check'
import { describe, it } from 'vitest'
import {
  ENDPOINT_ACTIONS,
  ENDPOINT_EVENTS,
  ENDPOINT_GUARDS,
  backoffMs,
  endpointMachine,
} from '../../machines/endpoint/machine.ts'
import {
  JOURNAL_LINK_ACTIONS,
  JOURNAL_LINK_EVENTS,
  journalLinkMachine,
} from '../../machines/journal-link/machine.ts'
import { REQUEST_ACTIONS, REQUEST_EVENTS, REQUEST_GUARDS, requestMachine } from '../../machines/request/machine.ts'
import type { Subject } from './agreement.ts'
import { commands, expectAgreement } from './agreement.ts'
import { randomSubject } from './random-machine.ts'

const machines: readonly Subject[] = [
  { machine: requestMachine, events: REQUEST_EVENTS, actions: REQUEST_ACTIONS, guards: REQUEST_GUARDS },
  {
    machine: endpointMachine,
    events: ENDPOINT_EVENTS,
    actions: ENDPOINT_ACTIONS,
    guards: ENDPOINT_GUARDS,
    delays: { backoff: (actor) => backoffMs(actor.actions.filter((action) => action.startsWith('takeOut')).length) },
  },
  { machine: journalLinkMachine, events: JOURNAL_LINK_EVENTS, actions: JOURNAL_LINK_ACTIONS, guards: [] },
]

describe('the compiled table and an XState actor', () => {
  it.each(machines.map((subject) => [subject.machine.id, subject] as const))(
    'do the same on any story of machine %s',
    (_id, subject) => {
      fc.assert(fc.property(commands, (story) => expectAgreement(subject, story)), { numRuns: 200 })
    },
  )

  it('do the same on any story of any machine', () => {
    fc.assert(fc.property(randomSubject, commands, (subject, story) => expectAgreement(subject, story)), { numRuns: 500 })
  })
})
