import type { BlockKeys } from './request.ts'

/** What one peer replica assigned or released; `opens` replaces all that was held for it. */
export interface PeerLoadReport {
  readonly replica: string
  readonly opens: boolean
  readonly assigned: readonly PeerAssignment[]
  readonly released: readonly Pick<PeerHolding, 'request' | 'attempt' | 'profile'>[]
}

/** A peer's request on an endpoint, told by id and incarnation; an empty incarnation matches any. */
export interface PeerHolding {
  readonly request: number
  readonly attempt: number
  readonly profile: string
  readonly endpoint: string
  readonly incarnation: string
  readonly promptTokens: number
  readonly outputTokens: number
}

/**
 * A holding as it is told. The block keys are those that the endpoint has in its cache from now on, one list a prompt;
 * none where they were told before, or where the endpoint computes no prompt.
 */
export interface PeerAssignment extends PeerHolding {
  readonly blocks: readonly BlockKeys[]
}
