import type { Filter, PluginType } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { SessionAffinity } from './session-affinity.ts'
import { sessionAffinitySettingsOf } from './settings.ts'

/** Keeps the endpoint that the request's session is bound to; all when it is not among them. (llm-d: session-affinity-filter) */
export class SessionAffinityFilter extends SessionAffinity implements Filter {
  filter(request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    const index = this.indexOfBound(request, candidates)
    return index < 0 || candidates.length === 1 ? candidates : [candidates[index] as Endpoint]
  }
}

const filterType = (type: string): PluginType => ({
  type,
  kinds: ['filter', 'pre-request'],
  stability: 'alpha',
  create: (context) => new SessionAffinityFilter({ type, name: context.name }, sessionAffinitySettingsOf(type, context)),
})

export const sessionAffinityFilter: PluginType = filterType('session-affinity-filter')

/** The same across clusters. */
export const multiclusterSessionAffinityFilter: PluginType = filterType('multicluster-session-affinity-filter')
