import type { Picker, PluginType, Ranked, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { descending } from '../../../core/numeric.ts'
import type { RandomStream } from '../../../core/random.ts'
import type { Request } from '../../../core/request.ts'
import { endpointsAtMost } from '../parameters.ts'
import { shuffled } from '../shuffle.ts'

const TYPE = 'max-score-picker'

/** Picks the endpoints with the highest totals, best first; the die decides among equals. (llm-d: max-score-picker) */
export class MaxScorePicker implements Picker {
  readonly typedName: TypedName
  readonly maxNumOfEndpoints: number

  constructor(name: string, maxNumOfEndpoints: number) {
    this.typedName = { type: TYPE, name }
    this.maxNumOfEndpoints = maxNumOfEndpoints
  }

  pick(_request: Request, ranked: Ranked, die: RandomStream): readonly Endpoint[] {
    const { endpoints, totals } = ranked
    if (endpoints.length === 0) return []
    if (this.maxNumOfEndpoints === 1) return [endpoints[bestOf(totals, endpoints.length, die)] as Endpoint]
    const order = shuffled(endpoints.length, die)
    order.sort((a, b) => descending(totals[a] as number, totals[b] as number))
    return order.slice(0, this.maxNumOfEndpoints).map((index) => endpoints[index] as Endpoint)
  }
}

/** Where the highest total is; nothing is drawn when only one has it. */
const bestOf = (totals: Float64Array, count: number, die: RandomStream): number => {
  let highest = -Infinity
  let first = 0
  let equals = 0
  for (let i = 0; i < count; i++) {
    const total = totals[i] as number
    if (total > highest) {
      highest = total
      first = i
      equals = 1
    } else if (total === highest) equals += 1
  }
  if (equals <= 1) return first
  let skip = die.below(equals)
  let at = first
  while (skip > 0) {
    at += 1
    if (totals[at] === highest) skip -= 1
  }
  return at
}

export const maxScorePicker: PluginType = {
  type: TYPE,
  kinds: ['picker'],
  stability: 'beta',
  create: (context) => new MaxScorePicker(context.name, endpointsAtMost(TYPE, context)),
}
