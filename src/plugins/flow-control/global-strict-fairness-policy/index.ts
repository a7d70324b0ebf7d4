import type { Plugin, PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'global-strict-fairness-policy'

/** Names the best head over all flows as the next to leave. Without effect while flow control is off. (llm-d: global-strict-fairness-policy) */
export class GlobalStrictFairnessPolicy implements Plugin {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }
}

export const globalStrictFairnessPolicy: PluginType = {
  type: TYPE,
  kinds: ['flow-control'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new GlobalStrictFairnessPolicy(context.name)
  },
}
