import { DeliverPolicy } from '@nats-io/jetstream'
import type { Consumer, ConsumerMessages } from '@nats-io/jetstream'
import { decodePeerLoadReported, fromBytes, WireError } from '../../wire/index.ts'
import type { PeerLoadReported } from '../../wire/index.ts'
import { LoadBacklog } from './load-backlog.ts'
import type { Taken } from './load-backlog.ts'
import { ensureLoadStream } from './load-stream.ts'
import type { LoadStreamOptions } from './load-stream.ts'
import { Lookout } from './lookout.ts'
import type { Names } from './names.ts'

const RETRY_MS = 250
/** Messages fetched ahead of the one that is read, at most. */
const AHEAD_MAX = 100

/** Reads what all replicas tell: of each what follows the reports that were taken, or its newest open set and on. */
export class LoadReader {
  private readonly options: LoadStreamOptions
  private readonly taken: Taken
  private readonly report: (report: PeerLoadReported) => void
  private messages: ConsumerMessages | undefined
  private running: Promise<void> = Promise.resolve()
  private restarting: Promise<void> | undefined
  private consumer: Consumer | undefined
  private readonly lookout: Lookout
  private closed = false
  private readonly end = Promise.withResolvers<void>()
  /** Messages that wait in the server. */
  behind = 0

  constructor(options: LoadStreamOptions, taken: Taken, report: (report: PeerLoadReported) => void) {
    this.options = options
    this.taken = taken
    this.report = report
    this.lookout = new Lookout(options.link, async () => (await this.consumer?.info()) !== null, () => void this.restart())
  }

  async start(): Promise<void> {
    const { link, names } = this.options
    await ensureLoadStream(this.options)
    const consumer = await link.jetstream().consumers.get(names.loadStream, { deliver_policy: DeliverPolicy.All })
    const pending = (await consumer.info(true)).num_pending
    this.behind = pending
    this.consumer = consumer
    this.messages = await consumer.consume({ abort_on_missing_resource: true, max_messages: AHEAD_MAX })
    this.running = this.read(this.messages, pending)
  }

  /** Reads it all anew: what is known already is passed over by its sequence. */
  restart(): Promise<void> {
    this.restarting ??= this.again().finally(() => (this.restarting = undefined))
    return this.restarting
  }

  async close(): Promise<void> {
    this.closed = true
    this.end.resolve()
    this.lookout.close()
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

  /** What is read waits in the server while the engine has no room, but not for ever: that may never come. */
  private room(): Promise<void> | undefined {
    const room = this.options.room?.()
    return room === undefined ? undefined : Promise.race([room, this.end.promise])
  }

  private async read(messages: ConsumerMessages, pending: number): Promise<void> {
    let backlog: LoadBacklog | undefined = pending === 0 ? undefined : new LoadBacklog(this.taken)
    const { names, replica } = this.options
    const own = names.load(replica)
    try {
      for await (const message of messages) {
        // What this replica told itself it knows.
        const report = message.subject === own ? undefined : readReport(message.data, message.subject, names)
        this.behind = message.info.pending
        await this.room()
        if (this.closed) break
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
    } catch (error) {
      if (!this.closed) this.options.failed(error)
    }
    if (!this.closed && messages === this.messages && this.restarting === undefined) setTimeout(() => void this.restart(), RETRY_MS).unref()
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
