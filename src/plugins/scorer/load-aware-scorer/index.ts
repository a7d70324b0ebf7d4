import { WAITING_QUEUE_SIZE } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'load-aware-scorer'
const DEFAULT_THRESHOLD = 128

/** Prefers short queues: 0.5 for an empty one, falling to 0 at the threshold. (llm-d: load-aware-scorer) */
export class LoadAwareScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'
  /** Waiting requests from which the score is 0. */
  readonly threshold: number

  constructor(name: string, threshold: number) {
    this.typedName = { type: TYPE, name }
    this.threshold = threshold > 0 ? threshold : DEFAULT_THRESHOLD
  }

  consumes(): Consumption {
    return { required: [WAITING_QUEUE_SIZE] }
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const threshold = this.threshold
    for (let i = 0; i < candidates.length; i++) {
      const waiting = (candidates[i] as Endpoint).waitingQueueSize
      out[i] = waiting === 0 ? 0.5 : 0.5 * (1 - Math.min(waiting, threshold) / threshold)
    }
  }
}

export const loadAwareScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    const { threshold } = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' scorer - `, context.parameters, { threshold: int(DEFAULT_THRESHOLD) })
    if (threshold <= 0) context.warn(`${TYPE}: threshold ${threshold} is not positive, ${DEFAULT_THRESHOLD} is used`)
    return new LoadAwareScorer(context.name, threshold)
  },
}
