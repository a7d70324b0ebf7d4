import { prefixCacheMatchInfo, type PrefixCacheMatchInfo } from '../../../core/attribute.ts'

/** Values kept at most; few differ, since prompts have few lengths in blocks. */
const KEPT_MAX = 4096
const PER_MATCH = 4_294_967_296

/**
 * One value for each match of each total, shared by endpoints and by requests: writing a value that has been there for
 * long is several times cheaper than writing a new one, and most endpoints match nothing.
 */
export class MatchInfos {
  private readonly kept = new Map<number, PrefixCacheMatchInfo>()
  private blockTokens = 0

  of(match: number, total: number, blockTokens: number): PrefixCacheMatchInfo {
    if (blockTokens !== this.blockTokens || this.kept.size >= KEPT_MAX) {
      this.kept.clear()
      this.blockTokens = blockTokens
    }
    const key = match * PER_MATCH + total
    const known = this.kept.get(key)
    // Beyond 2^53 keys run together.
    if (known !== undefined && known.matchBlocks === match && known.totalBlocks === total) return known
    const made = prefixCacheMatchInfo(match, total, blockTokens)
    this.kept.set(key, made)
    return made
  }
}
