import { RUNNING_REQUESTS_SIZE } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'
import { rateLowerBetter } from '../lower-is-better.ts'

const TYPE = 'running-requests-size-scorer'

/** Prefers endpoints with fewer running requests: (max - n) / (max - min) over the candidates, 1 when all are equal. (llm-d: running-requests-size-scorer) */
export class RunningRequestsSizeScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [RUNNING_REQUESTS_SIZE] }
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    for (let i = 0; i < candidates.length; i++) out[i] = (candidates[i] as Endpoint).runningRequestsSize
    rateLowerBetter(out, candidates.length)
  }
}

export const runningRequestsSizeScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new RunningRequestsSizeScorer(context.name)
  },
}
