export { RequestRefused, SchedulerClient } from './scheduler-client.ts'
export type { SchedulerClientOptions } from './scheduler-client.ts'
export { ScheduledRequest } from './scheduled-request.ts'
export type { Ended } from './scheduled-request.ts'
