import { DeliverPolicy, DiscardPolicy } from '@nats-io/jetstream'
import type { ConsumerMessages, JsMsg } from '@nats-io/jetstream'
import { nanos } from '@nats-io/nats-core'
import { decodeKvReport, encodeKvWanted, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { KvReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { nameOf } from './names.ts'
import type { Names } from './names.ts'
import { ensureStream } from './streams.ts'

/** Reports are kept for a reader that falls behind; one that falls further asks for all that is held. */
const KEPT_MS = 600_000
const KEPT_PER_ENDPOINT = 8192
const KEPT_BYTES = 268_435_456
/** Reports that wait here unread, at most: the rest stays with the server. */
const WAITING_MAX = 256
/** After so long without a pause others have their turn: requests never wait behind KV events. */
const TURN_MS = 4
const RETRY_MS = 250
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
  private messages: ConsumerMessages | undefined
  private running: Promise<void> = Promise.resolve()
  private restarting: Promise<void> | undefined
  private retrying: NodeJS.Timeout | undefined
  private closed = false
  private endClosing: () => void = () => undefined
  private readonly closing = new Promise<void>((resolve) => (this.endClosing = resolve))
  private behindNow = 0

  constructor(options: KvReaderOptions) {
    this.options = options
  }

  /** Reports that the stream held and that were not read, when the last one was. */
  get behind(): number {
    return this.behindNow
  }

  /** Makes the stream when it is not there, and begins with what comes from now on. */
  async start(): Promise<void> {
    const { link, names, streamReplicas, began } = this.options
    await ensureStream(await link.manager(), {
      name: names.kvStream,
      subjects: [names.anyKv],
      num_replicas: streamReplicas,
      max_age: nanos(KEPT_MS),
      max_msgs_per_subject: KEPT_PER_ENDPOINT,
      max_bytes: KEPT_BYTES,
      discard: DiscardPolicy.Old,
    })
    const consumer = await link.jetstream().consumers.get(names.kvStream, { deliver_policy: DeliverPolicy.New })
    this.messages = await consumer.consume({ abort_on_missing_resource: true, max_messages: WAITING_MAX })
    this.behindNow = 0
    began()
    this.running = this.read(this.messages)
  }

  /** Begins anew: to be called after a reconnection. */
  restart(): Promise<void> {
    this.restarting ??= this.again().finally(() => (this.restarting = undefined))
    return this.restarting
  }

  /** Asks an endpoint's agent for all that its engine holds. */
  want(endpoint: string, incarnation: string, sequence: number): void {
    const { link, names } = this.options
    if (link.connected) link.connection.publish(names.kvWanted(endpoint), toBytes(encodeKvWanted, { incarnation, sequence }))
  }

  async close(): Promise<void> {
    this.closed = true
    this.endClosing()
    clearTimeout(this.retrying)
    this.messages?.stop()
    await this.running
  }

  private async again(): Promise<void> {
    clearTimeout(this.retrying)
    this.messages?.stop()
    await this.running
    if (this.closed) return
    try {
      await this.start()
    } catch (error) {
      if (this.options.link.connected) this.options.failed(error)
      this.retry()
    }
  }

  private retry(): void {
    if (!this.closed) this.retrying = setTimeout(() => void this.restart(), RETRY_MS)
  }

  private async read(messages: ConsumerMessages): Promise<void> {
    const { failed, room } = this.options
    let since = performance.now()
    try {
      for await (const message of messages) {
        this.take(message)
        const full = room()
        if (full !== undefined) await Promise.race([full, this.closing])
        if (performance.now() - since < TURN_MS) continue
        await new Promise(setImmediate)
        since = performance.now()
      }
    } catch (error) {
      if (!this.closed) failed(error)
    }
    if (messages === this.messages && this.restarting === undefined) this.retry()
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
