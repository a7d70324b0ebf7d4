import type { Picker, PluginType, Ranked, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { RandomStream } from '../../../core/random.ts'
import type { Request } from '../../../core/request.ts'
import { endpointsAtMost } from '../parameters.ts'
import { shuffled } from '../shuffle.ts'

const TYPE = 'random-picker'

/** Picks any endpoints, whatever their totals. (llm-d: random-picker) */
export class RandomPicker implements Picker {
  readonly typedName: TypedName
  readonly maxNumOfEndpoints: number

  constructor(name: string, maxNumOfEndpoints: number) {
    this.typedName = { type: TYPE, name }
    this.maxNumOfEndpoints = maxNumOfEndpoints
  }

  pick(_request: Request, ranked: Ranked, die: RandomStream): readonly Endpoint[] {
    return pickAny(ranked.endpoints, this.maxNumOfEndpoints, die)
  }
}

/** So many endpoints, or all there are, in random order. */
export const pickAny = (endpoints: readonly Endpoint[], atMost: number, die: RandomStream): readonly Endpoint[] => {
  if (endpoints.length <= 1) return endpoints
  if (atMost === 1) return [endpoints[die.below(endpoints.length)] as Endpoint]
  return shuffled(endpoints.length, die).slice(0, atMost).map((index) => endpoints[index] as Endpoint)
}

export const randomPicker: PluginType = {
  type: TYPE,
  kinds: ['picker'],
  stability: 'beta',
  create: (context) => new RandomPicker(context.name, endpointsAtMost(TYPE, context)),
}
