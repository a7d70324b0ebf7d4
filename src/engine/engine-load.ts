import type { InFlightLoad } from '../core/attribute.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Assignment } from '../core/load-ledger.ts'
import type { LiveRequest } from './live-request.ts'

const NOTHING: InFlightLoad = { requests: 0, tokens: 0 }
const NONE: readonly Assignment[] = []

/**
 * What the engine itself has in flight, by life of endpoint: a fold over the live requests that hold their result.
 *
 * A request holds the first endpoint of each profile that ran, from `hold` to `letGo`; whether it does is on the request,
 * so nothing is released twice, and what is held can be read off the requests at any time.
 */
export class EngineLoad {
  private readonly live: ReadonlyMap<number, LiveRequest>
  private readonly cells = new Map<number, { requests: number; tokens: number }>()

  constructor(live: ReadonlyMap<number, LiveRequest>) {
    this.live = live
  }

  /** Counts the request on its endpoints. */
  hold(request: LiveRequest, promptTokens: number): void {
    this.letGo(request)
    request.holds = true
    request.promptTokens = promptTokens
    for (const [, { endpoints }] of request.result?.results ?? []) if (endpoints[0] !== undefined) this.count(endpoints[0], 1, promptTokens)
  }

  /** Releases all that the request holds; again is harmless. */
  letGo(request: LiveRequest): void {
    if (!request.holds) return
    request.holds = false
    for (const [, { endpoints }] of request.result?.results ?? []) if (endpoints[0] !== undefined) this.count(endpoints[0], -1, -request.promptTokens)
  }

  /** Load of this life of the endpoint. */
  load(endpoint: Endpoint): InFlightLoad {
    return this.cells.get(endpoint.life) ?? NOTHING
  }

  /** What a request holds. */
  assignmentsOf(key: number): readonly Assignment[] {
    const request = this.live.get(key)
    if (request === undefined || !request.holds) return NONE
    const { promptTokens } = request
    return [...(request.result?.results ?? [])].flatMap(([profile, { endpoints: [endpoint] }]) => (endpoint === undefined ? [] : [{ profile, endpoint, promptTokens, outputTokens: 0 }]))
  }

  /** Requests with something held, in order of arrival. */
  requests(): number[] {
    return [...this.live.values()].filter(({ holds }) => holds).map(({ key }) => key).sort((a, b) => a - b)
  }

  private count({ life }: Endpoint, requests: number, tokens: number): void {
    let cell = this.cells.get(life)
    if (cell === undefined) {
      cell = { requests: 0, tokens: 0 }
      this.cells.set(life, cell)
    }
    cell.requests += requests
    cell.tokens += tokens
    if (cell.requests === 0) this.cells.delete(life)
  }
}
