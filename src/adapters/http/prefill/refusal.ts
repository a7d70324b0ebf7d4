import type { AttemptFailure, DoorAnswer, Routed, SchedulerPort } from '../scheduler-port.ts'
import type { PrefillFailure, PrefillLeg } from './leg.ts'

/**
 * What a client is told whose prefill failed: 503 where the decode waited for it, 502 where the decode had begun beside
 * it and was ended. (AIBrix: 503 service_unavailable; it leaves a decode beside a failed prefill to hang)
 */
export const prefillRefusal = (requestId: string, { responseHeaders = [] }: Routed, leg: PrefillLeg, message: string): DoorAnswer => {
  const what = `prefill request failed for request ${requestId}, endpoint ${leg.endpoint.id}: ${message}`
  // Which endpoint it was is told also of what failed. (AIBrix: prefill-target-pod, prefill-target-pod-ip)
  const headers = [...ROUTING_FAILED, ...responseHeaders.filter(([name]) => name.startsWith('prefill-target-pod'))]
  return leg.isAsync
    ? { status: 502, code: 'bad_gateway', reason: '', message: what, headers }
    : { status: 503, code: 'service_unavailable', reason: '', message: `error on selecting target pod: ${what}`, headers }
}

/** Tells clients that it was the routing that failed. (AIBrix: x-error-routing) */
export const ROUTING_FAILED: readonly (readonly [name: string, value: string])[] = [['x-error-routing', 'true']]

/** Tells the scheduler that a request came to nothing for its prefill; settles when it has taken that. */
export const tellPrefillFailed = async (scheduler: SchedulerPort, route: Routed, leg: PrefillLeg, failure: PrefillFailure): Promise<void> => {
  const { attempt, status } = attemptFailureOf(failure)
  await scheduler.attemptFailed(route.request, route.attempt, leg.endpoint.id, attempt, status, false)
}

/** The failure in the scheduler's words. */
const attemptFailureOf = (failure: PrefillFailure): { readonly attempt: AttemptFailure; readonly status: number } => {
  switch (failure.kind) {
    case 'status':
      return { attempt: 'unavailable', status: failure.status }
    case 'deadline':
    case 'network-timeout':
    case 'cancelled':
      return { attempt: 'timeout', status: 0 }
    case 'reply':
      return { attempt: 'malformed', status: 200 }
    case 'transport':
      return { attempt: 'connect', status: 0 }
  }
}
