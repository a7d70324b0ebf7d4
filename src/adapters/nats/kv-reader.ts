import { DeliverPolicy, DiscardPolicy } from '@nats-io/jetstream'
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { nanos } from '@nats-io/nats-core'
import { decodeKvReport, encodeKvWanted, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { KvReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { nameOf } from './names.ts'
import type { Names } from './names.ts'
import { StreamReading } from './stream-reading.ts'
import type { OpenedStream } from './stream-reading.ts'
import { ensureStream } from './streams.ts'

/** Reports are kept for a reader that falls behind; one that falls further asks for all that is held. */
const KEPT_MS = 600_000
const KEPT_PER_ENDPOINT = 8192
const KEPT_BYTES = 268_435_456
/** Reports that wait here unread, at most: the rest stays with the server. */
const WAITING_MAX = 256
/** After so long without a pause others have their turn: requests never wait behind KV events. */
const TURN_MS = 4
const KEY_BYTES = 8

/** Why a message was not taken. */
export type KvReportFault = 'subject' | 'malformed' | 'other-endpoint'

export interface KvReaderOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly streamReplicas: number
  /** In the order of the stream; of the endpoint that the subject names. */
  report(report: KvReport): void
  refused(fault: KvReportFault): void
  /** Undefined while there is room for more; else resolves when there is. */
  room(): Promise<void> | undefined
  /** Reports from here on, and none of those before: what is known is of before. */
  began(): void
  failed(error: unknown): void
}

/** Reads what agents tell of their engines' caches. */
export class KvReader {
  private readonly options: KvReaderOptions
  private readonly reading: StreamReading
  private behindNow = 0

  constructor(options: KvReaderOptions) {
    this.options = options
    const { link, failed } = options
    this.reading = new StreamReading({ link, failed, ahead: WAITING_MAX, open: () => this.open(), read: (messages) => this.read(messages) })
  }

  /** Reports that the stream held and that were not read, when the last one was. */
  get behind(): number {
    return this.behindNow
  }

  /** Makes the stream when it is not there, and begins with what comes from now on. */
  start(): Promise<void> {
    return this.reading.start()
  }

  /** Begins anew: to be called after a reconnection. */
  restart(): Promise<void> {
    return this.reading.restart()
  }

  /** Asks an endpoint's agent for all that its engine holds. */
  want(endpoint: string, incarnation: string, sequence: number): void {
    const { link, names } = this.options
    if (link.connected) link.connection.publish(names.kvWanted(endpoint), toBytes(encodeKvWanted, { incarnation, sequence }))
  }

  close(): Promise<void> {
    return this.reading.close()
  }

  private async open(): Promise<OpenedStream> {
    const { link, names, streamReplicas } = this.options
    const stream = await ensureStream(await link.manager(), {
      name: names.kvStream,
      subjects: [names.anyKv],
      num_replicas: streamReplicas,
      max_age: nanos(KEPT_MS),
      max_msgs_per_subject: KEPT_PER_ENDPOINT,
      max_bytes: KEPT_BYTES,
      discard: DiscardPolicy.Old,
    })
    return { stream, consumer: await link.jetstream().consumers.get(names.kvStream, { deliver_policy: DeliverPolicy.New }) }
  }

  private async read(messages: ConsumerMessages): Promise<void> {
    this.behindNow = 0
    this.options.began()
    let since = performance.now()
    for await (const message of messages) {
      this.take(message)
      const full = this.options.room()
      if (full !== undefined) await this.reading.unlessClosed(full)
      if (performance.now() - since < TURN_MS) continue
      await new Promise(setImmediate)
      since = performance.now()
    }
  }

  private take(message: JsMsg): void {
    const { names, report, refused } = this.options
    this.behindNow = message.info.pending
    const endpoint = nameOf(message.subject.slice(names.kv('x').length - 1))
    if (endpoint === undefined) return refused('subject')
    const read = readReport(message.data)
    if (read === undefined) refused('malformed')
    // Who may publish to a subject may speak for its endpoint and for no other.
    else if (read.endpoint !== endpoint) refused('other-endpoint')
    else report(read)
  }
}

const readReport = (data: Uint8Array): KvReport | undefined => {
  try {
    // A copy: what is decoded holds views, and the message's memory is the connection's.
    const report = fromBytes(decodeKvReport, data.slice())
    return isWhole(report) ? report : undefined
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}

const isWhole = ({ sequence, part, parts, changes }: KvReport): boolean =>
  sequence >= 1 && part <= parts && (part > 0 || parts === 0) &&
  changes.every(({ kind, keys }) => kind !== 'unspecified' && keys.length % KEY_BYTES === 0 && (part === 0 || kind === 'stored'))
