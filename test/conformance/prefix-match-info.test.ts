import { expect } from 'vitest'
import { type PrefixCacheMatchInfo, prefixCacheMatchInfo } from '../../src/core/attribute.ts'
import { type Case, expectMatch, forEachCase, NO_KIND } from './runner.ts'

interface Change {
  readonly withCachedBlockCount?: number
  readonly withCachedBlocksByTier?: Readonly<Record<string, number>>
  readonly withMM?: number
  readonly setTier?: readonly [string, number]
}
interface Input extends Change {
  readonly new: readonly [number, number, number]
  readonly clone?: boolean
  readonly thenOnClone?: Change
}

/** Values never change: what is set apart makes another one, so a copy needs no copying. */
const changed = (info: PrefixCacheMatchInfo, change: Change): PrefixCacheMatchInfo => {
  const tiers = change.withCachedBlocksByTier === undefined ? info.cachedBlocksByTier : new Map(Object.entries(change.withCachedBlocksByTier))
  return prefixCacheMatchInfo(info.matchBlocks, info.totalBlocks, info.blockSizeTokens, {
    cachedBlockCount: change.withCachedBlockCount ?? info.cachedBlockCount,
    ...(tiers === undefined ? {} : { cachedBlocksByTier: change.setTier === undefined ? tiers : new Map([...tiers, change.setTier]) }),
    ...(change.withMM === undefined ? {} : { mediaMatchBlocks: change.withMM }),
  })
}

const viewOf = (info: PrefixCacheMatchInfo): object => ({
  ...info,
  cachedBlocksByTier: info.cachedBlocksByTier === undefined ? null : Object.fromEntries(info.cachedBlocksByTier),
  mm: info.mediaMatchBlocks === undefined ? null : { matchBlocks: info.mediaMatchBlocks },
})

forEachCase('prefix-match-info.json', {
  [NO_KIND]: ({ input, expected, tolerance }: Case<unknown, Input, Record<string, unknown>>) => {
    const fresh = prefixCacheMatchInfo(...input.new)
    expect(fresh.cachedBlockCount).toBe(fresh.matchBlocks)
    const original = changed(fresh, input)
    const clone = changed(original, input.thenOnClone ?? {})
    expectMatch({ ...viewOf(original), original: viewOf(original), clone: viewOf(clone) }, expected, tolerance)
    if (Object.hasOwn(expected, 'cachedBlocksByTier')) {
      expect((viewOf(original) as Record<string, unknown>)['cachedBlocksByTier']).toEqual(expected['cachedBlocksByTier'])
    }
  },
})
