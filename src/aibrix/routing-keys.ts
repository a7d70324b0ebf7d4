import { xxh64 } from '../core/hash/xxh64.ts'
import type { BlockKeys } from '../core/request.ts'
import { blockHashBytes, tokenBytes } from './block-hash.ts'

/** What makes bytes of a text: its UTF-8, or its cl100k_base tokens. */
export type RoutingTokenizer = 'character' | 'tiktoken'

const BLOCKS = 'aibrix'
/** Kinds that tell a length and have no keys: the whole text is one block of so many bytes, or cl100k_base tokens. */
export const ROUTING_BYTES = 'aibrix-bytes'
export const ROUTING_TOKENS = 'cl100k_base'

/** Kind of the block keys of a prompt's routing text; with other settings it is another kind, so none are mixed up. */
export const routingBlocksKind = (tokenizer: RoutingTokenizer, seed: string): string => `${BLOCKS}/${tokenizer}/${seed}`

/** Cuts a text into cl100k_base tokens. */
export type Cl100k = (text: string) => Uint32Array

/**
 * What a router may know of a prompt's text: hashes of its blocks and its lengths, for the wishes that are of these kinds.
 * With a pool's secret the seed of the hashes is one that only its holders know, so that short blocks cannot be guessed
 * from their hashes.
 */
export const routingKeys = (text: string, wishes: readonly Pick<BlockKeys, 'kind' | 'blockTokens'>[], cl100k: Cl100k, secret?: Uint8Array): readonly BlockKeys[] => {
  let tokens: Uint32Array | undefined
  const tokenized = (): Uint32Array => (tokens ??= cl100k(text))
  return wishes.flatMap(({ kind, blockTokens }): BlockKeys[] => {
    if (kind === ROUTING_TOKENS) return [{ kind, blockTokens: tokenized().length, keys: NO_KEYS }]
    const [family, tokenizer, seed] = kind.split('/')
    if (family !== BLOCKS || seed === undefined) return []
    const bytes = tokenizer === 'tiktoken' ? tokenBytes(tokenized()) : new TextEncoder().encode(text)
    const given = BigInt(seed)
    return [
      { kind, blockTokens, keys: blockHashBytes(bytes, blockTokens, secret === undefined ? given : xxh64(secret, given)) },
      { kind: ROUTING_BYTES, blockTokens: bytes.length, keys: NO_KEYS },
    ]
  })
}

const NO_KEYS = new Uint8Array(0)
