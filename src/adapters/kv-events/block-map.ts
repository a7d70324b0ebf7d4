import type { EngineHash } from '../../core/hash/engine-keys.ts'
import { engineKeys, KEY_BYTES, rootKey } from '../../core/hash/engine-keys.ts'
import { maskKeys } from '../../core/hash/siphash.ts'
import type { BlocksRemoved, BlocksStored, EngineBlock, EngineEvent } from './engine-events.ts'

/** How blocks are named towards the scheduler. */
export interface BlockNaming {
  readonly hash: EngineHash
  readonly blockTokens: number
  readonly seed: string
  /** Under which the pool's members hide the keys. */
  readonly mask: Uint32Array | undefined
}

/** A change in an endpoint's cache, as the scheduler takes it. */
export type BlockChange =
  | { readonly kind: 'stored'; readonly keys: Uint8Array; readonly tier: string }
  | { readonly kind: 'removed'; readonly keys: Uint8Array; readonly tier: string }
  | { readonly kind: 'cleared' }

/** Why an event is not taken. */
export type SkipReason = 'block-size' | 'unknown-parent' | 'unknown-block' | 'token-count' | 'extra-keys'

interface Known {
  /** Where the chain stands after the block, unmasked. */
  readonly last: Uint8Array
  readonly keys: Uint8Array
  /** How often it was stored in each medium and not removed. */
  readonly media: Map<string, number>
}

/** Blocks of one endpoint that are known at most: more than an engine's cache has. */
const BLOCKS_KNOWN_MAX = 1_048_576

/**
 * From the blocks that one engine names in its own way to keys that requests have too: it keeps for each of the engine's
 * blocks where the chain of keys stands after it, and no token. (llm-d: KV events)
 */
export class BlockMap {
  private readonly naming: BlockNaming
  private readonly skipped: (reason: SkipReason, blocks: number) => void
  private readonly known = new Map<EngineBlock, Known>()
  private readonly roots = new Map<string, Uint8Array>()
  private readonly max: number

  constructor(naming: BlockNaming, skipped: (reason: SkipReason, blocks: number) => void, max: number = BLOCKS_KNOWN_MAX) {
    this.naming = naming
    this.skipped = skipped
    this.max = max
  }

  get size(): number {
    return this.known.size
  }

  /** All that is held, as it would be stored anew: a block as often as it was stored in a medium and not removed. */
  held(): readonly BlockChange[] {
    const byTier = new Map<string, Uint8Array[]>()
    for (const { keys, media } of this.known.values()) {
      for (const [tier, times] of media) {
        const list = byTier.get(tier) ?? []
        if (list.length === 0) byTier.set(tier, list)
        for (let left = times; left > 0; left--) list.push(keys)
      }
    }
    return [...byTier].map(([tier, list]) => ({ kind: 'stored', keys: joined(list), tier }))
  }

  /** What an event means; nothing where it cannot be understood. `model` is the one that the endpoint serves. */
  take(event: EngineEvent, model: string): readonly BlockChange[] {
    switch (event.kind) {
      case 'stored':
        return this.stored(event, model)
      case 'removed':
        return this.removed(event)
      case 'cleared':
        this.forget()
        return [event]
    }
  }

  /** Forgets all: nothing is known of the engine's cache any more. */
  forget(): void {
    this.known.clear()
  }

  private stored(event: BlocksStored, model: string): readonly BlockChange[] {
    const parent = this.parentOf(event, model)
    const problem = parent === undefined ? 'unknown-parent' : this.problemOf(event)
    if (parent === undefined || problem !== undefined) {
      this.skipped(problem ?? 'unknown-parent', event.blocks.length)
      return []
    }
    const { hash, blockTokens, mask } = this.naming
    const each = event.blockTokens / blockTokens
    const chain = engineKeys(hash, parent, event.tokenIds, blockTokens, spread(event.extras, each))
    const keys = mask === undefined ? chain : chain.slice()
    if (mask !== undefined) maskKeys(keys, mask)
    const dropped: BlockChange[] = []
    for (const [at, block] of event.blocks.entries()) {
      const end = KEY_BYTES * each * (at + 1)
      this.remember(block, event.medium, chain.subarray(end - KEY_BYTES, end), keys.subarray(end - KEY_BYTES * each, end), dropped)
    }
    return [...dropped, { kind: 'stored', keys, tier: event.medium }]
  }

  private parentOf({ parent, adapter }: BlocksStored, model: string): Uint8Array | undefined {
    // 0 is no block: some engines begin their chains with it.
    if (parent !== undefined && parent !== 0) return this.known.get(parent)?.last
    const name = adapter === '' ? model : adapter
    let root = this.roots.get(name)
    if (root === undefined) {
      root = rootKey(this.naming.hash, this.naming.seed, name)
      if (this.roots.size < ROOTS_MAX) this.roots.set(name, root)
    }
    return root
  }

  private problemOf({ blocks, blockTokens, tokenIds, extras }: BlocksStored): SkipReason | undefined {
    if (blockTokens % this.naming.blockTokens !== 0) return 'block-size'
    if (tokenIds.length !== blocks.length * blockTokens) return 'token-count'
    return extras !== undefined && extras.length !== blocks.length ? 'extra-keys' : undefined
  }

  private remember(block: EngineBlock, medium: string, last: Uint8Array, keys: Uint8Array, dropped: BlockChange[]): void {
    const before = this.known.get(block)
    const media = before?.media ?? new Map<string, number>()
    media.set(medium, (media.get(medium) ?? 0) + 1)
    this.known.delete(block)
    this.known.set(block, { last, keys, media })
    if (this.known.size <= this.max) return
    for (const [oldest, { keys: gone, media: from }] of this.known) {
      this.known.delete(oldest)
      // Nobody could say any more when it is removed.
      for (const [tier, times] of from) for (let left = times; left > 0; left--) dropped.push({ kind: 'removed', keys: gone, tier })
      return
    }
  }

  private removed({ blocks, medium }: BlocksRemoved): readonly BlockChange[] {
    const gone: Uint8Array[] = []
    let unknown = 0
    for (const block of blocks) {
      const known = this.known.get(block)
      const times = known?.media.get(medium) ?? 0
      if (known === undefined || times === 0) {
        unknown += 1
        continue
      }
      gone.push(known.keys)
      if (times > 1) known.media.set(medium, times - 1)
      else known.media.delete(medium)
      if (known.media.size === 0) this.known.delete(block)
    }
    if (unknown > 0) this.skipped('unknown-block', unknown)
    return gone.length === 0 ? [] : [{ kind: 'removed', keys: joined(gone), tier: medium }]
  }
}

/** Models and adapters of one endpoint whose roots are kept. */
const ROOTS_MAX = 256

/** Extras are told by the engine's blocks: each of ours within one has them all. */
const spread = (extras: readonly (readonly string[])[] | undefined, each: number): readonly (readonly string[])[] | undefined =>
  extras === undefined || each === 1 ? extras : extras.flatMap((texts) => Array.from({ length: each }, () => texts))

/** Keys of several lists as one. */
export const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    all.set(part, at)
    at += part.length
  }
  return all
}
