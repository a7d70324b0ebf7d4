import type { Buffer } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { ChatStream } from './chat-stream.ts'
import type { Outcome, Stage } from './play-report.ts'

const HEADERS = { 'content-type': 'application/json', accept: 'text/event-stream' }

/** Response headers in which a front door names the endpoints it chose. */
const STAGE_HEADERS: Readonly<Record<Stage, string>> = {
  decode: 'x-signalbox-decode-endpoint',
  prefill: 'x-signalbox-prefill-endpoint',
  encode: 'x-signalbox-encode-endpoints',
}

/** One streamed chat completion, from sending to its end. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #sentAtMs = performance.now()
  readonly #stream = new ChatStream()
  readonly #ended: (outcome: Outcome) => void
  #status = 0
  #endpoints: Outcome['endpoints'] = { decode: [], prefill: [], encode: [] }
  #controller: Dispatcher.DispatchController | undefined
  #over = false

  /** `ended` is called exactly once, after `send` or `interrupt`. */
  constructor(ended: (outcome: Outcome) => void) {
    this.#ended = ended
  }

  send(dispatcher: Dispatcher, path: string, body: Buffer): void {
    dispatcher.dispatch({ method: 'POST', path, headers: HEADERS, body }, this)
  }

  /** Breaks it off; it ends with the kind `interrupted`. */
  interrupt(): void {
    this.#end({ kind: 'interrupted', detail: 'the play was stopped' })
    this.#controller?.abort(new Error('interrupted'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#over) controller.abort(new Error('interrupted'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status
    const named = (stage: Stage): string[] => {
      const value = headers[STAGE_HEADERS[stage]]
      const text = Array.isArray(value) ? value.join(',') : (value ?? '')
      return text.split(',').map((name) => name.trim()).filter((name) => name !== '')
    }
    this.#endpoints = { decode: named('decode'), prefill: named('prefill'), encode: named('encode') }
  }

  onResponseData(_controller: Dispatcher.DispatchController, piece: Buffer): void {
    this.#stream.take(piece, performance.now())
  }

  onResponseEnd(): void {
    const stream = this.#stream
    if (this.#status !== 200) this.#end({ kind: `status ${this.#status}`, detail: stream.tail })
    else if (stream.done) this.#end(undefined)
    else if (stream.error !== undefined) this.#end({ kind: 'error in stream', detail: stream.error })
    else this.#end({ kind: 'incomplete', detail: `the stream ended without [DONE]: ${stream.tail}` })
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#end({ kind: connectionFailure(error), detail: error.message === '' ? error.name : error.message })
  }

  #end(error: Outcome['error']): void {
    if (this.#over) return
    this.#over = true
    const { firstAtMs, lastAtMs, usage } = this.#stream
    const gaps = (usage?.completionTokens ?? 0) - 1
    this.#ended({
      error,
      firstTokenMs: firstAtMs - this.#sentAtMs,
      endMs: performance.now() - this.#sentAtMs,
      interTokenMs: gaps > 0 ? (lastAtMs - firstAtMs) / gaps : undefined,
      usage,
      endpoints: this.#endpoints,
    })
  }
}

const FAILURES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'connection reset',
  EPIPE: 'connection reset',
  UND_ERR_SOCKET: 'connection reset',
  UND_ERR_CONNECT_TIMEOUT: 'connect timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
}

/** The kind of failure behind a client error, for counting. */
export function connectionFailure(error: unknown): string {
  const code = codeOf(error)
  return FAILURES[code] ?? (code === '' ? 'client error' : code)
}

function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return ''
  if ('code' in error && typeof error.code === 'string') return error.code
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error.cause
  return first === error ? '' : codeOf(first)
}
