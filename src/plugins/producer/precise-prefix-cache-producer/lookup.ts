import { prefixCacheMatchInfo, type PrefixCacheMatchInfo } from '../../../core/attribute.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { PromptShape, RequestShape } from '../../../core/request.ts'
import { PromptKeys } from '../approx-prefix-cache-producer/prompt-keys.ts'
import type { KvIndex } from './kv-index.ts'
import type { Tiers } from './tiers.ts'

/** The prompts of a request as keys, and what its candidates hold of them. */
export class Lookup {
  readonly keys: PromptKeys
  private readonly index: KvIndex
  private readonly tiers: Tiers
  private readonly blockTokens: number

  constructor(index: KvIndex, tiers: Tiers, kind: string, blockTokens: number) {
    this.index = index
    this.tiers = tiers
    this.blockTokens = blockTokens
    this.keys = new PromptKeys(kind)
  }

  /** Blocks of a prompt that have a key; they are then in `keys.words`. */
  read(prompt: Pick<PromptShape, 'blocks'>): number {
    return this.keys.read(prompt, this.blockTokens, undefined)
  }

  /** The match of each candidate, in their order; endpoints that match nothing share one. */
  matches(shape: RequestShape, candidates: readonly Endpoint[]): readonly PrefixCacheMatchInfo[] {
    // Most endpoints hold nothing: those need no tally.
    const tallies = new Array<Tally | undefined>(candidates.length).fill(undefined)
    let total = 0
    let hasMedia = false
    for (const prompt of shape.prompts) {
      const blocks = this.read(prompt)
      total += blocks
      hasMedia ||= prompt.media.length > 0
      const media = mediaBlocks(prompt, blocks, this.blockTokens)
      for (let at = 0; at < candidates.length; at++) tallies[at] = this.walk((candidates[at] as Endpoint).slot, blocks, media, tallies[at])
    }
    const nothing = new Tally(this.tiers).info(total, this.blockTokens, hasMedia)
    return tallies.map((tally) => tally?.info(total, this.blockTokens, hasMedia) ?? nothing)
  }

  /** Follows the prompt as far as the endpoint holds it without a gap. */
  private walk(slot: number, blocks: number, media: ReadonlySet<number>, known: Tally | undefined): Tally | undefined {
    const { index } = this
    const { words } = this.keys
    let tally = known
    for (let block = 0; block < blocks; block++) {
      const record = index.find(slot, words[2 * block] as number, words[2 * block + 1] as number)
      if (record === 0) return tally
      tally ??= new Tally(this.tiers)
      tally.add((tier) => index.references(record, tier) > 0, media.has(block))
    }
    return tally
  }
}

/** What one endpoint holds of a request. */
class Tally {
  private cached = 0
  private score = 0
  private media = 0
  private readonly tiers: Tiers
  private readonly byTier = new Map<string, number>()

  constructor(tiers: Tiers) {
    this.tiers = tiers
  }

  /** One block more, which counts as much as the best of the tiers that hold it. */
  add(isHeldIn: (tier: number) => boolean, isMedia: boolean): void {
    let best = 0
    for (const [tier, name] of this.tiers.names.entries()) {
      if (!isHeldIn(tier)) continue
      this.byTier.set(name, (this.byTier.get(name) ?? 0) + 1)
      best = Math.max(best, this.tiers.weight(tier))
    }
    this.score += best
    this.cached += 1
    if (isMedia) this.media += 1
  }

  info(total: number, blockTokens: number, hasMedia: boolean): PrefixCacheMatchInfo {
    return prefixCacheMatchInfo(Math.floor(this.score), total, blockTokens, {
      cachedBlockCount: this.cached,
      cachedBlocksByTier: this.byTier,
      mediaMatchBlocks: hasMedia ? this.media : undefined,
    })
  }
}

const NONE: ReadonlySet<number> = new Set()

/** The blocks in which a piece of media lies. */
const mediaBlocks = ({ media }: PromptShape, blocks: number, blockTokens: number): ReadonlySet<number> => {
  if (media.length === 0) return NONE
  const found = new Set<number>()
  for (const { offset, length } of media) {
    const last = Math.min(blocks - 1, Math.floor((offset + length - 1) / blockTokens))
    for (let block = Math.floor(offset / blockTokens); block <= last; block++) found.add(block)
  }
  return found
}
