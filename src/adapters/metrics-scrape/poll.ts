import type { Client, Dispatcher } from 'undici'

/** What a poll can end in besides a body. */
export type PollFailure = 'connect' | 'timeout' | 'status' | 'too-large' | 'broken'

export interface PollOutcome {
  /** Called once, unless the poll was given up. */
  done(bytes: Uint8Array, isOpenMetrics: boolean): void
  failed(failure: PollFailure, message: string): void
}

const TIMEOUTS = new Set(['UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT'])

/** One request for an endpoint's metrics. */
export class Poll implements Dispatcher.DispatchHandler {
  private readonly outcome: PollOutcome
  private readonly bytesMax: number
  private readonly chunks: Buffer[] = []
  private controller: Dispatcher.DispatchController | undefined
  private isOpenMetrics = false
  private length = 0
  private isOver = false

  constructor(outcome: PollOutcome, bytesMax: number) {
    this.outcome = outcome
    this.bytesMax = bytesMax
  }

  start(client: Client, path: string): void {
    client.dispatch({ path, method: 'GET', headers: { accept: 'text/plain;version=0.0.4;q=1,*/*;q=0.1' } }, this)
  }

  /** Ends it with this failure; what the connection says after that is not heard. */
  fail(failure: PollFailure, message: string): void {
    if (this.isOver) return
    this.giveUp()
    this.outcome.failed(failure, message)
  }

  /** Ends it without a word. */
  giveUp(): void {
    this.isOver = true
    this.chunks.length = 0
    if (this.controller?.aborted === false) this.controller.abort(new Error('the poll was given up'))
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller
    // It was given up while it waited for the connection.
    if (this.isOver) controller.abort(new Error('the poll was given up'))
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Readonly<Record<string, string | string[] | undefined>>): void {
    if (this.isOver || status < 200) return
    if (status !== 200) this.fail('status', `answered ${status}`)
    this.isOpenMetrics = String(headers['content-type']).startsWith('application/openmetrics-text')
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return
    this.length += chunk.length
    if (this.length > this.bytesMax) this.fail('too-large', `answered more than ${this.bytesMax} bytes`)
    else this.chunks.push(chunk)
  }

  onResponseEnd(): void {
    if (this.isOver) return
    this.isOver = true
    const [first] = this.chunks
    this.outcome.done(this.chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.chunks, this.length), this.isOpenMetrics)
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isOver) return
    this.isOver = true
    const isLate = TIMEOUTS.has((error as NodeJS.ErrnoException).code ?? '')
    this.outcome.failed(isLate ? 'timeout' : this.controller === undefined ? 'connect' : 'broken', error.message)
  }
}
