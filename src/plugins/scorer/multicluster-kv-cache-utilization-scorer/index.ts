import { MULTICLUSTER_KV_CACHE_USAGE, type Reader } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'multicluster-kv-cache-utilization-scorer'

/**
 * Prefers clusters with free cache: 1 - usage, where usage is a fraction; those that do not say are left unscored.
 * (llm-d: multicluster-kv-cache-utilization-scorer)
 */
export class MulticlusterKvCacheUtilizationScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'
  private reader: Reader<number> | undefined = undefined

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [MULTICLUSTER_KV_CACHE_USAGE] }
  }

  setup(services: Services): void {
    this.reader = services.reader(MULTICLUSTER_KV_CACHE_USAGE)
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const reader = this.reader as Reader<number>
    for (let i = 0; i < candidates.length; i++) {
      const usage = reader.get(candidates[i] as Endpoint)
      if (usage !== undefined) out[i] = 1 - usage
    }
  }
}

export const multiclusterKvCacheUtilizationScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'alpha',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new MulticlusterKvCacheUtilizationScorer(context.name)
  },
}
