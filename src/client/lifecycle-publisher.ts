import { jetstream } from '@nats-io/jetstream'
import type { JetStreamClient } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/nats-core'

/** Between two tries at first; doubles up to the last. */
const RETRY_FIRST_MS = 50
const RETRY_LAST_MS = 2000
const ACK_TIMEOUT_MS = 2000

/** Publishes reports in order and each until the server has acknowledged it. */
export class LifecyclePublisher {
  private readonly js: JetStreamClient
  private readonly retryForMs: number
  private queue: Promise<void> = Promise.resolve()

  /** `retryForMs`: how long one report is tried. */
  constructor(connection: NatsConnection, retryForMs: number) {
    this.js = jetstream(connection, { timeout: ACK_TIMEOUT_MS })
    this.retryForMs = retryForMs
  }

  /**
   * Resolves when the server has it; rejects with the last failure when that took too long. The id lets the server drop
   * what a retry sent twice.
   */
  publish(subject: string, id: string, data: Uint8Array): Promise<void> {
    const sent = this.queue.then(() => this.tryAll(subject, id, data))
    this.queue = sent.catch(() => undefined)
    return sent
  }

  private async tryAll(subject: string, id: string, data: Uint8Array): Promise<void> {
    const until = performance.now() + this.retryForMs
    for (let waitMs = RETRY_FIRST_MS; ; waitMs = Math.min(waitMs * 2, RETRY_LAST_MS)) {
      try {
        await this.js.publish(subject, data, { msgID: id, retries: 0 })
        return
      } catch (error) {
        if (performance.now() + waitMs > until) throw error
      }
      await new Promise((resolve) => setTimeout(resolve, waitMs))
    }
  }
}
