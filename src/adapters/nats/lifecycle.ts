import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { nanos } from '@nats-io/nats-core'
import { decodeLifecycleReport, fromBytes, WireError } from '../../wire/index.ts'
import type { LifecycleReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { readLifecycleJson } from './lifecycle-json.ts'
import { Lookout } from './lookout.ts'
import type { Names } from './names.ts'
import { ensureStream } from './streams.ts'
import { isJson } from './telemetry.ts'

/** Reports are kept for this long, for an owner that restarts. */
const KEPT_MS = 3_600_000
/** A report not acknowledged is delivered again after this. */
const ACK_WAIT_MS = 30_000
/** Reports taken and not acknowledged, at most: about 2 s of them at 10,000 requests a second. */
const PENDING_MAX = 65_536
const RETRY_MS = 500

export interface LifecycleOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly streamReplicas: number
  /** Called in the order of the stream. To be acknowledged when it cannot be lost any more. */
  report(report: LifecycleReport, acknowledge: () => void): void
  malformed(): void
  failed(error: unknown): void
}

/** Reads what data planes tell of the requests that this replica routed, across restarts of replica and broker. */
export class LifecycleConsumer {
  private readonly options: LifecycleOptions
  private messages: ConsumerMessages | undefined
  private running: Promise<void> = Promise.resolve()
  private lookout: Lookout | undefined
  private closed = false
  private wake: (() => void) | undefined
  /** Reports that wait in the server. */
  behind = 0

  constructor(options: LifecycleOptions) {
    this.options = options
  }

  /** Makes the stream and the consumer when they are not there, and begins. */
  async start(): Promise<void> {
    await this.begin()
    this.running = this.run()
    const { link, names, replica } = this.options
    const manager = await link.manager()
    this.lookout = new Lookout(link, async () => (await manager.consumers.info(names.lifecycleStream, replica)).name === replica, () => this.messages?.stop())
  }

  async close(): Promise<void> {
    this.closed = true
    this.wake?.()
    this.lookout?.close()
    this.messages?.stop()
    await this.running
  }

  private async begin(): Promise<void> {
    const { link, names, replica, streamReplicas } = this.options
    const manager = await link.manager()
    await ensureStream(manager, { name: names.lifecycleStream, subjects: [names.anyLifecycle], num_replicas: streamReplicas, max_age: nanos(KEPT_MS) })
    await manager.consumers.add(names.lifecycleStream, {
      durable_name: replica,
      filter_subject: names.anyLifecycleOf(replica),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: PENDING_MAX,
    })
    const consumer = await link.jetstream().consumers.get(names.lifecycleStream, replica)
    this.messages = await consumer.consume({ abort_on_missing_resource: true, max_messages: 1000 })
  }

  /** The consumer ends when stream or consumer were deleted: both are made again. */
  private async run(): Promise<void> {
    while (!this.closed) {
      try {
        for await (const message of this.messages ?? []) this.take(message)
      } catch (error) {
        this.options.failed(error)
      }
      if (!this.closed) await this.again()
    }
  }

  private async again(): Promise<void> {
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, RETRY_MS)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    if (this.closed) return
    try {
      await this.begin()
    } catch (error) {
      if (this.options.link.connected) this.options.failed(error)
    }
  }

  private take(message: JsMsg): void {
    const report = readReport(message)
    this.behind = message.info.pending
    if (report === undefined) {
      this.options.malformed()
      message.term()
      return
    }
    this.options.report(report, () => message.ack())
  }
}

const readReport = (message: JsMsg): LifecycleReport | undefined => {
  if (isJson(message)) return readLifecycleJson(message.data)
  try {
    return fromBytes(decodeLifecycleReport, message.data)
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}
