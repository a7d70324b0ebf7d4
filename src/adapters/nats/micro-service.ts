import { headers, nuid } from '@nats-io/nats-core'
import type { Msg, NatsConnection, Subscription } from '@nats-io/nats-core'

export interface MicroServiceOptions {
  /** Made of A-Z a-z 0-9 _ -; the same for all instances. */
  readonly name: string
  /** Semantic version. */
  readonly version: string
  readonly description: string
  readonly metadata: Readonly<Record<string, string>>
  readonly endpoint: { readonly name: string; readonly subject: string }
  /** Instances of one group share the requests. */
  readonly queueGroup: string
  /** Answers with `answer` or `fail`, once. */
  handle(request: MicroRequest): void
}

/** A request to the service. */
export interface MicroRequest {
  readonly message: Msg
  /** `contentType` goes into the header of the answer. */
  answer(data: Uint8Array, contentType?: string): void
  /** A refusal: `code` and `description` go into the headers that tools look at; the data says the same. */
  fail(code: number, description: string, data?: Uint8Array, contentType?: string): void
}

/**
 * How long requests are handled without a pause, in milliseconds. Many may come in one piece from the socket: the first of
 * them would else wait for its answer until the last is handled, and whoever asks would idle meanwhile.
 */
const TURN_MS = 1

interface Waiting {
  readonly message: Msg
  readonly sinceMs: number
}

const VERBS = ['PING', 'INFO', 'STATS'] as const
const NANOS_PER_MS = 1_000_000

/** A service that tools can find and ask for its numbers, by the protocol of NATS micro services (ADR-32). */
export class MicroService {
  readonly id: string = nuid.next()
  private readonly options: MicroServiceOptions
  private readonly subscriptions: Subscription[]
  private readonly started = new Date().toISOString()
  /** Requests that wait for their turn. */
  private readonly waiting: Waiting[] = []
  private requests = 0
  private errors = 0
  private lastError = ''
  private processingMs = 0

  constructor(connection: NatsConnection, options: MicroServiceOptions) {
    this.options = options
    const { endpoint, queueGroup, name } = options
    const monitors = VERBS.flatMap((verb) =>
      [`$SRV.${verb}`, `$SRV.${verb}.${name}`, `$SRV.${verb}.${name}.${this.id}`].map((subject) =>
        connection.subscribe(subject, { callback: (error, message) => (error === null ? this.monitor(verb, message) : undefined) })))
    this.subscriptions = [
      ...monitors,
      connection.subscribe(endpoint.subject, { queue: queueGroup, callback: (error, message) => (error === null ? this.take(message) : undefined) }),
    ]
  }

  /** Takes no more requests; those taken may still be answered. */
  async stop(): Promise<void> {
    await Promise.all(this.subscriptions.map((subscription) => subscription.drain().catch(() => undefined)))
    for (const waiting of this.waiting.splice(0)) this.handle(waiting)
  }

  private take(message: Msg): void {
    this.waiting.push({ message, sinceMs: performance.now() })
    if (this.waiting.length === 1) setImmediate(() => this.turn())
  }

  /** Handles what waits, for a while: then answers go out, and others have their turn. */
  private turn(): void {
    const end = performance.now() + TURN_MS
    let handled = 0
    for (const waiting of this.waiting) {
      this.handle(waiting)
      handled += 1
      if (performance.now() >= end) break
    }
    this.waiting.splice(0, handled)
    if (this.waiting.length > 0) setImmediate(() => this.turn())
  }

  private handle({ message, sinceMs }: Waiting): void {
    const reply = (data: Uint8Array, fields: Readonly<Record<string, string>>): void => {
      this.processingMs += performance.now() - sinceMs
      const marked = headers()
      for (const [name, value] of Object.entries(fields)) marked.set(name, value)
      message.respond(data, Object.keys(fields).length === 0 ? {} : { headers: marked })
    }
    this.requests += 1
    this.options.handle({
      message,
      answer: (data, contentType) => reply(data, typed(contentType)),
      fail: (code, description, data = new Uint8Array(0), contentType) => {
        this.errors += 1
        this.lastError = `${code}:${description}`
        reply(data, { 'Nats-Service-Error-Code': String(code), 'Nats-Service-Error': oneLine(description), ...typed(contentType) })
      },
    })
  }

  private monitor(verb: (typeof VERBS)[number], message: Msg): void {
    const { name, version, description, metadata, endpoint, queueGroup } = this.options
    const about = { name, id: this.id, version, metadata, type: `io.nats.micro.v1.${verb.toLowerCase()}_response` }
    const place = { name: endpoint.name, subject: endpoint.subject, queue_group: queueGroup }
    const answer = {
      PING: about,
      INFO: { ...about, description, endpoints: [{ ...place, metadata: {} }] },
      STATS: {
        ...about,
        started: this.started,
        endpoints: [{
          ...place,
          num_requests: this.requests,
          num_errors: this.errors,
          last_error: this.lastError,
          processing_time: Math.round(this.processingMs * NANOS_PER_MS),
          average_processing_time: Math.round((this.processingMs * NANOS_PER_MS) / Math.max(1, this.requests)),
        }],
      },
    }
    message.respond(JSON.stringify(answer[verb]))
  }
}

const typed = (contentType: string | undefined): Readonly<Record<string, string>> => (contentType === undefined ? {} : { 'Content-Type': contentType })

/** Headers end at a line break. */
const oneLine = (text: string): string => text.replace(/[\r\n]+/g, ' ')
