import type { Consumer, ConsumerMessages, StreamInfo } from '@nats-io/jetstream'
import type { NatsLink } from './connection.ts'
import { Lookout } from './lookout.ts'
import { infoOf } from './streams.ts'

const RETRY_MS = 250

export interface StreamReadingOptions {
  readonly link: NatsLink
  /** Messages fetched ahead of the one that is read, at most. */
  readonly ahead: number
  /** Makes the stream where it is not there, then a consumer of it; to be asked anew whenever it is read anew. */
  open(): Promise<OpenedStream>
  /** Reads to the end of the messages, which comes when they are stopped or what is read is no longer there. */
  read(messages: ConsumerMessages, consumer: Consumer): Promise<void>
  /** Something failed and will be tried again. */
  failed(error: unknown): void
}

export interface OpenedStream {
  /** As it was before the consumer was made. */
  readonly stream: StreamInfo
  readonly consumer: Consumer
}

/**
 * A stream that is read for as long as the process lives: anew when it was deleted or made again, when its consumer ended,
 * and when that is asked for. A stream of the same name that somebody else made meanwhile is another one, whose messages
 * are numbered from 1: a consumer that goes on by number would wait in it for ever.
 */
export class StreamReading {
  private readonly options: StreamReadingOptions
  private readonly closing = Promise.withResolvers<void>()
  private messages: ConsumerMessages | undefined
  private running: Promise<void> = Promise.resolve()
  private restarting: Promise<void> | undefined
  private retrying: NodeJS.Timeout | undefined
  private opened: OpenedStream | undefined
  private lookout: Lookout | undefined
  /** Messages received when it was last looked; none was looked at when -1. */
  private receivedBefore = -1
  private isClosed = false

  constructor(options: StreamReadingOptions) {
    this.options = options
  }

  get closed(): boolean {
    return this.isClosed
  }

  /** Begins. @throws SignalboxError nats-stream where the stream cannot be had */
  async start(): Promise<void> {
    await this.begin()
    this.lookout = new Lookout(this.options.link, () => this.isThere(), () => void this.restart())
  }

  /** Begins anew; of several calls at one time the first does it for all. */
  restart(): Promise<void> {
    this.restarting ??= this.again().finally(() => (this.restarting = undefined))
    return this.restarting
  }

  /** Resolves with what is waited for, or when this is closed: that may never come then. */
  unlessClosed(waited: Promise<void>): Promise<void> {
    return Promise.race([waited, this.closing.promise])
  }

  async close(): Promise<void> {
    this.isClosed = true
    this.closing.resolve()
    clearTimeout(this.retrying)
    this.lookout?.close()
    this.messages?.stop()
    await this.running
  }

  private async begin(): Promise<void> {
    const opened = await this.options.open()
    const messages = await opened.consumer.consume({ abort_on_missing_resource: true, max_messages: this.options.ahead })
    if (this.isClosed) return messages.stop()
    this.opened = opened
    this.messages = messages
    this.receivedBefore = -1
    this.running = this.run(messages, opened.consumer)
  }

  private async again(): Promise<void> {
    clearTimeout(this.retrying)
    const { messages } = this
    this.messages = undefined
    messages?.stop()
    await this.running
    if (this.isClosed) return
    try {
      await this.begin()
    } catch (error) {
      if (this.options.link.connected) this.options.failed(error)
      this.retry()
    }
  }

  private async run(messages: ConsumerMessages, consumer: Consumer): Promise<void> {
    try {
      await this.options.read(messages, consumer)
    } catch (error) {
      if (!this.isClosed) this.options.failed(error)
    }
    // Not stopped by what begins anew: it ended by itself.
    if (messages === this.messages) this.retry()
  }

  private retry(): void {
    if (!this.isClosed) this.retrying = setTimeout(() => void this.restart(), RETRY_MS)
  }

  private async isThere(): Promise<boolean> {
    const { opened } = this
    if (opened === undefined || this.restarting !== undefined) return true
    const info = await infoOf(await this.options.link.manager(), opened.stream.config.name)
    const isSame = info?.created === opened.stream.created && !this.isStuck((await opened.consumer.info()).num_pending)
    // Else it was begun anew while this was asked.
    return isSame || opened !== this.opened
  }

  /** Whether messages wait in the server and none came since the last look, though there is nothing here to read: a question for more was lost. */
  private isStuck(waiting: number): boolean {
    const { messages, receivedBefore } = this
    if (messages === undefined) return false
    const received = messages.getReceived()
    this.receivedBefore = received
    return waiting > 0 && received === receivedBefore && messages.getPending() === 0
  }
}
