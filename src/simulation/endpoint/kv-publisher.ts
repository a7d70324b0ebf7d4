import { Publisher, Router } from 'zeromq'
import type { Sink, Work } from './model.ts'
import { pack } from './packing.ts'
import type { Packable } from './packing.ts'
import { MEDIA_TOKENS } from './prompt-bytes.ts'
import { mediaHash } from './render-routes.ts'

/** Ports of the events and of their replay. */
export interface KvPorts {
  readonly port: number
  readonly replayPort: number
}

export interface KvPublisherOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly ports: KvPorts
  /** "kv@<address:port>@<model>". */
  readonly topic: string
  readonly blockTokens: number
}

/** Messages that can be replayed. (vLLM: buffer_steps) */
const REPLAYABLE_MAX = 10_000

/** What the frame that ends a replay has for a sequence. */
const NO_SEQUENCE = Buffer.alloc(8, 0xff)

/**
 * Tells on ZeroMQ what comes into a simulated cache and what goes, as vLLM does: the events of one moment are one message
 * [topic, sequence, payload], and a second socket tells past ones again.
 */
export class KvPublisher implements Pick<Sink, 'stored' | 'evicted'> {
  readonly #options: KvPublisherOptions
  readonly #publisher = new Publisher({ linger: 0, sendHighWaterMark: 0 })
  readonly #router = new Router({ linger: 0 })
  readonly #kept: (readonly [sequence: number, payload: Buffer])[] = []
  #sequence = 0
  #events: Packable[] = []
  #sending: Promise<void> = Promise.resolve()
  #replaying: Promise<void> = Promise.resolve()
  #isClosed = false

  private constructor(options: KvPublisherOptions) {
    this.#options = options
  }

  static async open(options: KvPublisherOptions): Promise<KvPublisher> {
    const publisher = new KvPublisher(options)
    const host = options.host.includes(':') ? `[${options.host}]` : options.host
    await publisher.#publisher.bind(`tcp://${host}:${options.ports.port === 0 ? '*' : options.ports.port}`)
    await publisher.#router.bind(`tcp://${host}:${options.ports.replayPort === 0 ? '*' : options.ports.replayPort}`)
    publisher.#replaying = publisher.#replay()
    return publisher
  }

  get ports(): KvPorts {
    return { port: portOf(this.#publisher.lastEndpoint), replayPort: portOf(this.#router.lastEndpoint) }
  }

  /** Blocks that follow each other are one event. */
  stored({ keys, content }: Work, blocks: readonly number[]): void {
    if (content === undefined) return
    for (let from = 0; from < blocks.length;) {
      let to = from + 1
      while (to < blocks.length && blocks[to] === (blocks[to - 1] as number) + 1) to++
      this.#tell(this.#storedEvent(keys, content, blocks[from] as number, (blocks[to - 1] as number) + 1))
      from = to
    }
  }

  evicted(key: number): void {
    this.#tell(['BlockRemoved', [key], 'GPU'])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#sending
    this.#publisher.close()
    this.#router.close()
    await this.#replaying
  }

  #storedEvent(keys: Float64Array, { tokenIds, adapter, places }: NonNullable<Work['content']>, first: number, end: number): Packable {
    const { blockTokens } = this.#options
    const extras = Array.from({ length: end - first }, (_, at) => {
      const from = (first + at) * blockTokens
      const inside = places.filter(({ offset }) => offset < from + blockTokens && offset + MEDIA_TOKENS > from)
      return inside.length === 0 ? null : inside.map(({ item }) => mediaHash(item.key))
    })
    return [
      'BlockStored', Array.from(keys.subarray(first, end)), first === 0 ? null : (keys[first - 1] as number),
      Array.from(tokenIds.subarray(first * blockTokens, end * blockTokens)), blockTokens, null, 'GPU', adapter ?? null,
      places.length === 0 ? null : extras,
    ]
  }

  #tell(event: Packable): void {
    if (this.#isClosed) return
    this.#events.push(event)
    if (this.#events.length === 1) this.#sending = this.#sending.then(() => this.#send())
  }

  async #send(): Promise<void> {
    const payload = pack([{ seconds: Date.now() / 1000 }, this.#events, 0])
    const sequence = this.#sequence++
    this.#events = []
    this.#kept.push([sequence, payload])
    if (this.#kept.length > REPLAYABLE_MAX) this.#kept.shift()
    await this.#publisher.send([this.#options.topic, frameOf(sequence), payload])
  }

  async #replay(): Promise<void> {
    // Ends when the socket is closed.
    for await (const frames of this.#router) {
      const [client, start] = [frames[0], frames.at(-1)]
      if (client === undefined || start?.length !== 8) continue
      const from = start.readBigUInt64BE(0)
      for (const [sequence, payload] of this.#kept) {
        if (BigInt(sequence) >= from) await this.#router.send([client, '', this.#options.topic, frameOf(sequence), payload])
      }
      await this.#router.send([client, '', this.#options.topic, NO_SEQUENCE, ''])
    }
  }
}

function frameOf(sequence: number): Buffer {
  const frame = Buffer.alloc(8)
  frame.writeBigUInt64BE(BigInt(sequence))
  return frame
}

function portOf(endpoint: string | null): number {
  return Number(/:(\d+)$/.exec(endpoint ?? '')?.[1] ?? 0)
}
