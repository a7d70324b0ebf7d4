import {
  ENDPOINT_ACTIONS,
  ENDPOINT_EVENTS,
  ENDPOINT_GUARDS,
  backoffMs,
  endpointMachine,
} from '../../machines/endpoint/machine.ts'
import { JOURNAL_LINK_ACTIONS, JOURNAL_LINK_EVENTS, journalLinkMachine } from '../../machines/journal-link/machine.ts'
import { REQUEST_ACTIONS, REQUEST_EVENTS, REQUEST_GUARDS, requestMachine } from '../../machines/request/machine.ts'
import type { Subject } from './agreement.ts'

export const request: Subject = {
  machine: requestMachine,
  events: REQUEST_EVENTS,
  actions: REQUEST_ACTIONS,
  guards: REQUEST_GUARDS,
}

export const endpoint: Subject = {
  machine: endpointMachine,
  events: ENDPOINT_EVENTS,
  actions: ENDPOINT_ACTIONS,
  guards: ENDPOINT_GUARDS,
  delays: { backoff: (actor) => backoffMs(actor.actions.filter((action) => action.startsWith('takeOut')).length) },
}

export const journalLink: Subject = {
  machine: journalLinkMachine,
  events: JOURNAL_LINK_EVENTS,
  actions: JOURNAL_LINK_ACTIONS,
  guards: [],
}
