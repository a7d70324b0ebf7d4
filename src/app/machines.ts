import { endpointMachine, journalLinkMachine, requestMachine } from '../../machines/index.ts'

export { toMermaid, toXStateJson } from '../../machines/index.ts'

/** The machines by the name that commands give them. */
export const machines = { request: requestMachine, endpoint: endpointMachine, 'journal-link': journalLinkMachine } as const
