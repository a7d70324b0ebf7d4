import type { Picker, PluginType, Ranked, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { descending, naturalLogarithm } from '../../../core/numeric.ts'
import type { RandomStream } from '../../../core/random.ts'
import type { Request } from '../../../core/request.ts'
import { endpointsAtMost } from '../parameters.ts'
import { pickAny } from '../random-picker/index.ts'

const TYPE = 'weighted-random-picker'

// Stands for a draw of exactly 0, whose key would be 0 whatever the score. (llm-d's own value)
const SMALLEST_DRAW = 1e-10

/**
 * Picks endpoints with a chance in proportion to their totals, without replacement: those with the highest U^(1 / total),
 * compared as ln U / total. A total of 0 or less comes after all others; where none is above 0 any is picked.
 * (A-Res sampling; llm-d: weighted-random-picker)
 */
export class WeightedRandomPicker implements Picker {
  readonly typedName: TypedName
  readonly maxNumOfEndpoints: number

  constructor(name: string, maxNumOfEndpoints: number) {
    this.typedName = { type: TYPE, name }
    this.maxNumOfEndpoints = maxNumOfEndpoints
  }

  pick(_request: Request, ranked: Ranked, die: RandomStream): readonly Endpoint[] {
    const { endpoints, totals } = ranked
    if (!anyPositive(totals, endpoints.length)) return pickAny(endpoints, this.maxNumOfEndpoints, die)
    const keys = new Float64Array(endpoints.length)
    let best = 0
    for (let i = 0; i < keys.length; i++) {
      const total = totals[i] as number
      const key = total > 0 ? naturalLogarithm(die.next() || SMALLEST_DRAW) / total : -Infinity
      keys[i] = key
      if (key > (keys[best] as number)) best = i
    }
    if (this.maxNumOfEndpoints === 1) return [endpoints[best] as Endpoint]
    const order = endpoints.map((_, index) => index)
    order.sort((a, b) => descending(keys[a] as number, keys[b] as number))
    return order.slice(0, this.maxNumOfEndpoints).map((index) => endpoints[index] as Endpoint)
  }
}

const anyPositive = (totals: Float64Array, count: number): boolean => {
  for (let i = 0; i < count; i++) if ((totals[i] as number) > 0) return true
  return false
}

export const weightedRandomPicker: PluginType = {
  type: TYPE,
  kinds: ['picker'],
  stability: 'beta',
  create: (context) => new WeightedRandomPicker(context.name, endpointsAtMost(TYPE, context)),
}
