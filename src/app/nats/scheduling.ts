import type { RequestDesk, Reply } from '../../actors/request-desk.ts'
import { readClientHeaders } from '../../adapters/http/header-policy.ts'
import type { Prepared, Preparation } from '../../adapters/http/preparation.ts'
import { journaledHeaders, requestInput } from '../../adapters/http/request-input.ts'
import type { Names } from '../../adapters/nats/names.ts'
import type { Scheduling } from '../../adapters/nats/schedule-service.ts'
import { emptyScheduleReply } from '../../wire/index.ts'
import type { Header, LifecycleReport, RawRequest, Refusal, RequestReceived, Route, RouteTarget, ScheduleReply, ScheduleRequest } from '../../wire/index.ts'

export interface NatsSchedulingOptions {
  readonly desk: RequestDesk
  readonly names: Names
  readonly replica: string
  readonly preparation: Preparation
  /** Why no new requests are taken now. */
  refusal(): string | undefined
  /** The client's label of a live request; undefined where there is none of this key. */
  labelOf(request: number): string | undefined
  /** Sends the next reply to a failed attempt. */
  reply(subject: string, reply: ScheduleReply): void
}

/** The request desk, as clients on NATS see it. */
export class NatsScheduling implements Scheduling {
  private readonly options: NatsSchedulingOptions
  /** What the subjects of reports begin with: the key of the request follows. */
  private readonly lifecycle: string

  constructor(options: NatsSchedulingOptions) {
    this.options = options
    this.lifecycle = options.names.lifecycle(options.replica, 0).slice(0, -1)
  }

  async schedule(asked: ScheduleRequest, expired: Promise<void> | undefined): Promise<ScheduleReply> {
    const why = this.options.refusal()
    if (why !== undefined) return refused(asked.requestId, { status: 503, code: 'ServiceUnavailable', reason: '', message: why })
    const read = this.receivedOf(asked)
    if ('status' in read) return refused(asked.requestId, read)
    const { received, count } = read
    const leaving = count === undefined ? undefined : new AbortController()
    let key = 0
    const reply = this.options.desk.receive(received, (request) => {
      key = request
      if (leaving !== undefined) count?.(request, leaving.signal)
    })
    const late = expired?.then(() => 'late' as const)
    const first = late === undefined ? await reply : await Promise.race([reply, late])
    if (first !== 'late') return this.replyOf(first, received.requestId)
    leaving?.abort()
    if (key > 0) this.options.desk.aborted(key, 'client-disconnect')
    return refused(received.requestId, { status: 504, code: 'DeadlineExceeded', reason: '', message: 'the deadline passed before there was a route' })
  }

  /**
   * Takes what a data plane tells. A report of a request that is over, or that another journal had under the same key,
   * changes nothing. `taken` is called when the engine has it.
   */
  report({ request, attempt, requestId, report }: LifecycleReport, taken: () => void): void {
    const { desk } = this.options
    if (report === undefined || this.options.labelOf(request) !== requestId) return taken()
    switch (report.kind) {
      case 'sent':
        desk.sent(request, attempt)
        break
      case 'started':
        desk.started(request, attempt, report.value.status, report.value.streaming)
        break
      case 'progressed':
        desk.progressed(request, report.value.tokens)
        break
      case 'ended':
        desk.ended(request, attempt, report.value)
        break
      case 'aborted':
        desk.aborted(request, report.value.cause)
        break
      case 'failed': {
        const { endpoint, cause, status, retryable, replyTo } = report.value
        void desk.attemptFailed(request, attempt, endpoint, cause, status, retryable).then((reply) => {
          if (replyTo !== '') this.options.reply(replyTo, this.replyOf(reply, requestId))
        })
      }
    }
    taken()
  }

  private receivedOf({ request, requestId }: ScheduleRequest): Read | Refusal {
    if (request?.kind === 'received') return { received: { ...request.value, requestId: request.value.requestId || requestId, headers: this.journaled(request.value.headers), ...ADVISED } }
    return request === undefined ? MALFORMED : this.prepared(request.value, requestId)
  }

  private prepared({ path, headers, body }: RawRequest, requestId: string): Read | Refusal {
    const { preparation } = this.options
    if (!preparation.claims(path)) return { status: 404, code: 'NotFound', reason: '', message: `no parser takes ${path}` }
    const client = readClientHeaders(headers.flatMap(({ name, value }) => [name, value]))
    const prepared = preparation.prepare(path, client.all, body)
    if (prepared.kind === 'refused') return { status: prepared.status, code: prepared.code, reason: '', message: prepared.message }
    return { received: { ...requestInput(requestId, client, prepared, body.length, preparation.receives), ...ADVISED }, count: prepared.count }
  }

  /** Only headers that a journal may keep, whatever the data plane sent. */
  private journaled(headers: readonly Header[]): Header[] {
    if (headers.length === 0) return []
    return journaledHeaders(readClientHeaders(headers.flatMap(({ name, value }) => [name, value])), this.options.preparation.receives)
  }

  private replyOf(reply: Reply, requestId: string): ScheduleReply {
    if (reply.kind === 'rejected') return refused(requestId, reply.denial, reply.request)
    return {
      request: reply.request,
      requestId,
      answer: { kind: 'route', value: routeOf(reply) },
      lifecycleSubject: `${this.lifecycle}${reply.request}`,
    }
  }
}

/** A request as the engine takes it, and how its tokens are counted where it waits for that. */
interface Read {
  readonly received: RequestReceived
  readonly count?: Prepared['count']
}

/** The connection is the data plane's, not this process's. */
const ADVISED = { frontDoor: 'nats', proxied: false } as const

const MALFORMED: Refusal = { status: 400, code: 'BadRequest', reason: '', message: 'a ScheduleRequest without request' }

const refused = (requestId: string, { status, code, reason, message }: Refusal, request: number = 0): ScheduleReply => ({
  ...emptyScheduleReply(),
  request,
  requestId,
  answer: { kind: 'refusal', value: { status, code, reason, message } },
})

const routeOf = ({ attempt, endpoint, fallbacks, headers, responseHeaders, targetModel, stages }: Extract<Reply, { kind: 'routed' }>): Route => ({
  attempt,
  target: targetOf(endpoint),
  fallbacks: fallbacks.map(targetOf),
  headers: pairs(headers),
  responseHeaders: pairs(responseHeaders),
  targetModel,
  stages: stages.map(({ stage, endpoints }) => ({ stage, endpoints: [...endpoints] })),
})

const targetOf = ({ id, hostPort }: { readonly id: string; readonly hostPort: string }): RouteTarget => ({ endpoint: id, hostPort })

const pairs = (headers: readonly (readonly [name: string, value: string])[]): Header[] => headers.map(([name, value]) => ({ name, value }))
