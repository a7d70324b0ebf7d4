import type { PluginType, Scorer } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { SessionAffinity } from '../../filter/session-affinity-filter/session-affinity.ts'
import { sessionAffinitySettingsOf } from '../../filter/session-affinity-filter/settings.ts'

const TYPE = 'session-affinity-scorer'

/** Gives 1 to the endpoint that the request's session is bound to and 0 to the others. (llm-d: session-affinity-scorer) */
export class SessionAffinityScorer extends SessionAffinity implements Scorer {
  readonly category = 'affinity'

  score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    out.fill(0, 0, candidates.length)
    const index = this.indexOfBound(request, candidates)
    if (index >= 0) out[index] = 1
  }
}

export const sessionAffinityScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer', 'pre-request'],
  stability: 'alpha',
  create: (context) => new SessionAffinityScorer({ type: TYPE, name: context.name }, sessionAffinitySettingsOf(TYPE, context)),
}
