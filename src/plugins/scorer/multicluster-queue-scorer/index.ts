import { MULTICLUSTER_QUEUE_SIZE, type Reader } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'multicluster-queue-scorer'

/**
 * Prefers clusters with shorter queues: (max - n) / (max - min) over those that say, 1 when these are equal; the others
 * are left unscored. (llm-d: multicluster-queue-scorer)
 */
export class MulticlusterQueueScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'
  private reader: Reader<number> | undefined = undefined

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [MULTICLUSTER_QUEUE_SIZE] }
  }

  setup(services: Services): void {
    this.reader = services.reader(MULTICLUSTER_QUEUE_SIZE)
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const reader = this.reader as Reader<number>
    let low = Infinity
    let high = -Infinity
    for (const endpoint of candidates) {
      const size = reader.get(endpoint)
      if (size === undefined) continue
      if (size < low) low = size
      if (size > high) high = size
    }
    for (let i = 0; i < candidates.length; i++) {
      const size = reader.get(candidates[i] as Endpoint)
      if (size !== undefined) out[i] = high > low ? (high - size) / (high - low) : 1
    }
  }
}

export const multiclusterQueueScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'alpha',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new MulticlusterQueueScorer(context.name)
  },
}
