import type { Registry } from 'prom-client'
import { MICROS_PER_S } from '../../core/instant.ts'
import type { Instant } from '../../core/instant.ts'
import type { EndCause, Usage } from '../../core/request.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import type { RequestReceived } from '../../wire/request.ts'
import { OTHER } from './bounded-names.ts'
import type { Folding } from './observations.ts'
import { RequestFamilies, SERIES_MAX } from './request-families.ts'
import type { RequestSeries } from './request-families.ts'
import { normalisedSecondsPerToken, secondsPerToken } from './token-latency.ts'

/** What a turn asks of the outside, as far as it is counted; the engine's effects are such. */
export type MeasuredEffect =
  | { readonly kind: 'routed'; readonly request: number; readonly attempt: number; readonly targetModel: string; readonly endpoint: { readonly id: string; readonly hostPort: string } }
  | { readonly kind: 'rejected' | 'expired'; readonly request: number; readonly denial: { readonly code: string } }
  | { readonly kind: 'closed'; readonly request: number; readonly outcome: string; readonly cause: EndCause; readonly usage: Usage | undefined; readonly receivedAt: Instant }
  | { readonly kind: 'wake' }

const FIRST_ERROR_STATUS = 400
const SERVER_ERROR = 'ModelServerError'
const SEPARATOR = '\u0000'

/** What is known of a request until it is over. */
class OpenRequest {
  readonly series: RequestSeries
  readonly streaming: boolean
  readonly bytes: number
  isRouted = false
  isRunning = false
  firstAt: Instant | undefined = undefined
  endedAt: Instant | undefined = undefined
  status = 0
  responseBytes = 0
  errorCode = ''

  constructor(series: RequestSeries, arrival: RequestReceived) {
    this.series = series
    this.streaming = arrival.streaming
    this.bytes = arrival.bodyBytes
  }
}

/** Follows each request through the records and effects of the turns, and counts what llm-d counts of it. */
export class RequestMeasures {
  private readonly families: RequestFamilies
  private readonly folding: Folding
  private readonly series = new Map<string, RequestSeries>()
  private readonly open = new Map<number, OpenRequest>()
  private last: (Pick<RequestReceived, 'model' | 'targetModel' | 'fairnessId' | 'priority'> & { readonly series: RequestSeries }) | undefined

  constructor(registry: Registry, folding: Folding) {
    this.families = new RequestFamilies(registry)
    this.folding = folding
  }

  /** Requests that are followed. */
  get size(): number {
    return this.open.size
  }

  record({ position, atUs, input }: JournalRecord): void {
    const content = input?.input
    switch (content?.kind) {
      case 'requestReceived':
        this.open.set(position, new OpenRequest(this.seriesOf(content.value), content.value))
        return
      case 'requestSent':
        this.run(this.open.get(content.value.request))
        return
      case 'responseStarted': {
        const request = this.open.get(content.value.request)
        if (request === undefined) return
        this.run(request)
        request.firstAt ??= atUs
        request.status = content.value.status
        return
      }
      case 'responseEnded': {
        const request = this.open.get(content.value.request)
        if (request === undefined) return
        request.endedAt = atUs
        request.status = content.value.status || request.status
        request.responseBytes = content.value.bodyBytes
        return
      }
      case 'requestAttemptFailed': {
        // The next attempt has a first byte of its own.
        const request = this.open.get(content.value.request)
        if (request !== undefined) request.firstAt = undefined
        return
      }
      default:
    }
  }

  effect(effect: MeasuredEffect, at: Instant): void {
    if (effect.kind === 'wake') return
    const request = this.open.get(effect.request)
    if (request === undefined) return
    if (effect.kind === 'routed') {
      if (request.isRouted) return
      request.isRouted = true
      request.series.total.add()
      request.series.requestBytes.observe(request.bytes)
    } else if (effect.kind === 'closed') {
      this.open.delete(effect.request)
      this.close(request, effect, at)
    } else request.errorCode = effect.denial.code
  }

  private run(request: OpenRequest | undefined): void {
    if (request === undefined || request.isRunning) return
    request.isRunning = true
    request.series.running.add()
  }

  private close(request: OpenRequest, { outcome, usage, receivedAt }: Extract<MeasuredEffect, { kind: 'closed' }>, at: Instant): void {
    const { series } = request
    if (request.isRunning) series.running.add(-1)
    if (request.status >= FIRST_ERROR_STATUS) this.families.countError(series, SERVER_ERROR)
    else if (request.errorCode !== '') this.families.countError(series, request.errorCode)
    if (outcome !== 'completed' || request.status >= FIRST_ERROR_STATUS) return
    const times = { receivedAt, firstAt: request.firstAt, endedAt: request.endedAt ?? at, streaming: request.streaming, outputTokens: usage?.completionTokens ?? 0 }
    series.seconds.observe((times.endedAt - receivedAt) / MICROS_PER_S)
    series.responseBytes.observe(request.responseBytes)
    if (request.firstAt !== undefined) series.firstTokenSeconds[request.streaming ? 'streaming' : 'whole'].observe((request.firstAt - receivedAt) / MICROS_PER_S)
    observeKnown(series.normalisedTokenSeconds, normalisedSecondsPerToken(times))
    observeKnown(series.tokenSeconds, secondsPerToken(times))
    if (usage === undefined) return
    series.inputTokens.observe(usage.promptTokens)
    series.cachedTokens.observe(usage.cachedTokens)
    series.outputTokens.observe(usage.completionTokens)
  }

  /** Most requests are like the one before. */
  private seriesOf(request: RequestReceived): RequestSeries {
    const { model, targetModel, fairnessId, priority } = request
    const { last } = this
    if (last !== undefined && last.model === model && last.targetModel === targetModel && last.fairnessId === fairnessId && last.priority === priority) return last.series
    const series = this.foundSeriesOf(request)
    this.last = { model, targetModel, fairnessId, priority, series }
    return series
  }

  private foundSeriesOf({ model, targetModel, fairnessId, priority }: RequestReceived): RequestSeries {
    const { models, fairnessIds } = this.folding
    const values = [models.fold(model), models.fold(targetModel === '' ? model : targetModel), fairnessIds.fold(fairnessId), String(priority)]
    const key = values.join(SEPARATOR)
    const known = this.series.get(key)
    if (known !== undefined) return known
    if (this.series.size >= SERIES_MAX) {
      const rest = [OTHER, OTHER, OTHER, OTHER]
      return this.addSeries(rest.join(SEPARATOR), rest)
    }
    return this.addSeries(key, values)
  }

  private addSeries(key: string, values: readonly string[]): RequestSeries {
    const known = this.series.get(key)
    if (known !== undefined) return known
    const series = this.families.series(values)
    this.series.set(key, series)
    return series
  }
}

const observeKnown = (cell: { observe(value: number): void }, value: number | undefined): void => {
  if (value !== undefined) cell.observe(value)
}
