import { fromProducer, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo, type Reader } from '../../../core/attribute.ts'
import type { Consumption, PluginContext, PluginType, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int, number, ParameterError, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'prefix-cache-scorer'
const MULTICLUSTER_TYPE = 'multicluster-prefix-cache-scorer'

const FIELDS = {
  prefixMatchInfoProducerName: text(''),
  matchLengthWeight: number(0),
  matchLengthScaleTokens: int(8192),
}

export interface PrefixCacheScorerSettings {
  readonly prefixMatchInfoProducerName: string
  /** Share of the score that the length of the match has; the rest is its share of the prompt. From 0 to 1. */
  readonly matchLengthWeight: number
  /** Matched tokens from which the length counts in full. */
  readonly matchLengthScaleTokens: number
}

/**
 * Prefers endpoints that hold more of the prompt: w min(1, matched tokens / scale)^2 + (1 - w) matched / total blocks;
 * 0 where nothing is known. (llm-d: prefix-cache-scorer)
 */
export class PrefixCacheScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'affinity'
  readonly settings: PrefixCacheScorerSettings
  private reader: Reader<PrefixCacheMatchInfo> | undefined = undefined
  private services: Services | undefined = undefined

  constructor(typedName: TypedName, settings: PrefixCacheScorerSettings) {
    this.typedName = typedName
    this.settings = settings
  }

  consumes(): Consumption {
    return { required: [fromProducer(PREFIX_CACHE_MATCH_INFO, this.settings.prefixMatchInfoProducerName)] }
  }

  setup(services: Services): void {
    this.services = services
    this.reader = services.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, this.settings.prefixMatchInfoProducerName))
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const reader = this.reader as Reader<PrefixCacheMatchInfo>
    let missing = 0
    for (let i = 0; i < candidates.length; i++) {
      const info = reader.get(candidates[i] as Endpoint)
      if (info === undefined) {
        missing += 1
        out[i] = 0
      } else out[i] = this.rate(info)
    }
    if (missing > 0) this.reportMissing(missing)
  }

  private rate(info: PrefixCacheMatchInfo): number {
    if (!(info.totalBlocks > 0)) return 0
    const ratio = info.matchBlocks / info.totalBlocks
    const weight = this.settings.matchLengthWeight
    if (weight <= 0) return ratio
    const tokens = info.blockSizeTokens > 0 ? info.matchBlocks * info.blockSizeTokens : 0
    const length = Math.min(1, tokens / this.settings.matchLengthScaleTokens)
    return weight * length * length + (1 - weight) * ratio
  }

  private reportMissing(missing: number): void {
    const { type, name } = this.typedName
    this.services?.observe({ kind: 'counter', name: 'missing_prefix_match_info_total', labels: { plugin_name: name, plugin_type: type }, value: missing })
  }
}

const settingsOf = (context: PluginContext): PrefixCacheScorerSettings => {
  const settings = decodeParametersOf('failed to parse the parameters of the prefix scorer plugin - ', context.parameters, FIELDS)
  const { matchLengthWeight: weight, matchLengthScaleTokens: scale } = settings
  if (weight < 0 || weight > 1) {
    throw new ParameterError(`matchLengthWeight must be between 0.0 and 1.0, got ${weight}`, ['matchLengthWeight'])
  }
  if (weight > 0 && scale <= 0) {
    throw new ParameterError(`matchLengthScaleTokens must be greater than 0 when matchLengthWeight is greater than 0, got ${scale}`, ['matchLengthScaleTokens'])
  }
  return settings
}

const pluginType = (type: string, stability: PluginType['stability']): PluginType => ({
  type,
  kinds: ['scorer'],
  stability,
  create: (context) => new PrefixCacheScorer({ type, name: context.name }, settingsOf(context)),
})

export const prefixCacheScorer: PluginType = pluginType(TYPE, 'beta')
export const multiclusterPrefixCacheScorer: PluginType = pluginType(MULTICLUSTER_TYPE, 'alpha')
