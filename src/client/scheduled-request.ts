import { createInbox } from '@nats-io/nats-core'
import type { NatsConnection } from '@nats-io/nats-core'
import { decodeScheduleReply, emptyLifecycleReport, encodeLifecycleReport, fromBytes, toBytes } from '../wire/index.ts'
import type { EndCause, FailureCause, LifecycleReport, Route, ScheduleReply, Usage } from '../wire/index.ts'
import type { LifecyclePublisher } from './lifecycle-publisher.ts'
import { RequestRefused } from './request-refused.ts'

/** How a response ended. */
export interface Ended {
  readonly cause: EndCause
  readonly status: number
  /** Undefined when the endpoint reported none. */
  readonly usage?: Usage
  readonly bodyBytes?: number
}

/** How the next route is waited for. */
export interface Waiting {
  readonly timeoutMs: number
  readonly inboxPrefix: string | undefined
}

type Report = NonNullable<LifecycleReport['report']>

/**
 * A request with its route, and the way to tell what becomes of it. Each call resolves when the server holds the report;
 * the reports of a request keep their order, so that awaiting each is not needed.
 */
export class ScheduledRequest {
  readonly requestId: string
  /** The scheduler's key of the request. */
  readonly key: number
  private readonly connection: NatsConnection
  private readonly publisher: LifecyclePublisher
  private readonly subject: string
  private readonly waiting: Waiting
  private current: Route
  private told = 0

  constructor(connection: NatsConnection, publisher: LifecyclePublisher, reply: ScheduleReply, route: Route, waiting: Waiting) {
    this.connection = connection
    this.publisher = publisher
    this.requestId = reply.requestId
    this.key = reply.request
    this.subject = reply.lifecycleSubject
    this.current = route
    this.waiting = waiting
  }

  /** Where to send it: the route of the newest attempt. */
  get route(): Route {
    return this.current
  }

  /** The endpoint took the request. */
  sent(): Promise<void> {
    return this.tell({ kind: 'sent', value: {} })
  }

  /** First byte of the response. */
  started(status: number, streaming: boolean): Promise<void> {
    return this.tell({ kind: 'started', value: { status, streaming } })
  }

  /** A sign of life of a long stream, at most one in 10 s. */
  progressed(tokens: number): Promise<void> {
    return this.tell({ kind: 'progressed', value: { tokens } })
  }

  /** Last byte of the response. */
  ended({ cause, status, usage, bodyBytes = 0 }: Ended): Promise<void> {
    return this.tell({ kind: 'ended', value: { cause, status, usage, bodyBytes } })
  }

  /** The client left. */
  aborted(cause: EndCause = 'client-disconnect'): Promise<void> {
    return this.tell({ kind: 'aborted', value: { cause } })
  }

  /**
   * The attempt came to nothing. Resolves with the next route, also in `route`.
   * @throws RequestRefused when there is none
   */
  async failed(cause: FailureCause, status: number, retryable: boolean): Promise<Route> {
    const replyTo = createInbox(this.waiting.inboxPrefix)
    const answer = this.connection.subscribe(replyTo, { max: 1, timeout: this.waiting.timeoutMs })
    const endpoint = this.current.target?.endpoint ?? ''
    await this.tell({ kind: 'failed', value: { endpoint, cause, status, retryable, replyTo } })
    for await (const message of answer) {
      const reply = fromBytes(decodeScheduleReply, message.data)
      if (reply.answer?.kind !== 'route') throw refusalOf(reply)
      this.current = reply.answer.value
      return this.current
    }
    throw new RequestRefused({ status: 504, code: 'DeadlineExceeded', reason: '', message: 'the scheduler gave no other route' })
  }

  private tell(report: Report): Promise<void> {
    this.told += 1
    const message = { ...emptyLifecycleReport(), request: this.key, attempt: this.current.attempt, requestId: this.requestId, report }
    return this.publisher.publish(this.subject, `${this.subject} ${this.requestId} ${this.told}`, toBytes(encodeLifecycleReport, message))
  }
}

/** What a reply without a route means. */
export const refusalOf = ({ answer }: ScheduleReply): RequestRefused =>
  new RequestRefused(answer?.kind === 'refusal' ? answer.value : { status: 502, code: 'Internal', reason: '', message: 'the scheduler gave no answer' })
