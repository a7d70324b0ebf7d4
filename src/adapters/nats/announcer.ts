import { headers } from '@nats-io/nats-core'
import type { NatsLink } from './connection.ts'
import { tokenOf } from './names.ts'

/** How often an announcement is written again: the heartbeat of endpoints and of replicas. */
export const HEARTBEAT_MS = 2000

/** Writes one key of a bucket again and again. It needs no more than the right to publish to that key. */
export class Announcer {
  private readonly link: NatsLink
  private readonly subject: string
  private readonly value: () => Uint8Array
  private readonly failed: (error: unknown) => void
  private timer: NodeJS.Timeout | undefined
  private writing: Promise<void> = Promise.resolve()

  /** `value` is asked for each write. */
  constructor(link: NatsLink, bucket: string, key: string, value: () => Uint8Array, failed: (error: unknown) => void) {
    this.link = link
    this.subject = `$KV.${bucket}.${tokenOf(key)}`
    this.value = value
    this.failed = failed
  }

  /** Writes now and then every 2 s. */
  start(everyMs: number = HEARTBEAT_MS): void {
    void this.write()
    this.timer = setInterval(() => void this.write(), everyMs)
  }

  /** Writes now; resolves when the server has it or the failure was told. */
  write(): Promise<void> {
    this.writing = this.writing.then(() => this.put())
    return this.writing
  }

  /** Stops, and deletes the key, so that readers need not wait for the heartbeat to be missed. */
  async leave(): Promise<void> {
    this.stop()
    await this.writing
    if (!this.link.connected) return
    const marked = headers()
    marked.set('KV-Operation', 'DEL')
    await this.link.jetstream().publish(this.subject, '', { headers: marked }).catch(this.failed)
  }

  /** Stops as a process that dies does: the key stays. */
  stop(): void {
    clearInterval(this.timer)
  }

  private async put(): Promise<void> {
    // A write that waits for the broker would be out of date when it comes.
    if (!this.link.connected) return
    try {
      await this.link.jetstream().publish(this.subject, this.value())
    } catch (error) {
      this.failed(error)
    }
  }
}
