/** A way of hashing a prompt into block keys that some producer needs. */
export interface WantedKeys {
  /** "approx": XXH64 chain over token ids, seeded with model and cache salt. */
  readonly kind: string
  /** Tokens a block, from 1. */
  readonly blockTokens: number
  /** Blocks at most per prompt; undefined for no bound. */
  readonly maxBlocks: number | undefined
}
