import type { Plugin, PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'fcfs-ordering-policy'

/** Names the order of arrival as the order in which queued requests leave. Without effect while flow control is off. (llm-d: fcfs-ordering-policy) */
export class FcfsOrderingPolicy implements Plugin {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }
}

export const fcfsOrderingPolicy: PluginType = {
  type: TYPE,
  kinds: ['flow-control'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new FcfsOrderingPolicy(context.name)
  },
}
