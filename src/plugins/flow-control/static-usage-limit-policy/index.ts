import type { Plugin, PluginType, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, number } from '../../../core/parameters.ts'

const TYPE = 'static-usage-limit-policy'

/** Sets one ceiling of saturation for all priorities. Without effect while flow control is off. (llm-d: static-usage-limit-policy) */
export class StaticUsageLimitPolicy implements Plugin {
  readonly typedName: TypedName
  /** Saturation from which nothing is dispatched; 1 is full. */
  readonly threshold: number

  constructor(name: string, threshold: number) {
    this.typedName = { type: TYPE, name }
    this.threshold = threshold
  }
}

export const staticUsageLimitPolicy: PluginType = {
  type: TYPE,
  kinds: ['flow-control'],
  stability: 'beta',
  create: (context) => {
    const { threshold } = decodeParametersOf(`failed to parse the parameters of ${TYPE}: `, context.parameters, { threshold: number(1) })
    return new StaticUsageLimitPolicy(context.name, threshold)
  },
}
