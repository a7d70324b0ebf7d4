import { byCodeUnit } from '../../../core/order.ts'

export interface LoadRow {
  readonly endpoint: string
  readonly requests: number
  readonly tokens: number
}

export interface LoadView {
  readonly endpoints: readonly LoadRow[]
  /** Before the cut. */
  readonly totalEndpoints: number
  readonly maxEndpoints: number
  readonly truncated: boolean
}

// What a person can look through.
const ENDPOINTS_SHOWN_MAX = 100

/** Loads for people: the busiest endpoint first, then by id. (llm-d: inflight-load-producer's state dump) */
export const loadView = (rows: readonly LoadRow[]): LoadView => {
  const sorted = [...rows].sort((a, b) => b.requests + b.tokens - (a.requests + a.tokens) || byCodeUnit(a.endpoint, b.endpoint))
  return {
    endpoints: sorted.slice(0, ENDPOINTS_SHOWN_MAX),
    totalEndpoints: sorted.length,
    maxEndpoints: ENDPOINTS_SHOWN_MAX,
    truncated: sorted.length > ENDPOINTS_SHOWN_MAX,
  }
}
