/** The producer that is added for data which nobody produces, by the kind of data. (llm-d: default producers) */
export const DEFAULT_PRODUCERS: ReadonlyMap<string, string> = new Map([
  ['PrefixCacheMatchInfoDataKey', 'approx-prefix-cache-producer'],
  ['InFlightLoadDataKey', 'inflight-load-producer'],
  ['LatencyPredictionInfoDataKey', 'predicted-latency-producer'],
  ['MultiModalEncoderCacheMatchInfoKey', 'mm-embeddings-cache-producer'],
  ['TokenizedPrompt', 'token-producer'],
  ['SessionIDDataKey', 'session-id-producer'],
  ['AibrixPodMetrics', 'aibrix-metrics-producer'],
])
