import { DeliverPolicy, DiscardPolicy } from '@nats-io/jetstream'
import type { ConsumerMessages } from '@nats-io/jetstream'
import { headers } from '@nats-io/nats-core'
import { decodePeerLoadReported, encodePeerLoadReported, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { LoadAssigned, LoadReleased, PeerLoadReported } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { AcknowledgedPublisher } from './journal/acknowledged-publisher.ts'
import type { Names } from './names.ts'
import { ensureStream } from './streams.ts'

/** Messages of one replica that the stream keeps; its newest open set is always among them. */
const KEPT_PER_REPLICA = 8192
/** After so many messages the open set is told again. */
const REOPEN_AFTER = 2048
/** Assignments in one message: some 100 kB, block keys aside. */
const ASSIGNED_MAX = 1000
const RETRY_MS = 250

export interface LoadStreamOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly runId: string
  readonly streamReplicas: number
  failed(error: unknown): void
}

const ensureLoadStream = async ({ link, names, streamReplicas }: LoadStreamOptions): Promise<void> => {
  await ensureStream(await link.manager(), {
    name: names.loadStream,
    subjects: [names.anyLoad],
    num_replicas: streamReplicas,
    max_msgs_per_subject: KEPT_PER_REPLICA,
    discard: DiscardPolicy.Old,
  })
}

/** Tells peers of this replica's load: an open set first and after every failure, then what changes, in sequence. */
export class LoadPublisher {
  private readonly options: LoadStreamOptions
  private readonly publisher: AcknowledgedPublisher
  private readonly open: () => readonly LoadAssigned[]
  private assigned: LoadAssigned[] = []
  private released: LoadReleased[] = []
  private sequence = 0
  private sinceOpen = 0
  private mustOpen = true
  private scheduled: NodeJS.Timeout | NodeJS.Immediate | undefined
  private sending: Promise<void> = Promise.resolve()
  private closed = false

  /** `open` gives all that is held when it is asked. */
  constructor(options: LoadStreamOptions, open: () => readonly LoadAssigned[]) {
    this.options = options
    this.open = open
    this.publisher = new AcknowledgedPublisher(options.link)
  }

  /** Tells the open set. */
  start(): void {
    this.schedule()
  }

  /** Takes changes; what is taken in one turn of the event loop goes as one message. */
  changed(assigned: readonly LoadAssigned[], released: readonly LoadReleased[]): void {
    if (this.mustOpen && this.scheduled === undefined) this.schedule()
    this.assigned.push(...assigned)
    this.released.push(...released)
    this.schedule()
  }

  down(): void {
    this.publisher.abandon('the NATS server is away')
  }

  /** To be called after a reconnection: what was told meanwhile may be lost. */
  reopen(): void {
    this.mustOpen = true
    this.schedule()
  }

  async close(): Promise<void> {
    this.closed = true
    await this.sending
    this.publisher.close()
  }

  private schedule(): void {
    if (this.closed || this.scheduled !== undefined) return
    this.scheduled = setImmediate(() => this.flush())
  }

  private flush(): void {
    this.scheduled = undefined
    this.sending = this.sending.then(() => this.send()).catch((error: unknown) => {
      // The open set that follows says it all again.
      this.mustOpen = true
      if (this.closed) return
      if (this.options.link.connected) this.options.failed(error)
      this.scheduled ??= setTimeout(() => this.flush(), RETRY_MS)
    })
  }

  private async send(): Promise<void> {
    const opens = this.mustOpen || this.sinceOpen >= REOPEN_AFTER
    const assigned = opens ? this.open() : this.assigned
    const released = opens ? [] : this.released
    this.assigned = []
    this.released = []
    if (!opens && assigned.length === 0 && released.length === 0) return
    if (opens) {
      await ensureLoadStream(this.options)
      this.mustOpen = false
      this.sinceOpen = 0
    }
    const messages: Uint8Array[] = []
    for (let at = 0; at === 0 || at < assigned.length; at += ASSIGNED_MAX) {
      messages.push(this.message(opens && at === 0, assigned.slice(at, at + ASSIGNED_MAX), at === 0 ? released : []))
    }
    const subject = this.options.names.load(this.options.replica)
    await this.publisher.publishAll(messages.map((data) => ({ subject, data, headers: headers() })), () => undefined)
  }

  private message(opens: boolean, assigned: readonly LoadAssigned[], released: readonly LoadReleased[]): Uint8Array {
    this.sequence += 1
    this.sinceOpen += 1
    const { replica, runId } = this.options
    return toBytes(encodePeerLoadReported, { replica, runId, sequence: this.sequence, opens, assigned: [...assigned], released: [...released] })
  }
}

/** Reads what all replicas tell, from each one's newest open set on. */
export class LoadReader {
  private readonly options: LoadStreamOptions
  private readonly report: (report: PeerLoadReported) => void
  private messages: ConsumerMessages | undefined
  private running: Promise<void> = Promise.resolve()
  private restarting: Promise<void> | undefined
  private closed = false

  constructor(options: LoadStreamOptions, report: (report: PeerLoadReported) => void) {
    this.options = options
    this.report = report
  }

  async start(): Promise<void> {
    const { link, names } = this.options
    await ensureLoadStream(this.options)
    const consumer = await link.jetstream().consumers.get(names.loadStream, { deliver_policy: DeliverPolicy.All })
    const pending = (await consumer.info(true)).num_pending
    this.messages = await consumer.consume({ abort_on_missing_resource: true })
    this.running = this.read(this.messages, pending)
  }

  /** Reads it all anew: what is known already is passed over by its sequence. */
  restart(): Promise<void> {
    this.restarting ??= this.again().finally(() => (this.restarting = undefined))
    return this.restarting
  }

  async close(): Promise<void> {
    this.closed = true
    this.messages?.stop()
    await this.running
  }

  private async again(): Promise<void> {
    this.messages?.stop()
    await this.running
    if (this.closed) return
    try {
      await this.start()
    } catch (error) {
      if (this.options.link.connected) this.options.failed(error)
      setTimeout(() => void this.restart(), RETRY_MS).unref()
    }
  }

  private async read(messages: ConsumerMessages, pending: number): Promise<void> {
    let backlog: PeerLoadReported[] | undefined = []
    if (pending === 0) backlog = undefined
    try {
      for await (const message of messages) {
        const report = readReport(message.data, message.subject, this.options.names)
        if (backlog === undefined) {
          if (report !== undefined) this.report(report)
          continue
        }
        if (report !== undefined) backlog.push(report)
        if (message.info.pending > 0) continue
        for (const each of sinceOpen(backlog)) this.report(each)
        backlog = undefined
      }
    } catch (error) {
      if (!this.closed) this.options.failed(error)
    }
    if (!this.closed && messages === this.messages && this.restarting === undefined) setTimeout(() => void this.restart(), RETRY_MS).unref()
  }
}

/** Each replica's reports from its newest open set on, in order. */
const sinceOpen = (reports: readonly PeerLoadReported[]): readonly PeerLoadReported[] => {
  const opened = new Map<string, number>()
  reports.forEach(({ replica, opens }, index) => {
    if (opens) opened.set(replica, index)
  })
  return reports.filter(({ replica }, index) => index >= (opened.get(replica) ?? Infinity))
}

/** Undefined for what is malformed or tells of another replica than its subject names. */
const readReport = (data: Uint8Array, subject: string, names: Names): PeerLoadReported | undefined => {
  try {
    // A copy: what is decoded holds views, and the message's memory is the connection's.
    const report = fromBytes(decodePeerLoadReported, data.slice())
    return /^[A-Za-z0-9_-]+$/.test(report.replica) && names.load(report.replica) === subject ? report : undefined
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}
