import { Pool } from 'undici'
import { PrefixCeiling } from '../trace/prefix-ceiling.ts'
import type { TraceRequest } from '../trace/trace-request.ts'
import { Exchange } from './exchange.ts'
import { chatBody } from './play-request.ts'
import type { RequestPlan } from './play-request.ts'
import { PlayTally } from './play-report.ts'
import type { PlayReport } from './play-report.ts'

export interface PlayOptions extends RequestPlan {
  /** Where the front door is; a path in front of `/v1` is kept. */
  readonly url: string
  /** Arrival times are divided by this (> 0). */
  readonly speed: number
  /** Requests in flight at most; later ones wait for a free connection. */
  readonly concurrency: number
  /** Requests of the trace to leave out at its start, and to send at most. */
  readonly offset: number
  readonly limit: number
  /** A request fails when nothing comes for this long, ms. */
  readonly timeoutMs: number
  /** Stops the play. */
  readonly signal?: AbortSignal
  /** Called after each request sent and each that ended. */
  readonly onProgress?: (progress: PlayProgress) => void
}

export interface PlayProgress {
  readonly sent: number
  readonly completed: number
  readonly failed: number
  readonly inFlight: number
}

/**
 * Sends a trace to a front door at its arrival times and reports how that went.
 * Errors of single requests are in the report; errors of the trace itself are thrown, after what is in flight was
 * broken off.
 */
export async function playTrace(trace: AsyncIterable<TraceRequest>, options: PlayOptions): Promise<PlayReport> {
  const play = new Play(options)
  try {
    return await play.run(trace)
  } finally {
    await play.close()
  }
}

class Play {
  readonly #options: PlayOptions
  readonly #pool: Pool
  readonly #path: string
  readonly #tally = new PlayTally()
  readonly #ceiling = new PrefixCeiling()
  readonly #inFlight = new Set<Exchange>()
  #freed: (() => void) | undefined

  constructor(options: PlayOptions) {
    const url = new URL(options.url)
    this.#options = options
    this.#path = `${url.pathname.replace(/\/$/, '')}/v1/chat/completions`
    this.#pool = new Pool(url.origin, {
      connections: options.concurrency, pipelining: 1, headersTimeout: options.timeoutMs, bodyTimeout: options.timeoutMs,
    })
  }

  async run(trace: AsyncIterable<TraceRequest>): Promise<PlayReport> {
    const { offset, limit, speed, concurrency, signal } = this.#options
    const startMs = performance.now()
    let firstAtMs: number | undefined
    let skipped = 0
    if (limit > 0) {
      for await (const request of trace) {
        if (skipped++ < offset) continue
        firstAtMs ??= request.atMs
        const dueMs = startMs + (request.atMs - firstAtMs) / speed
        await this.#sleepUntil(dueMs)
        if (this.#inFlight.size >= concurrency) this.#tally.heldBack++
        while (this.#inFlight.size >= concurrency && !this.#stopped) await this.#slot()
        if (this.#stopped) break
        this.#tally.latestMs = Math.max(this.#tally.latestMs, performance.now() - dueMs)
        this.#send(request)
        if (this.#tally.sent >= limit) break
      }
    }
    while (this.#inFlight.size > 0 && !this.#stopped) await this.#slot()
    this.#interruptAll()
    return this.#tally.report(this.#ceiling, performance.now() - startMs, signal?.aborted === true)
  }

  async close(): Promise<void> {
    this.#interruptAll()
    await this.#pool.destroy()
  }

  get #stopped(): boolean {
    return this.#options.signal?.aborted === true
  }

  #send(request: TraceRequest): void {
    this.#tally.sent++
    this.#ceiling.add(request)
    const exchange = new Exchange((outcome) => {
      this.#inFlight.delete(exchange)
      this.#tally.add(outcome)
      this.#freed?.()
      this.#tellProgress()
    })
    this.#inFlight.add(exchange)
    exchange.send(this.#pool, this.#path, chatBody(request, this.#options))
    this.#tellProgress()
  }

  #tellProgress(): void {
    const { sent, completed, failed } = this.#tally
    this.#options.onProgress?.({ sent, completed, failed, inFlight: this.#inFlight.size })
  }

  #interruptAll(): void {
    for (const exchange of this.#inFlight) exchange.interrupt()
  }

  /** Resolves when a request in flight ends, or the play is stopped. */
  async #slot(): Promise<void> {
    await this.#orStopped((resolve) => {
      this.#freed = resolve
      return () => {
        this.#freed = undefined
      }
    })
  }

  /** Always lets the event loop go round, so that a play that is behind still reads its answers. */
  async #sleepUntil(dueMs: number): Promise<void> {
    const delayMs = dueMs - performance.now()
    await this.#orStopped((resolve) => {
      if (delayMs <= 0) {
        const immediate = setImmediate(resolve)
        return () => clearImmediate(immediate)
      }
      const timer = setTimeout(resolve, Math.ceil(delayMs))
      return () => clearTimeout(timer)
    })
  }

  async #orStopped(start: (resolve: () => void) => () => void): Promise<void> {
    const { signal } = this.#options
    if (signal?.aborted === true) return
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const done = (): void => resolve(undefined)
    const cancel = start(done)
    signal?.addEventListener('abort', done, { once: true })
    await promise
    cancel()
    signal?.removeEventListener('abort', done)
  }
}
