/** What one peer replica assigned or released; `opens` replaces all that was held for it. */
export interface PeerLoadReport {
  readonly replica: string
  readonly opens: boolean
  readonly assigned: readonly PeerAssignment[]
  readonly released: readonly Pick<PeerAssignment, 'request' | 'attempt' | 'profile'>[]
}
/** A peer's request on an endpoint, told by id and incarnation; an empty incarnation matches any. */
export interface PeerAssignment {
  readonly request: number
  readonly attempt: number
  readonly profile: string
  readonly endpoint: string
  readonly incarnation: string
  readonly promptTokens: number
  readonly outputTokens: number
}
