import {
  fromProducer, IN_FLIGHT_LOAD, PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT, UNCACHED_REQUEST_TOKENS,
  type DataKey, type InFlightLoad, type PrefixCacheMatchInfo, type Reader, type UncachedRequestTokens, type Writer,
} from '../../../core/attribute.ts'
import type {
  Consumption, EndpointEvents, PeerLoadReport, PeerLoads, PluginType, PreRequest, Producer, ResponseBody, Services, TypedName,
} from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { LoadLedger, type Assignment } from '../../../core/load-ledger.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { Request, ResponseStep, SchedulingResult } from '../../../core/request.ts'
import { LoadGauges, type Flow } from './load-gauges.ts'
import { decodeLoadMemory, departed, encodeLoadMemory, type RememberedRequest } from './load-memory.ts'
import { loadView, type LoadView } from './load-view.ts'
import { PeerLedger } from './peer-ledger.ts'
import { inFlightLoadSettingsOf, type InFlightLoadSettings } from './settings.ts'
import { TokenEstimator, uncachedInput } from './token-estimator.ts'

const TYPE = 'inflight-load-producer'
// The literal name, whatever the handler calls its stages. (llm-d does the same)
const PREFILL_PROFILE = 'prefill'

/**
 * Knows what is in flight: requests and tokens per endpoint, as a fold over what was assigned and not released, and what
 * the request in hand would add. Requests are told apart by their key, never by the client's id. (llm-d: inflight-load-producer)
 */
export class InFlightLoadProducer implements Producer, PreRequest, ResponseBody, EndpointEvents, PeerLoads {
  readonly typedName: TypedName
  readonly settings: InFlightLoadSettings
  readonly estimator: TokenEstimator
  readonly ledger: LoadLedger = new LoadLedger()
  private readonly peers = new PeerLedger()
  private readonly gauges: LoadGauges
  /** Endpoints that had load in their present life, by id. */
  private readonly seen = new Map<string, Endpoint>()
  private readonly flows = new Map<number, Flow>()
  private services: Services | undefined = undefined
  private prefixInfo: Reader<PrefixCacheMatchInfo> | undefined = undefined
  private uncached: Writer<UncachedRequestTokens> | undefined = undefined

  constructor(name: string, settings: InFlightLoadSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    this.estimator = new TokenEstimator(settings.outputRatio, settings.maxEstimatedOutputTokens)
    this.gauges = new LoadGauges(name)
  }

  consumes(): Consumption {
    return { required: [TOKENIZED_PROMPT], optional: [this.prefixKey()] }
  }

  produces(): readonly DataKey<unknown>[] {
    return [fromProducer(IN_FLIGHT_LOAD, this.typedName.name), fromProducer(UNCACHED_REQUEST_TOKENS, this.typedName.name)]
  }

  setup(services: Services): void {
    this.services = services
    this.prefixInfo = services.reader(this.prefixKey())
    this.uncached = services.writer(fromProducer(UNCACHED_REQUEST_TOKENS, this.typedName.name))
    services.writer(fromProducer(IN_FLIGHT_LOAD, this.typedName.name)).provide((endpoint) => this.total(endpoint))
  }

  /** Writes what the request would add to each candidate. The load itself needs no writing: it is read from the ledger. */
  produce(request: Request | undefined, candidates: readonly (Endpoint | undefined)[]): void {
    if (request === undefined) return
    const { uncached } = this
    if (uncached === undefined) throw notSetUp()
    const input = this.estimator.estimateInput(request)
    const output = this.outputOf(request, input)
    // Endpoints that match alike share their match, and so what the request would cost them.
    let seen: PrefixCacheMatchInfo | undefined = undefined
    let cost: UncachedRequestTokens = { tokens: uncachedInput(undefined, input) + output }
    for (const endpoint of candidates) {
      if (endpoint === undefined) continue
      const info = this.prefixInfo?.get(endpoint)
      if (info !== seen) {
        seen = info
        cost = { tokens: uncachedInput(info, input) + output }
      }
      uncached.put(endpoint, cost)
    }
  }

  endpointAdded(endpoint: Endpoint): void {
    const known = this.seen.get(endpoint.id)
    if (known !== undefined && known.life !== endpoint.life) this.seen.delete(endpoint.id)
  }

  /** Load of the life that ends is no longer shown; its requests are released on their own, and only there. */
  endpointRemoved(endpoint: Endpoint): void {
    if (this.seen.get(endpoint.id)?.life === endpoint.life) this.seen.delete(endpoint.id)
  }

  /** Counts the request on the first endpoint of each profile. */
  preRequest(request: Request | undefined, result: SchedulingResult | undefined): void {
    if (request === undefined || result === undefined) return
    const input = this.estimator.estimateInput(request)
    const output = this.outputOf(request, input)
    const flow = this.gauges.flow(request.fairnessId, request.priority)
    for (const [profile, { endpoints }] of result.results) {
      const endpoint = endpoints[0]
      if (endpoint === undefined) continue
      const promptTokens = uncachedInput(this.prefixInfo?.get(endpoint), input)
      this.assign(request.key, flow, { profile, endpoint, promptTokens, outputTokens: output })
    }
  }

  responseBody(request: Request | undefined, step: ResponseStep | undefined): void {
    if (request === undefined || step === undefined) return
    if (step.startOfStream && !step.endOfStream) this.releaseAtStart(request.key)
    if (step.endOfStream) this.releaseAll(request.key)
  }

  /** What peers have in flight counts in the attribute that consumers read, and in nothing else here. */
  peerLoad(report: PeerLoadReport): void {
    if (this.settings.syncCrossReplicaState) this.peers.take(report)
  }

  peerGone(replica: string): void {
    this.peers.forget(replica)
  }

  /** Requests in flight on the endpoint of this id; 0 when it is not known. (llm-d: GetRequests) */
  requestsOn(endpointId: string): number {
    const endpoint = this.seen.get(endpointId)
    return endpoint === undefined ? 0 : this.ledger.load(endpoint).requests
  }

  /** Tokens in flight on the endpoint of this id; 0 when it is not known. (llm-d: GetTokens) */
  tokensOn(endpointId: string): number {
    const endpoint = this.seen.get(endpointId)
    return endpoint === undefined ? 0 : this.ledger.load(endpoint).tokens
  }

  dump(): LoadView {
    return loadView([...this.seen.values()].map((endpoint) => ({ endpoint: endpoint.id, ...plain(this.ledger.load(endpoint)) })))
  }

  save(): Uint8Array {
    const seen = [...this.seen.values()].map((endpoint) => [endpoint.id, endpoint.life] as const).sort((a, b) => byCodeUnit(a[0], b[0]))
    return encodeLoadMemory({ seen, requests: this.ledger.requests().map((key) => this.remember(key)), peers: this.peers.remember() })
  }

  load(state: Uint8Array, endpoints: readonly Endpoint[]): void {
    const memory = decodeLoadMemory(state)
    const byLife = new Map(endpoints.map((endpoint) => [endpoint.life, endpoint]))
    const find = (id: string, life: number): Endpoint => {
      const endpoint = byLife.get(life) ?? departed(id, life)
      byLife.set(life, endpoint)
      return endpoint
    }
    for (const request of memory.requests) {
      const flow = this.gauges.flow(request.fairnessId, request.priority)
      for (const { profile, endpoint, life, promptTokens, outputTokens, promptHeld } of request.held) {
        this.assign(request.key, flow, { profile, endpoint: find(endpoint, life), promptTokens, outputTokens })
        if (!promptHeld) this.forgetPrompt(request.key, profile)
      }
    }
    this.seen.clear()
    for (const [id, life] of memory.seen) this.seen.set(id, find(id, life))
    for (const [replica, assigned] of memory.peers) this.peers.restore(replica, assigned)
  }

  private total(endpoint: Endpoint): InFlightLoad {
    const own = this.ledger.load(endpoint)
    const peers = this.peers.load(endpoint)
    return peers === undefined ? own : { requests: own.requests + peers.requests, tokens: own.tokens + peers.tokens }
  }

  private prefixKey(): DataKey<PrefixCacheMatchInfo> {
    return fromProducer(PREFIX_CACHE_MATCH_INFO, this.settings.prefixMatchInfoProducerName)
  }

  private outputOf(request: Request, input: number): number {
    return this.settings.addEstimatedOutputTokens ? this.estimator.estimateOutput(input, request.maxOutputTokens) : 0
  }

  private releaseAtStart(key: number): void {
    const { release, addEstimatedOutputTokens } = this.settings
    const promptGoes = release === 'documented' || !addEstimatedOutputTokens
    const prefillGoes = release === 'llm-d'
    for (const held of this.ledger.assignmentsOf(key)) {
      if (prefillGoes && held.profile === PREFILL_PROFILE) this.show(key, held.endpoint, -1, -this.tokensHeld(held))
      else if (promptGoes && this.ledger.holdsPrompt(held)) this.show(key, held.endpoint, 0, -held.promptTokens)
    }
    if (prefillGoes) this.ledger.releaseProfile(key, PREFILL_PROFILE)
    if (promptGoes) this.ledger.releasePrompt(key)
  }

  private forgetPrompt(key: number, profile: string): void {
    for (const held of this.ledger.assignmentsOf(key)) {
      if (held.profile === profile && this.ledger.holdsPrompt(held)) this.show(key, held.endpoint, 0, -held.promptTokens)
    }
    this.ledger.releasePrompt(key, profile)
  }

  private releaseAll(key: number): void {
    if (!this.flows.has(key)) {
      // Worth seeing, though nothing can go below 0: some end came twice, or without a beginning.
      this.services?.observe({ kind: 'counter', name: 'inflight_unmatched_releases_total', labels: { producer_name: this.typedName.name }, value: 1 })
      return
    }
    for (const held of this.ledger.assignmentsOf(key)) this.show(key, held.endpoint, -1, -this.tokensHeld(held))
    this.ledger.release(key)
    this.flows.delete(key)
  }

  private assign(key: number, flow: Flow, assignment: Assignment): void {
    const { profile, endpoint } = assignment
    const again = this.ledger.assignmentsOf(key).find((held) => held.profile === profile && held.endpoint.id === endpoint.id)
    if (again !== undefined) this.show(key, again.endpoint, -1, -this.tokensHeld(again))
    this.flows.set(key, flow)
    this.seen.set(endpoint.id, endpoint)
    this.ledger.assign(key, assignment)
    this.show(key, endpoint, 1, assignment.promptTokens + assignment.outputTokens)
  }

  private tokensHeld(held: Assignment): number {
    return held.outputTokens + (this.ledger.holdsPrompt(held) ? held.promptTokens : 0)
  }

  /** Moves the gauges of the request's flow on an endpoint. */
  private show(key: number, endpoint: Endpoint, requests: number, tokens: number): void {
    if (this.services === undefined) throw notSetUp()
    const flow = this.flows.get(key)
    if (flow !== undefined) this.gauges.add(this.services, endpoint.id, flow, requests, tokens)
  }

  private remember(key: number): RememberedRequest {
    const { fairnessId, priority } = this.flows.get(key) ?? { fairnessId: '', priority: 0 }
    const held = this.ledger.assignmentsOf(key).map((assignment) => ({
      profile: assignment.profile,
      endpoint: assignment.endpoint.id,
      life: assignment.endpoint.life,
      promptTokens: assignment.promptTokens,
      outputTokens: assignment.outputTokens,
      promptHeld: this.ledger.holdsPrompt(assignment),
    }))
    held.sort((a, b) => byCodeUnit(a.profile, b.profile) || byCodeUnit(a.endpoint, b.endpoint) || a.life - b.life)
    return { key, fairnessId, priority, held }
  }
}

const plain = (load: { readonly requests: number; readonly tokens: number }): { requests: number; tokens: number } => ({
  requests: load.requests,
  tokens: load.tokens,
})

const notSetUp = (): Error => new Error(`${TYPE}: handle is nil, and an inflight load metrics registerer is required: setup() was not called`)

export const inflightLoadProducer: PluginType = {
  type: TYPE,
  kinds: ['producer', 'pre-request', 'response-body'],
  stability: 'beta',
  create: (context) => new InFlightLoadProducer(context.name, inFlightLoadSettingsOf(context)),
}
