import type { Connections } from '../connections.ts'
import type { FlatHeaders } from '../header-policy.ts'
import { PrefillCall } from './call.ts'
import type { PrefillFailure, PrefillLeg, PrefillObserver } from './leg.ts'

/** What a prefill is run for. */
export interface PrefillRun {
  readonly requestId: string
  readonly leg: PrefillLeg
  readonly model: string
  /** With its query; the reply goes by the path alone. */
  readonly path: string
  readonly headers: FlatHeaders
  readonly body: Buffer
}

/** Told how the two legs go on. */
export interface PrefillListener {
  /** The decode can be sent, with this body. */
  decode(body: Buffer): void
  /** The prefill is over, well or not; told once, before what follows from it. */
  prefillEnded(status: number): void
  /** The request came to nothing for its prefill. */
  prefillFailed(message: string, cause: PrefillFailure | 'body'): void
}

/**
 * Runs a prefill and lets the decode go: after the reply, or at once where the engine wants both side by side. A prefill
 * that fails beside its decode is told like any other: nobody will bring the blocks that the decode waits for.
 */
export class PrefillRunner {
  readonly #run: PrefillRun
  readonly #listener: PrefillListener
  readonly #observer: PrefillObserver
  #call: PrefillCall | undefined

  constructor(run: PrefillRun, observer: PrefillObserver, listener: PrefillListener) {
    this.#run = run
    this.#observer = observer
    this.#listener = listener
  }

  start(connections: Connections, onStale: () => void): void {
    const { leg, path, headers, body, model } = this.#run
    let bodies
    try {
      bodies = leg.prepare(body)
    } catch (error) {
      this.#listener.prefillEnded(0)
      this.#giveUp(`failed to prepare prefill payload: ${messageOf(error)}`, 'body')
      return
    }
    const decode = Buffer.from(bodies.decode)
    this.#observer.outstanding(1)
    this.#call = new PrefillCall(connections, { hostPort: leg.endpoint.hostPort, path, headers, body: Buffer.from(bodies.prefill), timeoutMs: leg.timeoutMs }, onStale, (outcome) => {
      if (outcome.kind === 'failed' && outcome.failure.kind !== 'reply') this.#observer.callFailed(model, outcome.failure)
      this.#observer.outstanding(-1)
      this.#listener.prefillEnded(outcome.kind === 'replied' ? 200 : outcome.failure.kind === 'status' ? outcome.failure.status : 0)
      if (outcome.kind === 'replied') this.#replied(decode, outcome.reply)
      else this.#giveUp(outcome.failure.message, outcome.failure)
    })
    this.#call.start()
    if (leg.isAsync) this.#listener.decode(decode)
  }

  /** The client has left: nobody waits for the prefill any more. */
  cancel(): void {
    this.#call?.cancel()
  }

  #replied(decode: Buffer, reply: Buffer): void {
    const { leg, path, model } = this.#run
    if (leg.isAsync) {
      this.#observer.succeeded(model)
      return
    }
    let merged
    try {
      merged = leg.merge(decode, reply, path.split('?', 1)[0] ?? path)
    } catch (error) {
      this.#giveUp(messageOf(error), { kind: 'reply', message: messageOf(error) })
      return
    }
    this.#observer.succeeded(model)
    this.#listener.decode(Buffer.from(merged))
  }

  #giveUp(message: string, cause: PrefillFailure | 'body'): void {
    const { requestId, leg, model } = this.#run
    this.#observer.gaveUp(requestId, model, leg.endpoint.id, message)
    if (!leg.isAsync) this.#observer.requestFailed(model)
    this.#listener.prefillFailed(message, cause)
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
