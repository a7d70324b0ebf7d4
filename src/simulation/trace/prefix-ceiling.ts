import type { TraceRequest } from './trace-request.ts'

/**
 * The most that any prefix cache can hit on the requests it is shown: one infinite cache for all of them, counting
 * the contiguous known blocks at the start of each prompt.
 */
export class PrefixCeiling {
  requests = 0
  inputTokens = 0
  outputTokens = 0
  blocks = 0
  hitBlocks = 0
  /** Tokens in the hit blocks; a partial last block counts what it has. */
  hitTokens = 0
  uniqueBlocks = 0
  readonly #scopes = new Map<string, Set<number>>()

  add(request: TraceRequest): void {
    this.requests++
    this.inputTokens += request.inputTokens
    this.outputTokens += request.outputTokens
    this.blocks += request.blockIds.length
    let known = this.#scopes.get(request.scope)
    if (known === undefined) this.#scopes.set(request.scope, (known = new Set()))
    let hits = 0
    while (hits < request.blockIds.length && known.has(request.blockIds[hits] as number)) hits++
    this.hitBlocks += hits
    this.hitTokens += Math.min(hits * request.blockTokens, request.inputTokens)
    const before = known.size
    for (let i = hits; i < request.blockIds.length; i++) known.add(request.blockIds[i] as number)
    this.uniqueBlocks += known.size - before
  }
}
