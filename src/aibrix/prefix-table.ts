import { byCodeUnit } from '../core/order.ts'
import { PrefixStore } from './prefix-store.ts'

/** Bounds of a prefix table. Times in microseconds. */
export interface PrefixTableLimits {
  readonly blocks: number
  readonly timeToLiveUs: number
  readonly sweepIntervalUs: number
}

/** A table as plain data; equal tables give equal data. */
export interface SavedPrefixTable {
  readonly sweptAt: number
  readonly models: readonly string[]
  readonly pods: readonly string[]
  /** In order of writing: hash in hexadecimal, time of writing, then for each model its number and pairs of pod number and time. */
  readonly blocks: readonly (readonly [hash: string, writtenAt: number, holders: readonly (readonly number[])[]])[]
}

/** Last time that a pod was given a block, by pod, by model. */
type Holders = Map<string, Map<string, number>>

/** Which pods were given which prompt blocks lately. (AIBrix: prefix cache hash table) */
export class PrefixTable {
  private readonly store: PrefixStore<bigint, Holders>
  private readonly sweepInterval: number
  private sweptAt = 0

  constructor(limits: PrefixTableLimits) {
    this.store = new PrefixStore(limits.blocks, limits.timeToLiveUs)
    this.sweepInterval = limits.sweepIntervalUs
  }

  get size(): number {
    return this.store.size
  }

  /**
   * Percent of the prompt's blocks, floored, that each of the pods holds without a gap from the first block on; pods that
   * hold none are left out.
   */
  matchPrefix(hashes: readonly bigint[], model: string, pods: readonly string[]): Map<string, number> {
    const matched = new Map<string, number>()
    let left = pods
    for (let i = 0; i < hashes.length; i++) {
      const holders = this.store.get(hashes[i] as bigint)?.get(model)
      if (holders === undefined) break
      left = left.filter((pod) => holders.has(pod))
      if (left.length === 0) break
      const percent = Math.floor(((i + 1) * 100) / hashes.length)
      for (const pod of left) matched.set(pod, percent)
    }
    return matched
  }

  /** Notes that the pod was given these blocks now. */
  addPrefix(hashes: readonly bigint[], model: string, pod: string, now: number): void {
    for (const hash of hashes) {
      const holders: Holders = this.store.get(hash) ?? new Map<string, Map<string, number>>()
      const pods = holders.get(model)
      if (pods === undefined) holders.set(model, new Map([[pod, now]]))
      else pods.set(pod, now)
      this.store.put(hash, holders, now)
    }
  }

  /** Forgets a pod: a new life of it holds nothing. */
  forgetPod(pod: string): void {
    for (const [, holders] of this.store.all()) for (const pods of holders.values()) pods.delete(pod)
  }

  /** Removes what is too old, at most once in each interval. */
  sweepAt(now: number): void {
    if (now - this.sweptAt < this.sweepInterval) return
    this.sweptAt = now
    this.store.sweep(now)
  }

  save(): SavedPrefixTable {
    const blocks = [...this.store.all()]
    const models = namesIn(blocks.flatMap(([, holders]) => [...holders.keys()]))
    const pods = namesIn(blocks.flatMap(([, holders]) => [...holders.values()].flatMap((each) => [...each.keys()])))
    const numberOf = (names: readonly string[]): ReadonlyMap<string, number> => new Map(names.map((name, index) => [name, index]))
    const modelNumbers = numberOf(models)
    const podNumbers = numberOf(pods)
    const holdersOf = (holders: Holders): (readonly number[])[] =>
      [...holders]
        .map(([model, each]) => [modelNumbers.get(model) ?? 0, ...[...each].map(([pod, at]) => [podNumbers.get(pod) ?? 0, at] as const).sort(([a], [b]) => a - b).flat()])
        .sort((a, b) => (a[0] ?? 0) - (b[0] ?? 0))
    return { sweptAt: this.sweptAt, models, pods, blocks: blocks.map(([hash, holders, writtenAt]) => [hash.toString(16), writtenAt, holdersOf(holders)]) }
  }

  /** Takes what was saved, into an empty table. */
  load(saved: SavedPrefixTable): void {
    this.sweptAt = saved.sweptAt
    for (const [hash, writtenAt, list] of saved.blocks) {
      const holders: Holders = new Map<string, Map<string, number>>()
      for (const [model, ...rest] of list) {
        const pods = new Map<string, number>()
        for (let i = 0; i + 1 < rest.length; i += 2) pods.set(saved.pods[rest[i] as number] ?? '', rest[i + 1] as number)
        holders.set(saved.models[model as number] ?? '', pods)
      }
      this.store.put(BigInt(`0x${hash}`), holders, writtenAt)
    }
  }
}

const namesIn = (names: readonly string[]): readonly string[] => [...new Set(names)].sort(byCodeUnit)
