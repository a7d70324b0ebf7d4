import type { PrefixCacheMatchInfo } from '../../../core/attribute.ts'
import type { PluginType, Scorer } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { PrecisePrefixCacheProducer } from '../../producer/precise-prefix-cache-producer/index.ts'
import { preciseParameters } from '../../producer/precise-prefix-cache-producer/parameters.ts'

const TYPE = 'precise-prefix-cache-scorer'

/** The precise producer and a score of its match in one: matched / total blocks. (llm-d: precise-prefix-cache-scorer) */
class PrecisePrefixCacheScorer extends PrecisePrefixCacheProducer implements Scorer {
  readonly category = 'affinity'
  /** By slot; a request is scored in the turn in which it was looked up. */
  private readonly ratios = new Map<number, number>()

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    for (let at = 0; at < candidates.length; at++) out[at] = this.ratios.get((candidates[at] as Endpoint).slot) ?? 0
  }

  protected override publish(candidates: readonly Endpoint[], infos: readonly PrefixCacheMatchInfo[]): void {
    super.publish(candidates, infos)
    this.ratios.clear()
    for (const [at, { matchBlocks, totalBlocks }] of infos.entries()) {
      if (matchBlocks > 0) this.ratios.set((candidates[at] as Endpoint).slot, matchBlocks / totalBlocks)
    }
  }
}

export const precisePrefixCacheScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer', 'producer', 'pre-request'],
  stability: 'beta',
  create: ({ name, parameters, warn }) => {
    warn(`${TYPE} is discouraged: use precise-prefix-cache-producer, and prefix-cache-scorer with its name as prefixMatchInfoProducerName`)
    return new PrecisePrefixCacheScorer(name, preciseParameters(parameters), TYPE)
  },
}
