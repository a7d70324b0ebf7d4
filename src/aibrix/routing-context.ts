/** What policies may know of the request that they score for. */
export interface RoutingContext {
  /** The client's name of it; for messages. */
  readonly requestId: string
  readonly model: string
  readonly prompt: HashedPrompt
}

/** A prompt without its text. */
export interface HashedPrompt {
  /** Hashes of its full blocks, first block first. (AIBrix: prefix hash table) */
  readonly hashes: readonly bigint[]
  /** Bytes that the tokenizer made of it. */
  readonly bytes: number
}
