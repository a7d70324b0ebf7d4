import { ACTIVE_MODELS, WAITING_MODELS } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'lora-affinity-scorer'

const LOADED = 1
const HAS_ROOM = 0.8
const LOADING = 0.6

/** Prefers endpoints that have the adapter loaded (1), then those with room for it (0.8), then those that load it (0.6). (llm-d: lora-affinity-scorer) */
export class LoraAffinityScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'affinity'

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [ACTIVE_MODELS, WAITING_MODELS] }
  }

  score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const model = request.targetModel
    for (let i = 0; i < candidates.length; i++) {
      const { activeModels, waitingModels, maxActiveModels } = candidates[i] as Endpoint
      if (activeModels.has(model)) out[i] = LOADED
      else if (activeModels.size + waitingModels.size < maxActiveModels) out[i] = HAS_ROOM
      else out[i] = waitingModels.has(model) ? LOADING : 0
    }
  }
}

export const loraAffinityScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new LoraAffinityScorer(context.name)
  },
}
