import { Kvm } from '@nats-io/kv'
import type { KV, KvWatchEntry } from '@nats-io/kv'
import type { QueuedIterator } from '@nats-io/nats-core'
import type { NatsLink } from './connection.ts'

/** How often it is looked whether the bucket is still the one that is watched. */
const LOOK_MS = 2000

export interface BucketWatchOptions {
  readonly link: NatsLink
  readonly bucket: string
  /** Copies that the servers keep of it, when it is made. */
  readonly replicas: number
  /** The newest value of a key, again after a reconnection; undefined when it was deleted. */
  entry(key: string, value: Uint8Array | undefined): void
  /** Something failed and will be tried again. */
  failed(error: unknown): void
}

/**
 * Watches all keys of a KV bucket, makes the bucket when it is not there, and begins anew with every key's newest value
 * after a reconnection and when the bucket was deleted and made again.
 */
export class BucketWatch {
  private readonly options: BucketWatchOptions
  private iterator: QueuedIterator<KvWatchEntry> | undefined
  private created = ''
  private timer: NodeJS.Timeout | undefined
  private running: Promise<void> = Promise.resolve()
  private closed = false

  constructor(options: BucketWatchOptions) {
    this.options = options
  }

  /** Makes the bucket when it is not there, and begins. */
  async start(): Promise<void> {
    await this.begin()
    this.timer = setInterval(() => void this.look(), LOOK_MS)
  }

  /** Begins anew: to be called after a reconnection. */
  async restart(): Promise<void> {
    if (this.closed) return
    this.iterator?.stop()
    await this.running
    try {
      await this.begin()
    } catch (error) {
      this.created = ''
      this.options.failed(error)
    }
  }

  async close(): Promise<void> {
    this.closed = true
    clearInterval(this.timer)
    this.iterator?.stop()
    await this.running
  }

  private async begin(): Promise<void> {
    const kv = await this.open()
    this.created = await createdAt(kv)
    const iterator = await kv.watch()
    this.iterator = iterator
    if (this.closed) iterator.stop()
    this.running = this.read(iterator)
  }

  private open(): Promise<KV> {
    const { link, bucket, replicas } = this.options
    return new Kvm(link.jetstream()).create(bucket, { history: 1, replicas, allow_direct: true })
  }

  private async read(iterator: QueuedIterator<KvWatchEntry>): Promise<void> {
    try {
      for await (const entry of iterator) this.options.entry(entry.key, entry.operation === 'PUT' ? entry.value : undefined)
    } catch (error) {
      if (!this.closed) this.options.failed(error)
    }
  }

  /** A bucket that was deleted ends no watch, so it is looked whether it is the one that was there. */
  private async look(): Promise<void> {
    if (!this.options.link.connected || this.closed) return
    try {
      if ((await createdAt(await this.open())) !== this.created) await this.restart()
    } catch (error) {
      if (!this.closed && this.options.link.connected) this.options.failed(error)
    }
  }
}

const createdAt = async (kv: KV): Promise<string> => String((await kv.status()).streamInfo.created)
