import { DeliverPolicy } from '@nats-io/jetstream'
import type { Consumer, ConsumerMessages } from '@nats-io/jetstream'
import { decodePeerLoadReported, fromBytes, WireError } from '../../wire/index.ts'
import type { PeerLoadReported } from '../../wire/index.ts'
import { LoadBacklog } from './load-backlog.ts'
import type { Taken } from './load-backlog.ts'
import { ensureLoadStream } from './load-stream.ts'
import type { LoadStreamOptions } from './load-stream.ts'
import type { Names } from './names.ts'
import { StreamReading } from './stream-reading.ts'
import type { OpenedStream } from './stream-reading.ts'

/** Messages fetched ahead of the one that is read, at most. */
const AHEAD_MAX = 100

/** Reads what all replicas tell: of each what follows the reports that were taken, or its newest open set and on. */
export class LoadReader {
  private readonly options: LoadStreamOptions
  private readonly taken: Taken
  private readonly report: (report: PeerLoadReported) => void
  private readonly reading: StreamReading
  /** Messages that wait in the server. */
  behind = 0

  constructor(options: LoadStreamOptions, taken: Taken, report: (report: PeerLoadReported) => void) {
    this.options = options
    this.taken = taken
    this.report = report
    const { link, failed } = options
    this.reading = new StreamReading({ link, failed, ahead: AHEAD_MAX, open: () => this.open(), read: (messages, consumer) => this.read(messages, consumer) })
  }

  start(): Promise<void> {
    return this.reading.start()
  }

  /** Reads it all anew: what is known already is passed over by its sequence. */
  restart(): Promise<void> {
    return this.reading.restart()
  }

  close(): Promise<void> {
    return this.reading.close()
  }

  private async open(): Promise<OpenedStream> {
    const { link, names } = this.options
    const stream = await ensureLoadStream(this.options)
    return { stream, consumer: await link.jetstream().consumers.get(names.loadStream, { deliver_policy: DeliverPolicy.All }) }
  }

  /** What is read waits in the server while the engine has no room. */
  private room(): Promise<void> | undefined {
    const full = this.options.room?.()
    return full === undefined ? undefined : this.reading.unlessClosed(full)
  }

  private async read(messages: ConsumerMessages, consumer: Consumer): Promise<void> {
    const pending = (await consumer.info(true)).num_pending
    this.behind = pending
    let backlog: LoadBacklog | undefined = pending === 0 ? undefined : new LoadBacklog(this.taken)
    const { names, replica } = this.options
    const own = names.load(replica)
    for await (const message of messages) {
      // What this replica told itself it knows.
      const report = message.subject === own ? undefined : readReport(message.data, message.subject, names)
      this.behind = message.info.pending
      await this.room()
      if (this.reading.closed) return
      if (backlog === undefined) {
        if (report !== undefined) this.report(report)
        continue
      }
      if (report !== undefined) backlog.add(report)
      if (message.info.pending > 0) continue
      for (const each of backlog.reports()) {
        await this.room()
        this.report(each)
      }
      backlog = undefined
    }
  }
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
