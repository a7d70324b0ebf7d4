import type { RequestEventType } from '../../machines/request/machine.ts'
import type { Denial } from '../core/contract.ts'
import type { EndCause, Usage } from '../core/request.ts'
import type { RequestReceived } from '../wire/request.ts'

/** What each event carries. */
type Events =
  | { readonly type: 'receive' | 'sent' | 'restart' | 'progressed' }
  | { readonly type: 'produced'; readonly producer: string; readonly shape: RequestReceived['shape']; readonly error: string }
  | { readonly type: 'started'; readonly status: number }
  | { readonly type: 'ended'; readonly cause: EndCause; readonly usage: Usage | undefined; readonly status: number }
  | { readonly type: 'attemptFailed'; readonly endpoint: string; readonly denial: Denial; readonly retryable: boolean }
  | { readonly type: 'abort'; readonly cause: EndCause }

/** An event of the request machine with what it carries; never, should a type of event have no place above. */
export type RequestEvent = RequestEventType extends Events['type'] ? (Events['type'] extends RequestEventType ? Events : never) : never
