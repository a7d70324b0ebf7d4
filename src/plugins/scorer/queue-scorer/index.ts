import { WAITING_QUEUE_SIZE } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { rateLowerBetter } from '../lower-is-better.ts'

const TYPE = 'queue-scorer'

/** Prefers endpoints with fewer waiting requests: (max - n) / (max - min) over the candidates, 1 when all are equal. (llm-d: queue-scorer) */
export class QueueScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [WAITING_QUEUE_SIZE] }
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    for (let i = 0; i < candidates.length; i++) out[i] = (candidates[i] as Endpoint).waitingQueueSize
    rateLowerBetter(out, candidates.length)
  }
}

export const queueScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new QueueScorer(context.name)
  },
}
