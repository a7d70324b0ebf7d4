import { Attempt } from '../attempt.ts'
import type { AttemptListener } from '../attempt.ts'
import type { Connections } from '../connections.ts'
import type { FlatHeaders } from '../header-policy.ts'
import type { AttemptFailure } from '../scheduler-port.ts'
import type { PrefillFailure } from './leg.ts'

/** A prefill to be asked for. */
export interface PrefillRequest {
  readonly hostPort: string
  /** With its query. */
  readonly path: string
  readonly headers: FlatHeaders
  readonly body: Buffer
  readonly timeoutMs: number
}

/** What a call came to. */
export type PrefillOutcome = { readonly kind: 'replied'; readonly reply: Buffer } | { readonly kind: 'failed'; readonly failure: PrefillFailure }

/** Of a reply that is no JSON: enough to tell what it is. */
const MESSAGE_CHARACTERS = 200
/** Largest reply that is taken, in bytes: it holds block ids, and with nixl goes whole into the decode's body. */
const REPLY_BYTES_MAX = 64 * 1024 * 1024

/**
 * One prefill, asked of one endpoint. Tells its outcome once: after a reply of status 200 that is a JSON object or null,
 * or when it failed, was given up, or its time was over.
 */
export class PrefillCall implements AttemptListener {
  readonly #attempt: Attempt
  readonly #timer: NodeJS.Timeout
  readonly #done: (outcome: PrefillOutcome) => void
  readonly #chunks: Buffer[] = []
  #bytes = 0
  #status = 0
  #isOver = false

  constructor(connections: Connections, request: PrefillRequest, onStale: () => void, done: (outcome: PrefillOutcome) => void) {
    this.#done = done
    const { hostPort, path, headers, body } = request
    this.#attempt = new Attempt(connections, { hostPort, method: 'POST', path, headers, body }, this, onStale)
    this.#timer = setTimeout(() => {
      this.#fail({ kind: 'deadline', message: `no reply within ${request.timeoutMs} ms` })
    }, request.timeoutMs)
  }

  start(): void {
    this.#attempt.start()
  }

  /** Gives it up: the client has left. */
  cancel(): void {
    this.#fail({ kind: 'cancelled', message: 'the client left' })
  }

  sent(): void {}

  head(status: number): void {
    this.#status = status
  }

  data(chunk: Buffer): void {
    this.#bytes += chunk.length
    if (this.#bytes > REPLY_BYTES_MAX) this.#fail({ kind: 'reply', message: `the reply is larger than ${REPLY_BYTES_MAX} bytes` })
    else this.#chunks.push(chunk)
  }

  end(): void {
    const reply = Buffer.concat(this.#chunks)
    if (this.#status !== OK) {
      this.#fail({ kind: 'status', status: this.#status, message: `http prefill request failed with status ${this.#status}: ${excerpt(reply)}` })
      return
    }
    if (isObjectOrNull(reply)) this.#settle({ kind: 'replied', reply })
    else this.#fail({ kind: 'reply', message: `the reply is not a JSON object: ${excerpt(reply)}` })
  }

  failed(cause: AttemptFailure | 'refused', error: Error): void {
    this.#fail({ kind: cause === 'timeout' ? 'network-timeout' : 'transport', message: error.message || cause })
  }

  #fail(failure: PrefillFailure): void {
    this.#attempt.abort()
    this.#settle({ kind: 'failed', failure })
  }

  #settle(outcome: PrefillOutcome): void {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    this.#done(outcome)
  }
}

const OK = 200

const excerpt = (reply: Buffer): string => reply.toString('utf8', 0, MESSAGE_CHARACTERS)

const isObjectOrNull = (reply: Buffer): boolean => {
  try {
    const value: unknown = JSON.parse(reply.toString())
    return typeof value === 'object' && !Array.isArray(value)
  } catch {
    return false
  }
}
