import { Subscriber } from 'zeromq'
import type { BlockChange, BlockNaming } from './block-map.ts'
import { EventStream } from './event-stream.ts'
import type { EventStreamOptions, KvFault } from './event-stream.ts'
import { messageOf } from './message.ts'
import { takePaced } from './paced.ts'
import type { Room } from './paced.ts'
import { SocketErrors } from './socket-errors.ts'
import { topicOf } from './topic.ts'

export interface KvListenerOptions {
  /** Where engines connect: "tcp://0.0.0.0:5557". */
  readonly address: string
  readonly topicFilter: string
  readonly naming: BlockNaming
  /** The endpoint that a topic's pod names; undefined where there is none. */
  endpointOf(pod: string): string | undefined
  /** Without it there is always room. */
  readonly room?: Room
  change(endpoint: string, change: BlockChange): void
  fault(fault: KvFault, count: number): void
  readonly skipped?: EventStreamOptions['skipped']
}

const INBOX_MESSAGES_MAX = 65_536

/**
 * Takes the KV events of all engines that connect; the topic says whose they are. Nothing can be replayed here.
 * (llm-d: KV events, global mode)
 */
export class KvListener {
  /** In numbers that only rise. */
  readonly counts = { messages: 0 }
  private readonly options: KvListenerOptions
  private readonly socket = new Subscriber({ linger: 0, receiveHighWaterMark: INBOX_MESSAGES_MAX })
  private readonly streams = new Map<string, EventStream>()
  private readonly closing = new AbortController()
  private readonly failures = new SocketErrors()
  private reading: Promise<void> = Promise.resolve()

  private constructor(options: KvListenerOptions) {
    this.options = options
  }

  /** @throws Error where the address cannot be had */
  static async open(options: KvListenerOptions): Promise<KvListener> {
    const listener = new KvListener(options)
    listener.socket.subscribe(options.topicFilter)
    listener.failures.watchListening(listener.socket)
    await listener.socket.bind(options.address)
    listener.reading = takePaced(listener.socket, listener.closing.signal, (frames) => listener.take(frames), options.room)
    return listener
  }

  /** Where it listens. */
  get address(): string {
    return this.socket.lastEndpoint ?? this.options.address
  }

  /** What went wrong with its connections, by operation, in numbers that only rise. */
  get errors(): Readonly<Record<string, number>> {
    return this.failures.counts
  }

  /** Forgets the streams of endpoints that are gone. */
  forget(endpoint: string): void {
    this.streams.delete(endpoint)
  }

  async close(): Promise<void> {
    this.closing.abort()
    this.socket.close()
    await this.reading
  }

  private take(frames: readonly Buffer[]): void {
    const { endpointOf, fault } = this.options
    this.counts.messages += 1
    const message = messageOf(frames)
    if (message === undefined) return fault('frames', 1)
    const endpoint = endpointOf(topicOf(message.topic).pod)
    if (endpoint === undefined) return fault('unknown-endpoint', 1)
    let stream = this.streams.get(endpoint)
    if (stream === undefined) {
      stream = this.streamOf(endpoint)
      this.streams.set(endpoint, stream)
    }
    stream.take(message)
  }

  private streamOf(endpoint: string): EventStream {
    const { naming, change, fault, skipped } = this.options
    return new EventStream({ naming, model: '', fault, skipped, change: (one) => change(endpoint, one) })
  }
}
