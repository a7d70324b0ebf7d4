import type { Decider, PluginType, TypedName } from '../../../core/contract.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'always-disagg-pd-decider'

/** Always says yes. (llm-d: always-disagg-pd-decider) */
export class AlwaysDisaggPdDecider implements Decider {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  runs(): boolean {
    return true
  }

  explain(): string {
    return 'always'
  }
}

export const alwaysDisaggPdDecider: PluginType = {
  type: TYPE,
  kinds: ['decider'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new AlwaysDisaggPdDecider(context.name)
  },
}
