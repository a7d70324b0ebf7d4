import type { PrefixCacheMatchInfo } from '../../../core/attribute.ts'
import type { Observation } from '../../../core/contract.ts'

const NO_LABELS = {}

/** How removals of blocks were taken. */
export interface Removals {
  /** Blocks that were not in the tier any more afterwards. */
  forwarded: number
  /** Blocks that had been stored there more often than removed. */
  suppressed: number
}

/** Counts what comes into the index, what goes, and what is found. (llm-d: kv_cache_index and kv_cache_events_dedup metrics) */
export class IndexMeasure {
  /** Seconds that only rise; without it lookups are not timed. No decision depends on it. */
  stopwatch: (() => number) | undefined
  private readonly observe: (observation: Observation) => void
  private readonly ofIndex: boolean
  private evictions = 0

  /** Unless `ofIndex`, only the removals are counted. */
  constructor(ofIndex: boolean, observe: (observation: Observation) => void) {
    this.ofIndex = ofIndex
    this.observe = observe
  }

  removed({ forwarded, suppressed }: Removals): void {
    this.count('kv_cache_events_dedup_removed_hashes_forwarded_total', forwarded)
    this.count('kv_cache_events_dedup_removed_hashes_suppressed_total', suppressed)
  }

  /** Blocks that were told to be stored or removed; `evictions` is what the index has lost to its bound so far. */
  changed(stored: number, removed: number, evictions: number): void {
    if (this.ofIndex) {
      this.count('kv_cache_index_admissions_total', stored)
      this.count('kv_cache_index_evictions_total', removed + evictions - this.evictions)
    }
    this.evictions = evictions
  }

  start(): number {
    return this.ofIndex ? (this.stopwatch?.() ?? 0) : 0
  }

  /** A lookup that began at `since`. What any candidate has, the one with the longest match has too: each is without gaps. */
  lookedUp(infos: readonly PrefixCacheMatchInfo[], since: number): void {
    if (!this.ofIndex) return
    let most = 0
    for (const { cachedBlockCount } of infos) most = Math.max(most, cachedBlockCount)
    this.count('kv_cache_index_lookup_requests_total', 1)
    this.count('kv_cache_index_lookup_hits_total', most)
    this.count('kv_cache_index_max_pod_hit_count_total', most)
    if (this.stopwatch !== undefined) this.observe({ kind: 'histogram', name: 'kv_cache_index_lookup_latency_seconds', labels: NO_LABELS, value: this.stopwatch() - since })
  }

  private count(name: string, value: number): void {
    if (value > 0) this.observe({ kind: 'counter', name, labels: NO_LABELS, value })
  }
}
