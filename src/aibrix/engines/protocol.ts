import type { Pod } from '../pod.ts'

/** Numbers that a prefill call needs and that nobody may repeat. */
export interface LegIds {
  /** Uniform in [0, 2^63 - 1). */
  bootstrapRoom(): bigint
  /** Unique among all routers of the fleet. (AIBrix: disagg_request_id) */
  disaggRequestId(): bigint
}

/** The bodies of both legs as far as they are known before the prefill was run. */
export interface LegBodies {
  readonly prefill: Uint8Array
  readonly decode: Uint8Array
}

/** How an engine hands a request from its prefill side to its decode side. */
export interface EngineProtocol {
  readonly engine: string
  /** Whether the decode leg starts at once and the prefill's answer does not matter to it. */
  readonly isAsync: boolean
  /** @throws BodyError for a body that cannot be prefilled */
  prepare(body: Uint8Array, prefill: Pod, ids: LegIds): LegBodies
  /**
   * The decode leg's body, given the prefill's reply: a JSON object, or null for an empty one.
   * @throws BodyError for a reply without what it must have
   */
  merge(decodeBody: Uint8Array, reply: Uint8Array, prefill: Pod, path: string): Uint8Array
}
