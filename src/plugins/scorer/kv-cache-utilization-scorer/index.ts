import { KV_CACHE_USAGE } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'kv-cache-utilization-scorer'

/** Prefers endpoints with free cache: 1 - usage, where usage is a fraction; the profile clamps. (llm-d: kv-cache-utilization-scorer) */
export class KvCacheUtilizationScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [KV_CACHE_USAGE] }
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    for (let i = 0; i < candidates.length; i++) out[i] = 1 - (candidates[i] as Endpoint).kvCacheUsage
  }
}

export const kvCacheUtilizationScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new KvCacheUtilizationScorer(context.name)
  },
}
