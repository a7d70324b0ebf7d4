import { describeRolesets, RoutingError } from '../../../aibrix/index.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { denial, SchedulingError } from '../../../core/scheduling-error.ts'

/** Tells clients that it was the routing that failed. (AIBrix: x-error-routing) */
const ROUTING_FAILED: readonly (readonly [name: string, value: string])[] = [['x-error-routing', 'true']]

/** Rolesets named in one refusal. */
const SHOWN_MAX = 5

/** The answer to a request for which there is no pair: 503, with what is missing where that is known. (AIBrix: service_unavailable) */
export const refusalOf = (error: unknown, offered: readonly Endpoint[]): SchedulingError => {
  const why = error instanceof RoutingError && NOT_READY.has(error.failure) ? missing(offered) : ''
  return new SchedulingError({ ...denial('ServiceUnavailable', `error on selecting target pod: ${error instanceof Error ? error.message : String(error)}${why}`), headers: ROUTING_FAILED })
}

const NOT_READY: ReadonlySet<string> = new Set(['prefill-not-ready', 'decode-not-ready'])

/** Which side each roleset lacks. */
const missing = (offered: readonly Endpoint[]): string => {
  const { rolesets } = describeRolesets(offered)
  if (rolesets.length === 0) return ' (none has the labels roleset-name and role-name, prefill or decode)'
  const lacking = rolesets.filter(({ eligible }) => !eligible).map(({ roleset, prefillReplicas }) => `roleset ${JSON.stringify(roleset)} has no ${prefillReplicas === 0 ? 'prefill' : 'decode'} endpoint`)
  const more = lacking.length > SHOWN_MAX ? `, and ${lacking.length - SHOWN_MAX} more` : ''
  return lacking.length === 0 ? '' : ` (${lacking.slice(0, SHOWN_MAX).join(', ')}${more})`
}
