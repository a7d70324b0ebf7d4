import { headers } from '@nats-io/nats-core'
import { encodePeerLoadReported, toBytes } from '../../wire/index.ts'
import type { LoadAssigned, LoadReleased } from '../../wire/index.ts'
import { AcknowledgedPublisher } from './journal/acknowledged-publisher.ts'
import { ensureLoadStream } from './load-stream.ts'
import type { LoadStreamOptions } from './load-stream.ts'
import { Lookout } from './lookout.ts'
import { OpenSetAge } from './open-set-age.ts'
import { isStored } from './streams.ts'
import { UnheardBlocks } from './unheard-blocks.ts'

/** Assignments in one message: some 100 kB, block keys aside. */
const ASSIGNED_MAX = 1000
/** Bytes of block keys in one message, one request's more at most: well below a server's usual bound of 1 MB. */
const BLOCK_BYTES_MAX = 256 * 1024
const RETRY_MS = 250
/** Under load, changes go at most this often: a message costs more than what is in it, here and at every peer. */
const TELL_EVERY_MS = 5

interface Change {
  readonly assigned: readonly LoadAssigned[]
  readonly released: readonly LoadReleased[]
}

/** Tells peers of this replica's load: an open set first and after every failure, then what changes, in sequence. */
export class LoadPublisher {
  private readonly options: LoadStreamOptions
  private readonly publisher: AcknowledgedPublisher
  private readonly open: () => readonly LoadAssigned[]
  private readonly unheard = new UnheardBlocks()
  private assigned: LoadAssigned[] = []
  private released: LoadReleased[] = []
  private sequence = 0
  private readonly age = new OpenSetAge()
  private mustOpen = true
  /** The newest open set, or what of it went first, and where in the stream that is. */
  private opened: { readonly at: number; readonly data: Uint8Array } | undefined
  private readonly lookout: Lookout
  private toldMs = -Infinity
  private scheduled: NodeJS.Timeout | NodeJS.Immediate | undefined
  private sending: Promise<void> = Promise.resolve()
  private closed = false

  /** `open` gives all that is held when it is asked. */
  constructor(options: LoadStreamOptions, open: () => readonly LoadAssigned[]) {
    this.options = options
    this.open = open
    this.publisher = new AcknowledgedPublisher(options.link)
    this.lookout = new Lookout(options.link, () => this.isOpen(), () => this.reopen())
  }

  /** Tells the open set. */
  start(): void {
    this.schedule()
  }

  /** Takes changes; what is taken in one turn of the event loop goes as one message, under load what is taken in 5 ms. */
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
    this.lookout.close()
    await this.sending
    this.publisher.close()
  }

  private schedule(): void {
    if (this.closed || this.scheduled !== undefined) return
    const waitMs = this.toldMs + TELL_EVERY_MS - performance.now()
    this.scheduled = waitMs > 0 ? setTimeout(() => this.flush(), waitMs) : setImmediate(() => this.flush())
  }

  private flush(): void {
    this.scheduled = undefined
    this.toldMs = performance.now()
    this.sending = this.sending.then(() => this.send()).catch((error: unknown) => {
      // The open set that follows says it all again.
      this.mustOpen = true
      if (this.closed) return
      if (this.options.link.connected) this.options.failed(error)
      this.scheduled ??= setTimeout(() => this.flush(), RETRY_MS)
    })
  }

  private async send(): Promise<void> {
    const opens = this.mustOpen || this.age.isDue(performance.now())
    const changed: Change = { assigned: this.assigned, released: this.released }
    this.assigned = []
    this.released = []
    this.unheard.add(changed.assigned)
    if (!opens && changed.assigned.length === 0 && changed.released.length === 0) return
    if (opens) {
      await ensureLoadStream(this.options)
      this.mustOpen = false
    }
    const messages = this.messages(opens, opens ? this.unheard.addedTo(this.open()) : changed)
    if (opens) this.age.opened(performance.now())
    else this.age.changed(messages.length)
    const subject = this.options.names.load(this.options.replica)
    const publications = messages.map((data) => ({ subject, data, headers: headers() }))
    const [first] = publications
    if (opens && first !== undefined) this.opened = { at: await this.publisher.publishAll([first], () => undefined), data: first.data }
    await this.publisher.publishAll(publications.slice(opens ? 1 : 0), () => undefined)
    this.unheard.clear()
  }

  /** Who reads anew needs the open set; and what was stored after it may be gone before peers read it. */
  private async isOpen(): Promise<boolean> {
    const { link, names, replica } = this.options
    const { opened } = this
    if (this.mustOpen || opened === undefined) return true
    if (this.age.isDue(performance.now())) return false
    return (await isStored(await link.manager(), names.loadStream, opened.at, names.load(replica), opened.data)) || opened !== this.opened
  }

  /** What is released comes last: it may have been assigned just before. */
  private messages(opens: boolean, { assigned, released }: Change): Uint8Array[] {
    const parts = partsOf(assigned)
    return parts.map((part, index) => this.message(opens && index === 0, part, index === parts.length - 1 ? released : []))
  }

  private message(opens: boolean, assigned: readonly LoadAssigned[], released: readonly LoadReleased[]): Uint8Array {
    this.sequence += 1
    const { replica, runId } = this.options
    return toBytes(encodePeerLoadReported, { replica, runId, sequence: this.sequence, opens, assigned: [...assigned], released: [...released] })
  }
}

/** Assignments in as many parts as there are messages, at least one. */
const partsOf = (assigned: readonly LoadAssigned[]): readonly (readonly LoadAssigned[])[] => {
  let part: LoadAssigned[] = []
  let bytes = 0
  const parts = [part]
  for (const load of assigned) {
    if (part.length >= ASSIGNED_MAX || bytes >= BLOCK_BYTES_MAX) {
      part = []
      bytes = 0
      parts.push(part)
    }
    part.push(load)
    for (const { keys } of load.blocks) bytes += keys.length
  }
  return parts
}
