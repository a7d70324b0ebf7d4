/** How a prefill call failed. */
export type PrefillFailure =
  | { readonly kind: 'status'; readonly status: number }
  /** The client went away. */
  | { readonly kind: 'cancelled' }
  /** The call's own time was over. */
  | { readonly kind: 'deadline' }
  /** The network gave up. */
  | { readonly kind: 'network-timeout' }
  | { readonly kind: 'transport' }

/** Labels of gateway_prefill_request_fail_total. (AIBrix) */
export interface FailureLabels {
  readonly status: string
  readonly statusCode: string
}

export const failureLabels = (failure: PrefillFailure): FailureLabels => {
  switch (failure.kind) {
    case 'status':
      return { status: 'http_error', statusCode: String(failure.status) }
    case 'cancelled':
      return { status: 'context_canceled', statusCode: '499' }
    case 'deadline':
      return { status: 'deadline_exceeded', statusCode: '504' }
    case 'network-timeout':
      return { status: 'timeout', statusCode: '504' }
    case 'transport':
      return { status: 'error', statusCode: '502' }
  }
}

/** Labels of what fails before or beyond the call itself. */
export const SELECTION_FAILED: FailureLabels = { status: 'pd-filter-prefill-decode-pods-fail', statusCode: '400' }
export const PREFILL_FAILED: FailureLabels = { status: 'pd-do-prefill-request-error', statusCode: '500' }
export const PREFILL_SUCCEEDED: FailureLabels = { status: 'pd-prefill-request-success', statusCode: '200' }
