import { REQUEST_ID } from '../header-policy.ts'
import type { FlatHeaders } from '../header-policy.ts'

/** Of the client's headers a prefill gets these. (AIBrix: request headers kept in the routing context) */
const PASSED: ReadonlySet<string> = new Set(['routing-strategy', 'config-profile', 'external-filter', 'user', 'authorization', 'traceparent', 'x-session-id', 'x-aibrix-session-key'])

/** The headers of a prefill call. */
export const prefillHeaders = (forwarded: readonly string[], requestId: string): FlatHeaders => {
  const headers: FlatHeaders = []
  for (let i = 0; i + 1 < forwarded.length; i += 2) {
    const name = forwarded[i] ?? ''
    if (PASSED.has(name.toLowerCase())) headers.push(name, forwarded[i + 1] ?? '')
  }
  headers.push('content-type', 'application/json', REQUEST_ID, requestId)
  return headers
}
