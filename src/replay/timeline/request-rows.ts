import type { Decision } from '../../wire/decision.ts'
import type { Input } from '../../wire/input.ts'
import { MARKS, OUTCOMES, STAGES } from './timeline.ts'
import type { Timeline } from './timeline.ts'
import { requestTold } from './told.ts'

type Content = NonNullable<Input['input']>

/** One stage that an endpoint serves of a request. */
export interface Held {
  readonly stage: string
  readonly endpoint: string
}

/** Writes the rows and bars of a timeline's requests. */
export class RequestRows {
  /** Microseconds since the epoch: what is told happens then. */
  at = 0
  /** Lanes whose load may have changed; whoever reads them empties them. */
  readonly touched = new Set<number>()
  private readonly timeline: Timeline
  /** Place of a live request's row, and of its open bars. */
  private readonly rows = new Map<number, number>()
  private readonly openBars = new Map<number, readonly number[]>()

  constructor(timeline: Timeline) {
    this.timeline = timeline
  }

  /** Requests that are not over, by arrival position. */
  live(): number[] {
    return [...this.rows.keys()]
  }

  /** A request arrived, or was there already where the journal begins. */
  arrived(key: number, { requestId, model, shape }: Arrival, receivedAt: number = this.at): void {
    const { requests } = this.timeline
    const row = requests.key.push(key)
    requests.receivedAt.push(receivedAt)
    for (const column of [requests.decidedAt, requests.sentAt, requests.firstByteAt, requests.endedAt]) column.push(NaN)
    requests.outcome.push(0)
    requests.model.push(requests.models.of(model))
    requests.decisionType.push(requests.decisionTypes.of(''))
    requests.lane.push(-1)
    requests.attempts.push(0)
    requests.promptTokens.push(shape?.prompts.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0)
    requests.outputTokens.push(0)
    requests.ids.push(requestId)
    this.rows.set(key, row)
  }

  /** How far a request was that was there already. */
  found(key: number, attempt: number, started: boolean): void {
    const row = this.rows.get(key)
    if (row === undefined) return
    const { requests } = this.timeline
    requests.attempts.set(row, attempt)
    if (started) requests.firstByteAt.set(row, requests.receivedAt.at(row))
  }

  /** Attempt that a live request is at; 0 before its decision, undefined when it is over. */
  attemptOf(key: number): number | undefined {
    const row = this.rows.get(key)
    return row === undefined ? undefined : this.timeline.requests.attempts.at(row)
  }

  /** Something was heard of a request; what ends it is told by `closed`. */
  told(content: Content): void {
    const { requests, bars } = this.timeline
    const request = requestTold(content)
    const row = this.rows.get(request)
    if (row === undefined) return
    const open = this.openBars.get(request) ?? []
    if (content.kind === 'requestSent') {
      requests.sentAt.set(row, this.at)
      for (const bar of open) bars.sent.set(bar, this.at)
    }
    if (content.kind === 'responseStarted') {
      if (Number.isNaN(requests.firstByteAt.at(row))) requests.firstByteAt.set(row, this.at)
      for (const bar of open) this.started(bar)
    }
    if (content.kind === 'responseEnded') requests.outputTokens.set(row, content.value.usage?.completionTokens ?? 0)
  }

  /** A request was decided; gives the marks of its record. Who serves it now is told by `hold`. */
  decided(decision: Decision): number {
    const { requests } = this.timeline
    const row = this.rows.get(decision.request)
    if (row === undefined) return 0
    requests.decidedAt.set(row, this.at)
    requests.attempts.set(row, decision.attempt)
    if (decision.outcome !== 'routed') return MARKS.rejected
    const primary = decision.profiles.find(({ profile }) => profile === decision.primaryProfile)?.picks[0]?.endpoint
    requests.decisionType.set(row, requests.decisionTypes.of(decision.decisionType))
    if (primary !== undefined) requests.lane.set(row, this.timeline.lane(primary))
    this.closeBars(decision.request, 0)
    return MARKS.routed | (decision.attempt > 1 ? MARKS.retried : 0)
  }

  /** Begins a bar for each stage. */
  hold(request: number, attempt: number, stages: readonly Held[]): void {
    const { bars } = this.timeline
    if (stages.length === 0) return
    this.openBars.set(request, stages.map(({ stage, endpoint }) => {
      const lane = this.timeline.lane(endpoint)
      const bar = bars.lane.push(lane)
      bars.stage.push(Math.max(0, STAGES.indexOf(stage as (typeof STAGES)[number])))
      bars.request.push(request)
      bars.attempt.push(attempt)
      bars.from.push(this.at)
      for (const column of [bars.sent, bars.firstByte, bars.to]) column.push(NaN)
      bars.outcome.push(0)
      this.touched.add(lane)
      return bar
    }))
  }

  /** A request is over. */
  closed(request: number, outcome: (typeof OUTCOMES)[number], outputTokens: number | undefined): void {
    const { requests } = this.timeline
    const row = this.rows.get(request)
    const number = OUTCOMES.indexOf(outcome)
    if (row !== undefined) {
      requests.endedAt.set(row, this.at)
      requests.outcome.set(row, number)
      if (outputTokens !== undefined) requests.outputTokens.set(row, outputTokens)
    }
    this.lost(request, number)
  }

  /** A request is gone, and nothing says how. */
  lost(request: number, outcome: number = 0): void {
    this.closeBars(request, outcome)
    this.openBars.delete(request)
    this.rows.delete(request)
  }

  /** Prefill and encode are over once the response begins. */
  private started(bar: number): void {
    const { bars } = this.timeline
    bars.firstByte.set(bar, this.at)
    if (bars.stage.at(bar) !== 0) bars.to.set(bar, this.at)
  }

  private closeBars(request: number, outcome: number): void {
    const { bars } = this.timeline
    for (const bar of this.openBars.get(request) ?? []) {
      if (Number.isNaN(bars.to.at(bar))) bars.to.set(bar, this.at)
      // A bar that ends while its request goes on was a failed attempt.
      bars.outcome.set(bar, outcome === 0 ? OUTCOMES.indexOf('failed') : outcome)
      this.touched.add(bars.lane.at(bar))
    }
  }
}

/** What a row says of a request from its beginning. */
interface Arrival {
  readonly requestId: string
  readonly model: string
  readonly shape: { readonly prompts: readonly { readonly tokens: number }[] } | undefined
}
