import { Subscriber } from 'zeromq'
import { EventStream } from './event-stream.ts'
import type { BlockChange } from './block-map.ts'
import type { EventStreamOptions } from './event-stream.ts'
import { messageOf } from './message.ts'
import { takePaced } from './paced.ts'
import type { Room } from './paced.ts'
import { fetchReplay } from './replay.ts'
import { SocketErrors } from './socket-errors.ts'

export interface KvSubscriptionOptions extends Omit<EventStreamOptions, 'replay'> {
  /** Of the publisher: "tcp://host:port". */
  readonly address: string
  /** Where it replays; undefined where it does not. */
  readonly replayAddress: string | undefined
  readonly topicFilter: string
  /** Without it there is always room. */
  readonly room?: Room
}

/** Messages that wait here unread, at most; what a publisher sends beyond is a gap. */
const INBOX_MESSAGES_MAX = 65_536

/**
 * Follows the KV events of one endpoint's engine. They are that endpoint's, whatever name their topic has.
 * (llm-d: KV events, per-pod mode)
 */
export class KvSubscription {
  /** In numbers that only rise. */
  readonly counts = { messages: 0, reconnections: 0 }
  private readonly socket = new Subscriber({ linger: 0, receiveHighWaterMark: INBOX_MESSAGES_MAX, reconnectMaxInterval: 5000 })
  private readonly closing = new AbortController()
  private readonly failures = new SocketErrors()
  private readonly stream: EventStream
  private readonly reading: Promise<void>

  constructor(options: KvSubscriptionOptions) {
    const { address, replayAddress, topicFilter, fault, room } = options
    const stream = new EventStream({ ...options, replay: replayAddress === undefined ? undefined : (from) => fetchReplay(replayAddress, from, this.closing.signal, this.failures.count) })
    this.stream = stream
    this.socket.subscribe(topicFilter)
    let wasConnected = false
    this.socket.events.on('handshake', () => {
      if (wasConnected) this.counts.reconnections += 1
      wasConnected = true
      stream.connected()
    })
    this.socket.events.on('disconnect', () => {
      if (!this.closing.signal.aborted) stream.disconnected()
    })
    this.failures.watchConnection(this.socket, this.closing.signal)
    this.socket.connect(address)
    this.reading = takePaced(this.socket, this.closing.signal, (frames) => {
      this.counts.messages += 1
      const message = messageOf(frames)
      if (message === undefined) fault('frames', 1)
      else stream.take(message)
    }, room)
  }

  /** What went wrong with its connections, by operation, in numbers that only rise. */
  get errors(): Readonly<Record<string, number>> {
    return this.failures.counts
  }

  /** All that its engine is known to hold, as changes that store it anew. */
  held(): readonly BlockChange[] {
    return this.stream.held()
  }

  async close(): Promise<void> {
    this.closing.abort()
    this.socket.close()
    await this.reading
  }
}
