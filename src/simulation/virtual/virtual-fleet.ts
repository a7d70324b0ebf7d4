import type { Engine } from '../endpoint/exposition.ts'
import { ROLE_LABEL } from '../endpoint/role.ts'
import { completeTiming } from '../endpoint/timing.ts'
import type { EndpointTiming } from '../endpoint/timing.ts'
import { ENGINE_LABEL, rolesetLabels } from '../pool/pool-file.ts'
import { VirtualEndpoint } from './virtual-endpoint.ts'
import type { Happening } from './virtual-endpoint.ts'

export interface VirtualFleetOptions {
  readonly prefill: number
  readonly decode: number
  /** Groups prefill and decode endpoints in so many rolesets, by AIBrix's labels; 0: no such labels. */
  readonly rolesets: number
  readonly engine: Engine
  readonly timing?: Partial<EndpointTiming>
}

/** A prompt with what is to be generated of it. */
export interface VirtualRequest {
  /** Keys of the full KV blocks of the prompt. */
  readonly keys: Float64Array
  readonly promptTokens: number
  readonly outputTokens: number
}

/** Where a request goes; without `prefill` its decode endpoint prefills it too. */
export interface VirtualRoute {
  readonly prefill: string | undefined
  readonly decode: string
}

/** Told how a request goes on; times are virtual, in ms. */
export interface RequestWatch {
  /** Its prompt's computation has begun; so many of its tokens were cached. */
  admitted(cachedTokens: number, atMs: number): void
  /** Its prefill elsewhere is over, and its decode about to begin. */
  prefilled(atMs: number): void
  firstToken(atMs: number): void
  progressed(tokens: number, atMs: number): void
  ended(atMs: number): void
}

interface Live {
  readonly request: VirtualRequest
  readonly route: VirtualRoute
  readonly watch: RequestWatch
  stage: 'prefill' | 'decode'
  at: VirtualEndpoint
}

/** Prefill and decode endpoints in virtual time, without sockets; nothing happens but when it is advanced. */
export class VirtualFleet {
  readonly endpoints: readonly VirtualEndpoint[]
  private readonly byId: ReadonlyMap<string, VirtualEndpoint>
  private readonly live = new Map<number, Live>()
  private readonly happened: Happening[] = []

  constructor({ prefill, decode, rolesets, engine, timing = {} }: VirtualFleetOptions) {
    const complete = completeTiming(timing)
    const of = (role: 'prefill' | 'decode', count: number): VirtualEndpoint[] => Array.from({ length: count }, (_, index) =>
      new VirtualEndpoint(`default/${role}-${index}`, role, { [ENGINE_LABEL]: engine, [ROLE_LABEL]: role, ...rolesetLabels(role, index, rolesets, engine) }, complete, this.happened))
    this.endpoints = [...of('decode', decode), ...of('prefill', prefill)]
    this.byId = new Map(this.endpoints.map((endpoint) => [endpoint.id, endpoint]))
  }

  /** Whether no endpoint has the KV blocks for it. */
  exceeds({ promptTokens, outputTokens }: VirtualRequest): boolean {
    return this.endpoints.every((endpoint) => endpoint.exceeds(promptTokens, outputTokens))
  }

  /** Sends a request on its way, after what is due by now. */
  serve(id: number, request: VirtualRequest, route: VirtualRoute, watch: RequestWatch, nowMs: number): void {
    const first = route.prefill ?? route.decode
    const endpoint = this.endpoint(first)
    this.live.set(id, { request, route, watch, stage: route.prefill === undefined ? 'decode' : 'prefill', at: endpoint })
    const isPrefill = route.prefill !== undefined
    endpoint.submit(workOf(id, request, isPrefill ? 'prefill' : 'plain'), isPrefill, nowMs)
    this.settle()
  }

  /** Ends a request early; nothing happens when it has ended already. */
  abort(id: number, nowMs: number): void {
    this.live.get(id)?.at.abort(id, nowMs)
    this.live.delete(id)
    this.settle()
  }

  /** When something happens next, Infinity when nothing will. */
  nextAt(): number {
    let next = Infinity
    for (const endpoint of this.endpoints) next = Math.min(next, endpoint.nextAt())
    return next
  }

  advance(nowMs: number): void {
    for (const endpoint of this.endpoints) endpoint.advance(nowMs)
    this.settle()
  }

  private settle(): void {
    for (let next = this.happened.shift(); next !== undefined; next = this.happened.shift()) this.tell(next)
  }

  private tell({ kind, leg, atMs, tokens }: Happening): void {
    const live = this.live.get(leg)
    if (live === undefined) return
    const { watch, stage, route, request } = live
    if (kind === 'admitted') {
      if (stage === 'prefill' || route.prefill === undefined) watch.admitted(tokens, atMs)
    } else if (kind === 'first-token') watch.firstToken(atMs)
    else if (kind === 'progress') watch.progressed(tokens, atMs)
    else if (stage === 'prefill') {
      live.stage = 'decode'
      live.at = this.endpoint(route.decode)
      watch.prefilled(atMs)
      live.at.submit(workOf(leg, request, 'decode'), false, atMs)
    } else {
      this.live.delete(leg)
      watch.ended(atMs)
    }
  }

  private endpoint(id: string): VirtualEndpoint {
    const endpoint = this.byId.get(id)
    if (endpoint === undefined) throw new RangeError(`there is no endpoint \`${id}\``)
    return endpoint
  }
}

const workOf = (id: number, { keys, promptTokens, outputTokens }: VirtualRequest, kind: 'plain' | 'prefill' | 'decode'): Parameters<VirtualEndpoint['submit']>[0] => ({
  id, keys, promptTokens,
  outputTokens: kind === 'prefill' ? 1 : outputTokens,
  remotePrefill: kind === 'decode',
  media: [],
  remoteMedia: false,
})
