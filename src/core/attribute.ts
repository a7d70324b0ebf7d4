import type { Endpoint } from './endpoint.ts'

/**
 * Names one kind of fact and the producer that writes it; its text form is "dataType/producerName".
 * (llm-d: data keys)
 */
export interface DataKey<T> {
  readonly dataType: string
  readonly producer: string
  /** Only carries the type of the values. */
  readonly value?: T
}

/** The text form of a key, by which keys are compared. */
export const keyText = (key: DataKey<unknown>): string => `${key.dataType}/${key.producer}`

/** The same kind of fact from another producer; an empty name keeps the key's own. */
export const fromProducer = <T>(key: DataKey<T>, producer: string): DataKey<T> =>
  producer === '' ? key : { dataType: key.dataType, producer }

/** What a consumer holds of an attribute: one value an endpoint, for the request that is being scheduled. */
export interface Reader<T> {
  get(endpoint: Endpoint): T | undefined
}

/** What a producer holds of an attribute. */
export interface Writer<T> {
  /** Writes the value for the request that is being scheduled. */
  put(endpoint: Endpoint, value: T): void
  /** Makes the attribute dynamic: evaluated at each read, on every request. */
  provide(read: (endpoint: Endpoint) => T | undefined): void
}

/** One attribute of all endpoints, by slot. What was put lasts for one scheduling; what is provided lasts. */
export class Column<T> implements Reader<T>, Writer<T> {
  private readonly values: (T | undefined)[] = []
  private dynamic: ((endpoint: Endpoint) => T | undefined) | undefined = undefined

  get(endpoint: Endpoint): T | undefined {
    return this.dynamic === undefined ? this.values[endpoint.slot] : this.dynamic(endpoint)
  }

  put(endpoint: Endpoint, value: T): void {
    while (this.values.length <= endpoint.slot) this.values.push(undefined)
    this.values[endpoint.slot] = value
  }

  provide(read: (endpoint: Endpoint) => T | undefined): void {
    this.dynamic = read
  }

  /** Forgets what was put. */
  clear(): void {
    this.values.fill(undefined)
  }
}

/** How much of a prompt an endpoint holds in its cache, in blocks. (llm-d: PrefixCacheMatchInfo) */
export interface PrefixCacheMatchInfo {
  /** May be weighted by the tier in which the blocks are. */
  readonly matchBlocks: number
  readonly totalBlocks: number
  readonly blockSizeTokens: number
  /** Contiguous cached blocks, unweighted. */
  readonly cachedBlockCount: number
  readonly cachedBlocksByTier?: ReadonlyMap<string, number> | undefined
  /** Undefined for a text-only prompt. */
  readonly mediaMatchBlocks?: number | undefined
}

/** A match whose cached blocks are those that match, unless set apart. Values are shared between endpoints: never change one. */
export const prefixCacheMatchInfo = (
  matchBlocks: number,
  totalBlocks: number,
  blockSizeTokens: number,
  more: Partial<Pick<PrefixCacheMatchInfo, 'cachedBlockCount' | 'cachedBlocksByTier' | 'mediaMatchBlocks'>> = {},
): PrefixCacheMatchInfo => ({
  matchBlocks,
  totalBlocks,
  blockSizeTokens,
  cachedBlockCount: more.cachedBlockCount ?? matchBlocks,
  cachedBlocksByTier: more.cachedBlocksByTier,
  mediaMatchBlocks: more.mediaMatchBlocks,
})

/** Requests and tokens assigned to an endpoint and not released. Whole, never negative. */
export interface InFlightLoad {
  readonly requests: number
  readonly tokens: number
}

/** Tokens of one request that an endpoint would have to compute. */
export interface UncachedRequestTokens {
  readonly tokens: number
}

/** What a predictor expects of a request on an endpoint. */
export interface LatencyPredictionInfo {
  /** Milliseconds to the first token. */
  readonly ttftMs: number
  /** Milliseconds per output token after the first. */
  readonly tpotMs: number
}

export const PREFIX_CACHE_MATCH_INFO: DataKey<PrefixCacheMatchInfo> = {
  dataType: 'PrefixCacheMatchInfoDataKey',
  producer: 'approx-prefix-cache-producer',
}
export const IN_FLIGHT_LOAD: DataKey<InFlightLoad> = { dataType: 'InFlightLoadDataKey', producer: 'inflight-load-producer' }
export const UNCACHED_REQUEST_TOKENS: DataKey<UncachedRequestTokens> = {
  dataType: 'UncachedRequestTokensDataKey',
  producer: 'inflight-load-producer',
}
/** Orders plugins only: the data is the request's shape. */
export const TOKENIZED_PROMPT: DataKey<never> = { dataType: 'TokenizedPrompt', producer: 'token-producer' }
/** These four order plugins only: the data is in the endpoint's own fields. */
export const KV_CACHE_USAGE: DataKey<number> = { dataType: 'KVCacheUsagePercent', producer: 'core-metrics-extractor' }
export const WAITING_QUEUE_SIZE: DataKey<number> = { dataType: 'WaitingQueueSize', producer: 'core-metrics-extractor' }
export const RUNNING_REQUESTS_SIZE: DataKey<number> = { dataType: 'RunningRequestsSize', producer: 'core-metrics-extractor' }
export const ACTIVE_MODELS: DataKey<ReadonlyMap<string, number>> = { dataType: 'ActiveModels', producer: 'core-metrics-extractor' }
export const WAITING_MODELS: DataKey<ReadonlyMap<string, number>> = { dataType: 'WaitingModels', producer: 'core-metrics-extractor' }
export const LATENCY_PREDICTION_INFO: DataKey<LatencyPredictionInfo> = {
  dataType: 'LatencyPredictionInfoDataKey',
  producer: 'predicted-latency-producer',
}
/** These two come from other clusters; no producer of them is named. */
export const MULTICLUSTER_KV_CACHE_USAGE: DataKey<number> = { dataType: 'llm-d.ai/multicluster-kv-cache-utilization', producer: '' }
export const MULTICLUSTER_QUEUE_SIZE: DataKey<number> = { dataType: 'llm-d.ai/multicluster-queue-size', producer: '' }
/** A request attribute: the session that the request says it belongs to. */
export const SESSION_ID: DataKey<string> = { dataType: 'SessionIDDataKey', producer: 'session-id-producer' }
