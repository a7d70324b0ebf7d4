import { PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT, type PrefixCacheMatchInfo, type Reader } from '../../../core/attribute.ts'
import type { Consumption, Decider, PluginContext, PluginType, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int, ParameterError } from '../../../core/parameters.ts'
import { tokensOf, type Request } from '../../../core/request.ts'

const TYPE = 'prefix-based-pd-decider'

export interface PrefixBasedPdDeciderSettings {
  /** Tokens left to compute from which prefill is worth an endpoint of its own; 0 never. */
  readonly nonCachedTokens: number
  /** Prompts shorter than so many tokens are never split; 0 for no such bound. */
  readonly promptTokens: number
}

/** What the decider saw: the answer follows from it. */
interface Finding {
  readonly runs: boolean
  readonly reason: string
}

const no = (reason: string): Finding => ({ runs: false, reason })

/**
 * Says yes when the chosen endpoint would have to compute at least `nonCachedTokens` tokens of the prompt: its tokens less
 * the blocks cached there, unweighted. (llm-d: prefix-based-pd-decider)
 */
export class PrefixBasedPdDecider implements Decider {
  readonly typedName: TypedName
  readonly settings: PrefixBasedPdDeciderSettings
  private reader: Reader<PrefixCacheMatchInfo> | undefined = undefined

  constructor(name: string, settings: PrefixBasedPdDeciderSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  /** Optional: whether the data is there is the profile handler's concern. */
  consumes(): Consumption {
    return { required: [], optional: [PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT] }
  }

  setup(services: Services): void {
    this.reader = services.reader(PREFIX_CACHE_MATCH_INFO)
  }

  runs(request: Request | undefined, endpoint: Endpoint | undefined): boolean {
    return this.find(request, endpoint).runs
  }

  explain(request: Request | undefined, endpoint: Endpoint | undefined): string {
    return this.find(request, endpoint).reason
  }

  private find(request: Request | undefined, endpoint: Endpoint | undefined): Finding {
    const { nonCachedTokens, promptTokens } = this.settings
    if (nonCachedTokens === 0) return no('nonCachedTokens is 0')
    if (endpoint === undefined) return no('no endpoint')
    if (request === undefined) return no('no request')
    const tokens = tokensOf(request)
    if (promptTokens > 0 && tokens < promptTokens) return no(`${tokens} tokens < ${promptTokens} (promptTokens)`)
    if (tokens < nonCachedTokens) return no(`${tokens} tokens < ${nonCachedTokens}`)
    const info = this.reader?.get(endpoint)
    if (info === undefined) return no(`${tokens} tokens, cached part unknown`)
    const cached = info.cachedBlockCount * info.blockSizeTokens
    const left = tokens - cached
    const runs = left >= nonCachedTokens
    return { runs, reason: `${tokens} tokens, ${cached} cached, ${left} left ${runs ? '>=' : '<'} ${nonCachedTokens}` }
  }
}

const settingsOf = (context: PluginContext): PrefixBasedPdDeciderSettings => {
  const fields = { nonCachedTokens: int(0), promptTokens: int(0) }
  const settings = decodeParametersOf(`failed to parse ${TYPE} plugin config: `, context.parameters, fields)
  for (const name of ['nonCachedTokens', 'promptTokens'] as const) {
    if (settings[name] < 0) {
      throw new ParameterError(`failed to create ${TYPE} plugin: ${name} parameter of prefix disaggregation decider cannot be negative`, [name])
    }
  }
  return settings
}

export const prefixBasedPdDecider: PluginType = {
  type: TYPE,
  kinds: ['decider'],
  stability: 'beta',
  create: (context) => new PrefixBasedPdDecider(context.name, settingsOf(context)),
}
