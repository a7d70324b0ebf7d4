import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream'
import type { JsMsg } from '@nats-io/jetstream'
import { nanos } from '@nats-io/nats-core'
import { decodeLifecycleReport, fromBytes, WireError } from '../../wire/index.ts'
import type { LifecycleReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { readLifecycleJson } from './lifecycle-json.ts'
import type { Names } from './names.ts'
import { StreamReading } from './stream-reading.ts'
import type { OpenedStream } from './stream-reading.ts'
import { ensureStream } from './streams.ts'
import { isJson } from './telemetry.ts'

/** Reports are kept for this long, for an owner that restarts. */
const KEPT_MS = 3_600_000
/** A report not acknowledged is delivered again after this. */
const ACK_WAIT_MS = 30_000
/** Reports taken and not acknowledged, at most: about 2 s of them at 10,000 requests a second. */
const PENDING_MAX = 65_536
/** Reports fetched ahead of the one that is read, at most. */
const AHEAD_MAX = 1000

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
  private readonly reading: StreamReading
  /** Reports that wait in the server. */
  behind = 0

  constructor(options: LifecycleOptions) {
    this.options = options
    this.reading = new StreamReading({
      link: options.link,
      ahead: AHEAD_MAX,
      open: () => this.open(),
      read: async (messages) => {
        for await (const message of messages) this.take(message)
      },
      failed: options.failed,
    })
  }

  /** Makes the stream and the consumer when they are not there, and begins. */
  start(): Promise<void> {
    return this.reading.start()
  }

  close(): Promise<void> {
    return this.reading.close()
  }

  private async open(): Promise<OpenedStream> {
    const { link, names, replica, streamReplicas } = this.options
    const manager = await link.manager()
    const stream = await ensureStream(manager, { name: names.lifecycleStream, subjects: [names.anyLifecycle], num_replicas: streamReplicas, max_age: nanos(KEPT_MS) })
    await manager.consumers.add(names.lifecycleStream, {
      durable_name: replica,
      filter_subject: names.anyLifecycleOf(replica),
      ack_policy: AckPolicy.Explicit,
      deliver_policy: DeliverPolicy.All,
      ack_wait: nanos(ACK_WAIT_MS),
      max_ack_pending: PENDING_MAX,
    })
    return { stream, consumer: await link.jetstream().consumers.get(names.lifecycleStream, replica) }
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
