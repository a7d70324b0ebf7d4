import type { PrefixCacheMatchInfo } from '../../../core/attribute.ts'
import type { Observation } from '../../../core/contract.ts'

const NO_LABELS = {}

/** Counts what comes into the index, what goes, and what is found. (llm-d: kv_cache_index metrics) */
export class IndexMeasure {
  /** Seconds that only rise; without it lookups are not timed. No decision depends on it. */
  stopwatch: (() => number) | undefined
  private readonly observe: ((observation: Observation) => void) | undefined
  private evictions = 0

  /** Without `observe` nothing is measured. */
  constructor(observe: ((observation: Observation) => void) | undefined) {
    this.observe = observe
  }

  /** Blocks that were told to be stored or removed; `evictions` is what the index has lost to its bound so far. */
  changed(stored: number, removed: number, evictions: number): void {
    this.count('admissions', stored)
    this.count('evictions', removed + evictions - this.evictions)
    this.evictions = evictions
  }

  start(): number {
    return this.observe === undefined ? 0 : (this.stopwatch?.() ?? 0)
  }

  /** A lookup that began at `since`. What any candidate has, the one with the longest match has too: each is without gaps. */
  lookedUp(infos: readonly PrefixCacheMatchInfo[], since: number): void {
    if (this.observe === undefined) return
    let most = 0
    for (const { cachedBlockCount } of infos) most = Math.max(most, cachedBlockCount)
    this.count('lookup_requests', 1)
    this.count('lookup_hits', most)
    this.count('max_pod_hit_count', most)
    if (this.stopwatch !== undefined) this.observe({ kind: 'histogram', name: 'kv_cache_index_lookup_latency_seconds', labels: NO_LABELS, value: this.stopwatch() - since })
  }

  private count(what: string, value: number): void {
    if (value > 0) this.observe?.({ kind: 'counter', name: `kv_cache_index_${what}_total`, labels: NO_LABELS, value })
  }
}
