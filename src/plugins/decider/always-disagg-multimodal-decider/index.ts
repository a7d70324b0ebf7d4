import { TOKENIZED_PROMPT } from '../../../core/attribute.ts'
import type { Consumption, Decider, PluginType, TypedName } from '../../../core/contract.ts'
import type { Request } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'always-disagg-multimodal-decider'

/** Says yes to a request with at least one image, video or sound in its tokenized prompts. (llm-d: always-disagg-multimodal-decider) */
export class AlwaysDisaggMultimodalDecider implements Decider {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  consumes(): Consumption {
    return { required: [], optional: [TOKENIZED_PROMPT] }
  }

  runs(request: Request | undefined): boolean {
    return mediaOf(request) > 0
  }

  explain(request: Request | undefined): string {
    return `${mediaOf(request)} media in the prompt`
  }
}

const mediaOf = (request: Request | undefined): number => {
  let count = 0
  for (const prompt of request?.shape.prompts ?? []) count += prompt.media.length
  return count
}

export const alwaysDisaggMultimodalDecider: PluginType = {
  type: TYPE,
  kinds: ['decider'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new AlwaysDisaggMultimodalDecider(context.name)
  },
}
