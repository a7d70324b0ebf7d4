/** What is known of a pod's load; undefined is what nobody measured. (AIBrix: pod metrics) */
export interface PodMetrics {
  /** Requests sent to it and not finished; undefined until its first one: such a pod is cold. */
  readonly runningRequests: number | undefined
  /** Tokens generated a second. */
  readonly generationThroughput: number | undefined
  /** Fraction of the KV cache in use, from 0 to 1. */
  readonly kvCacheUsage: number | undefined
  /** Requests completed a second, over the last minute. */
  readonly drainRate1m: number | undefined
  readonly waitingRequests: number | undefined
  /** Requests that wait for room on the prefill and on the decode side. */
  readonly prefillPreallocQueue: number | undefined
  readonly decodePreallocQueue: number | undefined
  /** Requests that leave its queues a second, over the last minute; of combined pods' ratio only. */
  readonly queueDrainRate1m: number | undefined
  readonly prefillTime: PrefillTime | undefined
}

/** The histogram of prefill times so far. */
export interface PrefillTime {
  readonly count: number
  readonly sumSeconds: number
}

export type MetricsOf<P> = (pod: P) => PodMetrics

export const UNMEASURED: PodMetrics = {
  runningRequests: undefined,
  generationThroughput: undefined,
  kvCacheUsage: undefined,
  drainRate1m: undefined,
  waitingRequests: undefined,
  prefillPreallocQueue: undefined,
  decodePreallocQueue: undefined,
  queueDrainRate1m: undefined,
  prefillTime: undefined,
}
