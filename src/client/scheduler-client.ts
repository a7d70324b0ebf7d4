import { headers, RequestError, TimeoutError } from '@nats-io/nats-core'
import type { Msg, NatsConnection } from '@nats-io/nats-core'
import { SignalboxError } from '../core/errors.ts'
import { decodeScheduleReply, encodeScheduleRequest, fromBytes, toBytes } from '../wire/index.ts'
import type { RequestReceived, ScheduleRequest } from '../wire/index.ts'
import { LifecyclePublisher } from './lifecycle-publisher.ts'
import { RequestRefused } from './request-refused.ts'
import { refusalOf, ScheduledRequest } from './scheduled-request.ts'

export { RequestRefused } from './request-refused.ts'

export interface SchedulerClientOptions {
  readonly pool: string
  /** What every subject begins with; "signalbox.v1" when absent. */
  readonly prefix?: string
  /** The inbox prefix that the connection was made with, where it is not _INBOX. */
  readonly inboxPrefix?: string
  /** How long to wait for a route, in milliseconds; the scheduler is told. */
  readonly timeoutMs?: number
  /** How long a lifecycle report is tried until the server has it, in milliseconds. */
  readonly retryForMs?: number
}

const TIMEOUT_MS = 5000
const RETRY_FOR_MS = 120_000
const DEADLINE_HEADER = 'Signalbox-Deadline-Ms'

/** Asks the schedulers of a pool for routes, over a connection that is the caller's. */
export class SchedulerClient {
  private readonly connection: NatsConnection
  private readonly subject: string
  private readonly inboxPrefix: string | undefined
  private readonly timeoutMs: number
  private readonly retryForMs: number

  constructor(connection: NatsConnection, { pool, prefix = 'signalbox.v1', inboxPrefix, timeoutMs = TIMEOUT_MS, retryForMs = RETRY_FOR_MS }: SchedulerClientOptions) {
    this.connection = connection
    this.subject = `${prefix}.${pool}.schedule`
    this.inboxPrefix = inboxPrefix
    this.timeoutMs = timeoutMs
    this.retryForMs = retryForMs
  }

  /**
   * Asks for a route for a request as it came: its path, headers and body.
   * @throws RequestRefused when it is not served; SignalboxError nats-too-large when the server takes no message so large
   */
  schedule(request: { readonly path: string; readonly headers?: Readonly<Record<string, string>>; readonly body: Uint8Array; readonly requestId?: string }): Promise<ScheduledRequest> {
    const { path, headers: given = {}, body, requestId = '' } = request
    const raw = { path, headers: Object.entries(given).map(([name, value]) => ({ name: name.toLowerCase(), value })), body }
    return this.ask({ requestId, request: { kind: 'raw', value: raw } })
  }

  /** Asks for a route for a request that is already reduced to its shape. Throws as `schedule`. */
  scheduleShape(received: RequestReceived): Promise<ScheduledRequest> {
    return this.ask({ requestId: received.requestId, request: { kind: 'received', value: received } })
  }

  private async ask(request: ScheduleRequest): Promise<ScheduledRequest> {
    const data = toBytes(encodeScheduleRequest, request)
    const most = this.connection.info?.max_payload ?? Infinity
    if (data.length > most) throw new SignalboxError('nats-too-large', `the request has ${data.length} bytes, the server takes ${most}`)
    const reply = fromBytes(decodeScheduleReply, (await this.request(data)).data)
    if (reply.answer?.kind !== 'route') throw refusalOf(reply)
    // A publisher of its own, so that the reports of one request wait for no other's.
    return new ScheduledRequest(this.connection, new LifecyclePublisher(this.connection, this.retryForMs), reply, reply.answer.value, { timeoutMs: this.timeoutMs, inboxPrefix: this.inboxPrefix })
  }

  private async request(data: Uint8Array): Promise<Msg> {
    const marked = headers()
    marked.set(DEADLINE_HEADER, String(this.timeoutMs))
    try {
      return await this.connection.request(this.subject, data, { timeout: this.timeoutMs, headers: marked })
    } catch (error) {
      if (error instanceof TimeoutError) throw new RequestRefused({ status: 504, code: 'DeadlineExceeded', reason: '', message: `no scheduler answered within ${this.timeoutMs} ms` })
      if (error instanceof RequestError && error.isNoResponders()) throw new RequestRefused({ status: 503, code: 'ServiceUnavailable', reason: '', message: `no scheduler listens on ${this.subject}` })
      throw error
    }
  }
}
