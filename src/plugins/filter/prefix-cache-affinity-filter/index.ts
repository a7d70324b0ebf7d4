import {
  fromProducer, IN_FLIGHT_LOAD, LATENCY_PREDICTION_INFO, PREFIX_CACHE_MATCH_INFO,
  type DataKey, type InFlightLoad, type LatencyPredictionInfo, type PrefixCacheMatchInfo, type Reader,
} from '../../../core/attribute.ts'
import type { Consumption, Filter, PluginType, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { Request } from '../../../core/request.ts'
import { affinitySettingsOf, type AffinityFilterSettings } from './settings.ts'

export type { AffinityFilterSettings } from './settings.ts'

const TYPE = 'prefix-cache-affinity-filter'
const MILLIS_PER_S = 1000

/**
 * Keeps the endpoints that hold most of the prompt, unless the best of them would be so much slower to the first token
 * than the best of the others that the cache is not worth it. (llm-d: prefix-cache-affinity-filter)
 */
export class PrefixCacheAffinityFilter implements Filter {
  readonly typedName: TypedName
  readonly settings: AffinityFilterSettings
  private services: Services | undefined = undefined
  private prefixInfo: Reader<PrefixCacheMatchInfo> | undefined = undefined
  private inFlight: Reader<InFlightLoad> | undefined = undefined
  private prediction: Reader<LatencyPredictionInfo> | undefined = undefined

  constructor(name: string, settings: AffinityFilterSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  consumes(): Consumption {
    const required: DataKey<unknown>[] = [this.prefixKey()]
    if (this.readsPrediction()) required.push(this.predictionKey())
    if (this.readsInFlight()) required.push(this.inFlightKey())
    return { required }
  }

  setup(services: Services): void {
    this.services = services
    this.prefixInfo = services.reader(this.prefixKey())
    if (this.readsPrediction()) this.prediction = services.reader(this.predictionKey())
    if (this.readsInFlight()) this.inFlight = services.reader(this.inFlightKey())
  }

  filter(_request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    const { affinityThreshold, explorationProbability, maxTTFTPenaltyMs } = this.settings
    if (candidates.length <= 1 || affinityThreshold <= 0) return candidates
    // Nothing is drawn where no draw could explore.
    if (explorationProbability > 0 && this.draw() < explorationProbability) return candidates
    const sticky: Endpoint[] = []
    let bestSticky = Infinity
    let bestOther = Infinity
    for (const endpoint of candidates) {
      const isSticky = this.ratio(endpoint) >= affinityThreshold
      if (isSticky) sticky.push(endpoint)
      if (maxTTFTPenaltyMs <= 0) continue
      const ttftMs = this.ttftMs(endpoint)
      if (isSticky) bestSticky = Math.min(bestSticky, ttftMs)
      else bestOther = Math.min(bestOther, ttftMs)
    }
    if (sticky.length === 0 || sticky.length === candidates.length) return candidates
    if (maxTTFTPenaltyMs > 0 && bestSticky - bestOther > maxTTFTPenaltyMs) return candidates
    return sticky
  }

  private draw(): number {
    if (this.services === undefined) throw new Error(`${TYPE}: setup() was not called`)
    return this.services.die().next()
  }

  private ratio(endpoint: Endpoint): number {
    const info = this.prefixInfo?.get(endpoint)
    return info !== undefined && info.totalBlocks > 0 ? info.matchBlocks / info.totalBlocks : 0
  }

  /** Estimated time to the first token; without data none by load and the longest by prediction. */
  private ttftMs(endpoint: Endpoint): number {
    if (this.settings.ttftSource === 'latencyPredictor') return this.prediction?.get(endpoint)?.ttftMs ?? Number.MAX_VALUE
    return ((this.inFlight?.get(endpoint)?.tokens ?? 0) / this.settings.peakPrefillThroughput) * MILLIS_PER_S
  }

  private readsPrediction(): boolean {
    return this.settings.maxTTFTPenaltyMs > 0 && this.settings.ttftSource === 'latencyPredictor'
  }

  private readsInFlight(): boolean {
    return this.settings.maxTTFTPenaltyMs > 0 && this.settings.ttftSource === 'prefillThroughput'
  }

  private prefixKey(): DataKey<PrefixCacheMatchInfo> {
    return fromProducer(PREFIX_CACHE_MATCH_INFO, this.settings.prefixMatchInfoProducerName)
  }

  private predictionKey(): DataKey<LatencyPredictionInfo> {
    return fromProducer(LATENCY_PREDICTION_INFO, this.settings.latencyPredictionInfoProducerName)
  }

  private inFlightKey(): DataKey<InFlightLoad> {
    return fromProducer(IN_FLIGHT_LOAD, this.settings.inFlightLoadProducerName)
  }
}

export const prefixCacheAffinityFilter: PluginType = {
  type: TYPE,
  kinds: ['filter'],
  stability: 'beta',
  create: (context) => new PrefixCacheAffinityFilter(context.name, affinitySettingsOf(context)),
}
