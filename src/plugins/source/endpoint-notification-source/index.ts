import type { Plugin, PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'endpoint-notification-source'

/**
 * Stands for the news of endpoints that come and go. Each plugin that wants them gets them whether or not the file lists
 * this source. (llm-d: endpoint-notification-source)
 */
export class EndpointNotificationSource implements Plugin {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }
}

export const endpointNotificationSource: PluginType = {
  type: TYPE,
  kinds: ['source'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new EndpointNotificationSource(context.name)
  },
}
