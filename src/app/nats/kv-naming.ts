import type { BlockNaming } from '../../adapters/kv-events/index.ts'
import type { KvNaming } from '../../adapters/nats/kv-publisher.ts'
import { rootKey } from '../../core/hash/engine-keys.ts'
import { maskKeys } from '../../core/hash/siphash.ts'

/** How blocks are named, as agents and schedulers compare it: the key of nothing shows whether seed and secret are the same, and neither of them. */
export const namingOf = ({ hash, blockTokens, seed, mask }: BlockNaming): KvNaming => {
  const root = rootKey(hash, seed, '')
  if (mask !== undefined) maskKeys(root, mask)
  return { hash, blockTokens, root }
}
