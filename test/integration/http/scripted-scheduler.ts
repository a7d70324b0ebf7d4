import type {
  Answer, AttemptFailure, Destination, RequestInput, ResponseEnd, Routed, SchedulerPort,
} from '../../../src/adapters/http/scheduler-port.ts'
import type { EndCause } from '../../../src/core/request.ts'

/** What a front door told its scheduler, in order. */
export type Told =
  | { readonly what: 'received'; readonly input: RequestInput }
  | { readonly what: 'sent'; readonly attempt: number }
  | { readonly what: 'started'; readonly attempt: number; readonly status: number; readonly streaming: boolean }
  | { readonly what: 'progressed'; readonly tokens: number }
  | { readonly what: 'ended'; readonly attempt: number; readonly end: ResponseEnd }
  | { readonly what: 'failed'; readonly attempt: number; readonly endpoint: string; readonly cause: AttemptFailure; readonly status: number; readonly retryable: boolean }
  | { readonly what: 'aborted'; readonly cause: EndCause }

const LAST: ReadonlySet<string> = new Set(['ended', 'aborted'])

/**
 * A scheduler for tests of the door alone: each attempt goes to the next of a list of endpoints, and what is told is
 * kept, by request. Counts load as an engine does: one assignment an attempt, released once.
 */
export class ScriptedScheduler implements SchedulerPort {
  readonly told = new Map<number, Told[]>()
  /** Open assignments by endpoint id. */
  readonly load = new Map<string, number>()
  route: Partial<Routed> = {}
  endpoints: readonly Destination[] = []
  /** Answers in place of a route, where it gives one. */
  answer: ((input: RequestInput, request: number) => Promise<Answer> | undefined) | undefined
  acceptsFirst = true
  #next = 1
  readonly #assigned = new Map<number, string>()
  readonly #waiting: { until: (told: Told) => boolean; resolve: () => void }[] = []

  receive(input: RequestInput, accepted: (request: number) => void): Promise<Answer> {
    const request = this.#next++
    this.told.set(request, [])
    this.#tell(request, { what: 'received', input })
    if (this.acceptsFirst) accepted(request)
    return this.answer?.(input, request) ?? Promise.resolve(this.routeOf(request, 1, input.targetModel))
  }

  /** The next route of a request; a rejection when the endpoints are used up. */
  routeOf(request: number, attempt: number, targetModel = ''): Answer {
    const endpoint = this.endpoints[attempt - 1]
    if (endpoint === undefined) {
      return { kind: 'rejected', request, status: 503, code: 'ServiceUnavailable', reason: 'rejected-no-endpoints', message: 'every endpoint failed' }
    }
    this.#assigned.set(request, endpoint.id)
    this.load.set(endpoint.id, (this.load.get(endpoint.id) ?? 0) + 1)
    return {
      kind: 'routed', request, attempt, endpoint, fallbacks: [], headers: [], targetModel,
      stages: { decode: endpoint.id }, ...this.route,
    }
  }

  sent(request: number, attempt: number): void {
    this.#tell(request, { what: 'sent', attempt })
  }

  started(request: number, attempt: number, status: number, streaming: boolean): void {
    this.#tell(request, { what: 'started', attempt, status, streaming })
  }

  progressed(request: number, tokens: number): void {
    this.#tell(request, { what: 'progressed', tokens })
  }

  ended(request: number, attempt: number, end: ResponseEnd): void {
    this.#release(request)
    this.#tell(request, { what: 'ended', attempt, end })
  }

  attemptFailed(request: number, attempt: number, endpoint: string, cause: AttemptFailure, status: number, retryable: boolean): Promise<Answer> {
    this.#release(request)
    this.#tell(request, { what: 'failed', attempt, endpoint, cause, status, retryable })
    if (retryable) return Promise.resolve(this.routeOf(request, attempt + 1))
    return Promise.resolve({ kind: 'rejected', request, status: 502, code: 'BadGateway', reason: '', message: `the endpoint failed: ${cause}` })
  }

  aborted(request: number, cause: EndCause): void {
    this.#release(request)
    this.#tell(request, { what: 'aborted', cause })
  }

  /** What was told of the first request, or of another. */
  story(request = 1): readonly Told[] {
    return this.told.get(request) ?? []
  }

  /** Resolves when something was told that meets the condition, at once when it was already. */
  until(condition: (told: Told) => boolean): Promise<void> {
    if ([...this.told.values()].flat().some(condition)) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push({ until: condition, resolve })
    })
  }

  /** The sum of what is assigned; a release without an assignment throws. */
  get openLoad(): number {
    return [...this.load.values()].reduce((sum, count) => sum + count, 0)
  }

  #tell(request: number, told: Told): void {
    const story = this.told.get(request)
    if (story === undefined) throw new Error(`request ${request} was never received`)
    if (story.some(({ what }) => LAST.has(what))) throw new Error(`request ${request}: ${told.what} told after its end`)
    story.push(told)
    for (const waiting of this.#waiting.filter(({ until }) => until(told))) waiting.resolve()
  }

  #release(request: number): void {
    const endpoint = this.#assigned.get(request)
    if (endpoint === undefined) return
    this.#assigned.delete(request)
    this.load.set(endpoint, (this.load.get(endpoint) ?? 0) - 1)
  }
}
