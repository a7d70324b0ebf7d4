import { headers } from '@nats-io/nats-core'
import type { Subscription } from '@nats-io/nats-core'
import { decodeKvWanted, encodeKvReport, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { KvChange, KvReport } from '../../wire/index.ts'
import type { NatsLink } from './connection.ts'
import { AcknowledgedPublisher } from './journal/acknowledged-publisher.ts'
import type { Names } from './names.ts'

/** Keys in one message: 128 kB. */
const MESSAGE_KEYS_MAX = 16_384
/** Keys that wait to be sent, at most; past it all that is held is told instead, which is never more than the engine has. */
const WAITING_KEYS_MAX = 262_144
/** Schedulers that ask are answered at most so often: the answer is for all of them. */
const TELL_ALL_EVERY_MS = 1000
const RETRY_FIRST_MS = 250
const RETRY_TOLD_MS = 4000
const RETRY_LAST_MS = 8000
const KEY_BYTES = 8

const NOTHING: KvChange = { kind: 'stored', keys: new Uint8Array(0), tier: '' }

/** How the keys are made. */
export type KvNaming = Pick<KvReport, 'hash' | 'blockTokens' | 'root'>

export interface KvPublisherOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly endpoint: string
  readonly incarnation: string
  readonly naming: KvNaming
  /** All that is held now, as changes that store it. */
  held(): readonly KvChange[]
  /** A message was not stored and will be made good; told once until one is again. */
  failed(error: unknown): void
}

/**
 * Tells schedulers what an engine has in its prefix cache: changes in sequence, and all that is held at first, after a
 * failure, and to whoever asks for it.
 */
export class KvPublisher {
  private readonly options: KvPublisherOptions
  private readonly publisher: AcknowledgedPublisher
  private readonly questions: Subscription
  private waiting: KvChange[] = []
  private waitingKeys = 0
  private sequence = 1
  /** Whether changes up to the sequence may have been missed by those who listen. */
  private lost = true
  private toldAllAt = -Infinity
  private scheduled: NodeJS.Immediate | undefined
  private retrying: NodeJS.Timeout | undefined
  private sending: Promise<void> = Promise.resolve()
  private isSending = false
  private retryMs = RETRY_FIRST_MS
  /** Whether somebody asked for all that is held, and when the answer is to go out, where it waits for its time. */
  private wantsAll = false
  private answering: NodeJS.Timeout | undefined
  private closed = false

  constructor(options: KvPublisherOptions) {
    this.options = options
    const { link, names, endpoint } = options
    this.publisher = new AcknowledgedPublisher(link)
    this.questions = link.connection.subscribe(names.kvWanted(endpoint), {
      callback: (error, message) => (error === null ? this.asked(message.data) : undefined),
    })
    this.schedule()
  }

  /** Takes a change; what is taken in one turn of the event loop goes together. */
  changed(change: KvChange): void {
    if (this.lost) return this.schedule()
    this.waiting.push(change)
    this.waitingKeys += change.keys.length / KEY_BYTES
    if (this.waitingKeys > WAITING_KEYS_MAX) this.lose()
    this.schedule()
  }

  /** To be called when the connection broke. */
  down(): void {
    this.publisher.abandon('the NATS server is away')
  }

  /** To be called after a reconnection: what was told meanwhile may be lost. */
  up(): void {
    this.lose()
    clearTimeout(this.retrying)
    this.retrying = undefined
    this.schedule()
  }

  async close(): Promise<void> {
    this.closed = true
    clearTimeout(this.retrying)
    clearTimeout(this.answering)
    this.questions.unsubscribe()
    this.publisher.close()
    await this.sending
  }

  /** What waits need not be told: all that is held will be, under the next number, so that whoever listens takes it. */
  private lose(): void {
    this.waiting = []
    this.waitingKeys = 0
    if (this.lost) return
    this.lost = true
    this.sequence += 1
  }

  private asked(data: Uint8Array): void {
    const wanted = readWanted(data)
    if (wanted?.incarnation !== this.options.incarnation) return
    // Somebody listens: what failed for want of a stream need not wait any longer.
    clearTimeout(this.retrying)
    this.retrying = undefined
    if (wanted.sequence !== this.sequence || this.lost) this.wantsAll = true
    // A change, be it of nothing: whoever has all that was told before it knows so then, and whoever has not finds the gap.
    else if (this.waiting.length === 0) this.waiting.push(NOTHING)
    const waitMs = this.toldAllAt + TELL_ALL_EVERY_MS - performance.now()
    if (!this.wantsAll || waitMs <= 0) this.schedule()
    else this.answering ??= setTimeout(() => {
      this.answering = undefined
      this.schedule()
    }, waitMs)
  }

  /** Whether all that is held was asked for, and the time for the answer has come. */
  private get owesAll(): boolean {
    return this.wantsAll && this.answering === undefined
  }

  private schedule(): void {
    if (this.closed || this.isSending || this.scheduled !== undefined || this.retrying !== undefined) return
    this.scheduled = setImmediate(() => this.flush())
  }

  private flush(): void {
    this.scheduled = undefined
    if (this.closed) return
    this.isSending = true
    this.sending = this.send().then(
      () => this.over(),
      (error: unknown) => this.over(error),
    )
  }

  private over(error?: unknown): void {
    this.isSending = false
    if (error === undefined) {
      this.retryMs = RETRY_FIRST_MS
      if (this.waiting.length > 0 || this.lost || this.owesAll) this.schedule()
      return
    }
    this.lose()
    if (this.closed) return
    // Before the first scheduler there is no stream: that is no failure, unless it lasts.
    if (this.options.link.connected && this.retryMs === RETRY_TOLD_MS) this.options.failed(error)
    this.retrying = setTimeout(() => {
      this.retrying = undefined
      this.schedule()
    }, this.retryMs)
    this.retryMs = Math.min(2 * this.retryMs, RETRY_LAST_MS)
  }

  private async send(): Promise<void> {
    const messages = this.lost ? [] : this.changes()
    if (this.lost || this.owesAll) messages.push(...this.all())
    const subject = this.options.names.kv(this.options.endpoint)
    await this.publisher.publishAll(messages.map((data) => ({ subject, data, headers: headers() })), () => undefined)
  }

  private changes(): Uint8Array[] {
    const messages = inMessages(this.waiting).map((changes) => {
      this.sequence += 1
      return this.message(changes, 0, 0)
    })
    this.waiting = []
    this.waitingKeys = 0
    return messages
  }

  private all(): Uint8Array[] {
    this.lost = false
    this.wantsAll = false
    this.toldAllAt = performance.now()
    const held = inMessages(this.options.held())
    const parts = Math.max(1, held.length)
    return Array.from({ length: parts }, (_, at) => this.message(held[at] ?? [], at + 1, parts))
  }

  private message(changes: KvChange[], part: number, parts: number): Uint8Array {
    const { endpoint, incarnation, naming } = this.options
    return toBytes(encodeKvReport, { ...naming, endpoint, incarnation, sequence: this.sequence, part, parts, changes })
  }
}

/** Changes in lists of so many keys at most. */
const inMessages = (changes: readonly KvChange[]): KvChange[][] => {
  const lists: KvChange[][] = []
  let room = 0
  for (const { kind, keys, tier } of merged(changes)) {
    for (let at = 0; at === 0 || at < keys.length;) {
      if (room <= 0) {
        lists.push([])
        room = MESSAGE_KEYS_MAX
      }
      const end = Math.min(keys.length, at + room * KEY_BYTES)
      lists.at(-1)?.push({ kind, keys: keys.subarray(at, end), tier })
      room -= Math.max(1, (end - at) / KEY_BYTES)
      if (end === keys.length) break
      at = end
    }
  }
  return lists
}

/** Changes of one kind and tier that follow each other as one: each costs every scheduler a turn. */
const merged = (changes: readonly KvChange[]): readonly KvChange[] => {
  const all: KvChange[] = []
  for (let from = 0, to = 0; from < changes.length; from = to) {
    const first = changes[from] as KvChange
    let bytes = 0
    for (to = from; to < changes.length && changes[to]?.kind === first.kind && changes[to]?.tier === first.tier; to++) bytes += changes[to]?.keys.length ?? 0
    if (to === from + 1) all.push(first)
    else {
      const keys = new Uint8Array(bytes)
      for (let at = from, place = 0; at < to; at++) {
        const part = (changes[at] as KvChange).keys
        keys.set(part, place)
        place += part.length
      }
      all.push({ ...first, keys })
    }
  }
  return all
}

const readWanted = (data: Uint8Array): { readonly incarnation: string; readonly sequence: number } | undefined => {
  try {
    return fromBytes(decodeKvWanted, data)
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}
