import type { EngineHash } from '../../core/hash/engine-keys.ts'
import { engineKeys, KEY_BYTES, rootKey } from '../../core/hash/engine-keys.ts'
import { maskKeys } from '../../core/hash/siphash.ts'
import { isPrefixCache } from './engine-events.ts'
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

/** Why an event, or part of it, is not taken. */
export type SkipReason = 'cache-kind' | 'block-size' | 'unknown-parent' | 'unknown-block' | 'token-count' | 'extra-keys'

/** An event of which nothing is taken. */
export interface SkippedEvent {
  readonly of: 'stored' | 'removed'
  /** '' where the engine did not say. */
  readonly cacheKind: string
}

/** Told of blocks that are not taken, or of one event of a cache of another kind; `event` is undefined where some of the event was taken. */
export type Skipped = (reason: SkipReason, count: number, event: SkippedEvent | undefined) => void

/** A block that is known. Its keys are those from `from` up to `to` in the list of the message that told of it. */
interface Known {
  /** Unmasked: where the chain stands after the block are the last of its keys. */
  chain: Uint8Array
  keys: Uint8Array
  from: number
  to: number
  /** How often it was stored in its first medium and not removed; nearly all blocks are in one. */
  medium: string
  times: number
  /** The same for others, where there are any. */
  others: Map<string, number> | undefined
}

/** Blocks of one endpoint that are known at most: more than an engine's cache has. */
const BLOCKS_KNOWN_MAX = 1_048_576
/** Caches of one engine whose kind is kept: it has one for each sort of layer. */
const GROUPS_MAX = 256

/**
 * From the blocks that one engine names in its own way to keys that requests have too: it keeps for each of the engine's
 * blocks where the chain of keys stands after it, and no token. (llm-d: KV events)
 */
export class BlockMap {
  private readonly naming: BlockNaming
  private readonly skipped: Skipped
  private readonly known = new Map<EngineBlock, Known>()
  /** The kinds of the engine's caches, as told with what was last stored in them. They stay when all else is forgotten. */
  private readonly groups = new Map<number, string>()
  private readonly roots = new Map<string, Uint8Array>()
  private readonly max: number

  constructor(naming: BlockNaming, skipped: Skipped, max: number = BLOCKS_KNOWN_MAX) {
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
    for (const one of this.known.values()) {
      for (const [tier, times] of mediaOf(one)) {
        const list = byTier.get(tier) ?? []
        if (list.length === 0) byTier.set(tier, list)
        for (let left = times; left > 0; left--) list.push(keysOf(one))
      }
    }
    return [...byTier].map(([tier, list]) => ({ kind: 'stored', keys: joined(list), tier }))
  }

  /** What an event means; nothing where it cannot be understood. `model` is the one that the endpoint serves. */
  take(event: EngineEvent, model: string): readonly BlockChange[] {
    switch (event.kind) {
      case 'elsewhere':
      case 'stored': {
        const cacheKind = this.kindOf(event)
        if (event.kind === 'stored' && isPrefixCache(cacheKind)) return this.stored(event, model, cacheKind)
        this.skipped('cache-kind', 1, { of: 'stored', cacheKind })
        return []
      }
      case 'removed': {
        const cacheKind = this.groups.get(event.group ?? NaN) ?? ''
        if (isPrefixCache(cacheKind)) return this.removed(event, cacheKind)
        // A cache of another kind has blocks of the same names.
        this.skipped('cache-kind', 1, { of: 'removed', cacheKind })
        return []
      }
      case 'cleared':
        this.forget()
        return [event]
    }
  }

  /** Forgets all: nothing is known of the engine's cache any more. */
  forget(): void {
    this.known.clear()
  }

  /** The kind of the cache in which blocks are stored: as told, else as told before of the same group. */
  private kindOf({ cacheKind, group }: Pick<BlocksStored, 'cacheKind' | 'group'>): string {
    const { groups } = this
    if (group === undefined) return cacheKind
    const before = groups.get(group) ?? ''
    if (cacheKind === '' || cacheKind === before) return before
    if (groups.size < GROUPS_MAX || before !== '') groups.set(group, cacheKind)
    return cacheKind
  }

  private stored(event: BlocksStored, model: string, cacheKind: string): readonly BlockChange[] {
    const parent = this.parentOf(event, model)
    const problem = parent === undefined ? 'unknown-parent' : this.problemOf(event)
    if (parent === undefined || problem !== undefined) {
      this.skipped(problem ?? 'unknown-parent', event.blocks.length, { of: 'stored', cacheKind })
      return []
    }
    const { hash, blockTokens, mask } = this.naming
    const each = event.blockTokens / blockTokens
    const chain = engineKeys(hash, parent, event.tokenIds, blockTokens, spread(event.extras, each))
    const keys = mask === undefined ? chain : chain.slice()
    if (mask !== undefined) maskKeys(keys, mask)
    const dropped: BlockChange[] = []
    const bytes = KEY_BYTES * each
    for (let at = 0; at < event.blocks.length; at++) this.remember(event.blocks[at] as EngineBlock, event.medium, chain, keys, bytes * at, bytes * (at + 1), dropped)
    return [...dropped, { kind: 'stored', keys, tier: event.medium }]
  }

  private parentOf({ parent, adapter }: BlocksStored, model: string): Uint8Array | undefined {
    // 0 is no block: some engines begin their chains with it.
    if (parent !== undefined && parent !== 0) {
      const known = this.known.get(parent)
      return known?.chain.subarray(known.to - KEY_BYTES, known.to)
    }
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

  private remember(block: EngineBlock, medium: string, chain: Uint8Array, keys: Uint8Array, from: number, to: number, dropped: BlockChange[]): void {
    const { known } = this
    const before = known.get(block)
    if (before === undefined) {
      known.set(block, { chain, keys, from, to, medium, times: 1, others: undefined })
      if (known.size > this.max) this.dropOldest(dropped)
      return
    }
    // The newest again.
    known.delete(block)
    known.set(block, before)
    before.chain = chain
    before.keys = keys
    before.from = from
    before.to = to
    if (before.medium === medium || before.times === 0) {
      before.medium = medium
      before.times += 1
    } else {
      before.others ??= new Map()
      before.others.set(medium, (before.others.get(medium) ?? 0) + 1)
    }
  }

  private dropOldest(dropped: BlockChange[]): void {
    for (const [block, oldest] of this.known) {
      this.known.delete(block)
      // Nobody could say any more when it is removed.
      for (const [tier, times] of mediaOf(oldest)) for (let left = times; left > 0; left--) dropped.push({ kind: 'removed', keys: keysOf(oldest), tier })
      return
    }
  }

  private removed({ blocks, medium }: BlocksRemoved, cacheKind: string): readonly BlockChange[] {
    const gone: Uint8Array[] = []
    let unknown = 0
    for (const block of blocks) {
      const known = this.known.get(block)
      if (known === undefined || !takeOff(known, medium)) {
        unknown += 1
        continue
      }
      gone.push(keysOf(known))
      if (known.times === 0 && known.others === undefined) this.known.delete(block)
    }
    if (unknown > 0) this.skipped('unknown-block', unknown, gone.length > 0 ? undefined : { of: 'removed', cacheKind })
    return gone.length === 0 ? [] : [{ kind: 'removed', keys: gone.length === 1 ? (gone[0] as Uint8Array) : joined(gone), tier: medium }]
  }
}

const keysOf = ({ keys, from, to }: Known): Uint8Array => keys.subarray(from, to)

const mediaOf = ({ medium, times, others }: Known): readonly (readonly [medium: string, times: number])[] =>
  times === 0 ? [...(others ?? [])] : [[medium, times], ...(others ?? [])]

/** One less in a medium; false where it is not in it. */
const takeOff = (known: Known, medium: string): boolean => {
  if (known.times > 0 && known.medium === medium) {
    known.times -= 1
    return true
  }
  const times = known.others?.get(medium) ?? 0
  if (times === 0) return false
  if (times > 1) known.others?.set(medium, times - 1)
  else known.others?.delete(medium)
  if (known.others?.size === 0) known.others = undefined
  return true
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
