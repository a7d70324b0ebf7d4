import {
  automaticProfile, commonEngine, decodePolicies, describeRolesets, engineOf, hashesOf, isAutomatic, labelExpression, ModelConfigs, prefillPolicies, roleOf, routingBlocksKind, ROUTING_BYTES, ROUTING_TOKENS, RoutingError,
  SELECTION_FAILED, selectPair, UNMEASURED, type ModelProfile, type PodMetrics, type RouterPolicies, type RoutingContext, type Selection,
} from '../../../aibrix/index.ts'
import { keyText, TOKENIZED_PROMPT, type DataKey, type Reader } from '../../../core/attribute.ts'
import type {
  Consumption, EndpointEvents, PluginType, PreRequest, ProfileHandler, ResponseBody, ResponseHeader, Services, StageEvents, TypedName,
} from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { JointChoice } from '../../../core/joint-choice.ts'
import { byId } from '../../../core/order.ts'
import type { ProfileResult, ProfileResults, Request, ResponseStep, SchedulingResult, Stage } from '../../../core/request.ts'
import type { WantedKeys } from '../../../core/shape.ts'
import { AIBRIX_METRICS } from '../../producer/aibrix-metrics-producer/index.ts'
import { jointChoiceOf } from './joint-choice.ts'
import { nameOf, RouterMeasures } from './measures.ts'
import { refusalOf } from './refusal.ts'
import { RouterState } from './router-state.ts'
import { aibrixPdSettingsOf, type AibrixPdSettings } from './settings.ts'

export { positiveInteger } from '../../../aibrix/index.ts'
export { environmentParameters } from './environment-parameters.ts'
export { aibrixPdSettingsOf, type AibrixPdSettings } from './settings.ts'

const AIBRIX_PD_TYPE = 'aibrix-pd-profile-handler'
const CONFIG_PROFILE = 'config-profile'
const EXTERNAL_FILTER = 'external-filter'
const PREFILL_HEADER = 'x-prefiller-host-port'

/** What was chosen for the request in hand, between the choice and its assignment. */
const SELECTION: DataKey<Chosen> = { dataType: 'aibrix-selection', producer: AIBRIX_PD_TYPE }

interface Chosen {
  readonly selection: Selection<Endpoint>
  /** The configuration profile that `auto` became; empty where the client did not ask for it. */
  readonly automatic: string
}

/**
 * Chooses prefill and decode together, within a roleset, and counts what is on its way on either side.
 * (AIBrix: pd router)
 */
export class AibrixPdProfileHandler implements ProfileHandler, PreRequest, ResponseBody, ResponseHeader, StageEvents, EndpointEvents {
  readonly typedName: TypedName
  readonly settings: AibrixPdSettings
  readonly state: RouterState
  private readonly measures: RouterMeasures
  private readonly configs = new ModelConfigs()
  private readonly policies: RouterPolicies
  private services: Services | undefined = undefined
  private metrics: Reader<PodMetrics> | undefined = undefined

  constructor(name: string, settings: AibrixPdSettings) {
    this.typedName = { type: AIBRIX_PD_TYPE, name }
    this.settings = settings
    this.state = new RouterState(settings)
    this.measures = new RouterMeasures(settings.gatewayPod, settings.firstTokenThresholdSeconds)
    const parts = { table: this.state.table, metricsOf: (pod: { readonly id: string }) => this.metricsOf(pod as Endpoint) }
    this.policies = {
      prefill: prefillPolicies.resolve(settings.prefillScorePolicy, parts).policy,
      decode: decodePolicies.resolve(settings.decodeScorePolicy, settings.weights).policy,
      prefillPolicies, decodePolicies, parts,
    }
  }

  /** The policies of requests whose model names none of its own. */
  get policiesInForce(): Pick<RouterPolicies, 'prefill' | 'decode'> {
    return this.policies
  }

  consumes(): Consumption {
    return { required: [TOKENIZED_PROMPT, AIBRIX_METRICS] }
  }

  setup(services: Services): void {
    this.services = services
    this.metrics = services.reader(AIBRIX_METRICS)
  }

  receives(): readonly string[] {
    return [CONFIG_PROFILE, EXTERNAL_FILTER]
  }

  /** Hashes of the routing text, and its length in tokens where lengths matter. */
  wants(): readonly WantedKeys[] {
    const { tokenizer, hashSeed, blockBytes, bucketing } = this.settings
    const blocks = { kind: routingBlocksKind(tokenizer, hashSeed), blockTokens: blockBytes, maxBlocks: undefined }
    return bucketing ? [blocks, { kind: ROUTING_TOKENS, blockTokens: 1, maxBlocks: undefined }] : [blocks]
  }

  choose(request: Request, offered: (profile: string) => readonly Endpoint[]): JointChoice {
    const services = this.needed()
    const { profiles } = this.settings
    this.state.table.sweepAt(services.now())
    const all = union(offered(profiles.decode), offered(profiles.prefill))
    try {
      const pods = filtered(request, all)
      const asked = this.profileAsked(request, pods)
      commonEngine(pods)
      const selection = selectPair({
        context: this.contextOf(request),
        pods,
        settings: this.settings,
        configs: this.configs,
        profile: asked.name,
        routing: asked.profile?.routing,
        promptTokens: lengthOf(request, ROUTING_TOKENS),
        metricsOf: (endpoint) => this.metricsOf(endpoint),
        prefillCounts: new Map(pods.map((endpoint) => [endpoint.id, this.state.prefills.getPrefillRequestCountForPod(lifeOf(endpoint))])),
        pendingOn: (endpoint) => this.state.pending.getPendingDecodeCount(lifeOf(endpoint)),
        policies: this.policies,
        die: services.die(),
      })
      request.attributes.set(keyText(SELECTION), { selection, automatic: asked.automatic } satisfies Chosen)
      return jointChoiceOf(selection, profiles, (endpoint) => this.metricsOf(endpoint), asked.profile?.routing.prefillScorePolicy.trim() ?? '')
    } catch (error) {
      if (error instanceof RoutingError) this.measures.failed(services.observe, request, SELECTION_FAILED)
      throw refusalOf(error, all)
    }
  }

  pick(request: Request, _profiles: readonly string[], results: ProfileResults): readonly string[] {
    const { decode, prefill } = this.settings.profiles
    const chosen = chosenFor(request)
    if (chosen === undefined || results.has(decode)) return []
    return chosen.selection.prefill === undefined ? [decode] : [decode, prefill]
  }

  stageOf(profile: string): Stage {
    return profile === this.settings.profiles.prefill ? 'prefill' : 'decode'
  }

  processResults(_request: Request, results: ProfileResults): SchedulingResult {
    const kept = new Map<string, ProfileResult>()
    for (const [profile, result] of results) if (result !== null) kept.set(profile, result)
    return { primary: this.settings.profiles.decode, results: kept }
  }

  decisionType(result: SchedulingResult): string {
    return result.results.has(this.settings.profiles.prefill) ? 'prefill-decode' : 'decode-only'
  }

  /** From here the pair counts as chosen: both trackers, the prefix table, the headers. */
  preRequest(request: Request, result: SchedulingResult): void {
    const services = this.needed()
    const { profiles } = this.settings
    const decode = result.results.get(profiles.decode)?.endpoints[0]
    const prefill = result.results.get(profiles.prefill)?.endpoints[0]
    if (decode === undefined) return
    this.state.pending.addPendingDecode(request.key, lifeOf(decode))
    request.headers.set('routing-strategy', 'pd')
    request.headers.set('target-pod', decode.hostPort)
    // A front door that runs the prefill itself takes this away again; a data plane that only asked needs it.
    request.headers.set(PREFILL_HEADER, prefill?.hostPort ?? '')
    this.state.phases.begin(request.key, prefill === undefined ? undefined : services.now())
    if (prefill === undefined) return
    this.state.prefills.addPrefillRequest(request.key, lifeOf(prefill))
    const hashes = chosenFor(request)?.selection.hashes ?? []
    if (hashes.length > 0) this.state.table.addPrefix(hashes, request.targetModel, prefill.id, services.now())
    this.measures.selected(services.observe, request, decode, prefill)
  }

  responseHeaders(request: Request, result: SchedulingResult): ReadonlyMap<string, string> {
    const { profiles } = this.settings
    const decode = result.results.get(profiles.decode)?.endpoints[0]
    const prefill = result.results.get(profiles.prefill)?.endpoints[0]
    const headers = new Map<string, string>()
    if (prefill !== undefined) headers.set('prefill-target-pod', nameOf(prefill)).set('prefill-target-pod-ip', prefill.address)
    if (decode !== undefined) headers.set('target-pod', nameOf(decode)).set('target-pod-ip', decode.hostPort)
    headers.set('routing-strategy', 'pd').set('request-id', request.id)
    const automatic = chosenFor(request)?.automatic ?? ''
    return automatic === '' ? headers : headers.set('x-aibrix-config-profile', automatic)
  }

  requestSent(request: Request): void {
    this.state.pending.removePendingDecode(request.key)
  }

  stageEnded(request: Request, stage: Stage): void {
    if (stage !== 'prefill') return
    this.state.prefills.removePrefillRequest(request.key)
    const prefill = request.result?.results.get(this.settings.profiles.prefill)?.endpoints[0]
    // Beside a decode that is under way the end of a prefill is the end of no phase. (AIBrix: PrefillEndTime)
    if (prefill !== undefined && engineOf(prefill) !== 'sglang') this.state.phases.prefillEnded(request.key, this.needed().now())
  }

  responseBody(request: Request, step: ResponseStep): void {
    if (step.startOfStream && !step.endOfStream) {
      // Whoever runs the prefill, behind our back too, has done so when the decode speaks.
      this.state.prefills.removePrefillRequest(request.key)
      this.state.phases.firstToken(request.key, this.needed().now())
    }
    if (!step.endOfStream) return
    this.state.release(request.key)
    const phases = this.state.phases.take(request.key)
    const decode = request.result?.results.get(this.settings.profiles.decode)?.endpoints[0]
    const { observe, now } = this.needed()
    if (step.cause === 'natural' && phases !== undefined && decode !== undefined) this.measures.ended(observe, request, decode, phases, step.usage, now())
  }

  endpointAdded(): void {}

  endpointRemoved(endpoint: Endpoint): void {
    this.state.table.forgetPod(endpoint.id)
  }

  dump(): unknown {
    const endpoints = this.services?.endpoints() ?? []
    return {
      blocks: this.state.table.size,
      ...describeRolesets(endpoints),
      endpoints: endpoints.map((endpoint) => ({
        endpoint: endpoint.id,
        prefills: this.state.prefills.getPrefillRequestCountForPod(lifeOf(endpoint)),
        pendingDecodes: this.state.pending.getPendingDecodeCount(lifeOf(endpoint)),
      })),
    }
  }

  save(): Uint8Array {
    return this.state.save()
  }

  load(state: Uint8Array): void {
    this.state.load(state)
  }

  private metricsOf(endpoint: Endpoint): PodMetrics {
    return this.metrics?.get(endpoint) ?? UNMEASURED
  }

  private contextOf(request: Request): RoutingContext {
    const { tokenizer, hashSeed, blockBytes } = this.settings
    const kind = routingBlocksKind(tokenizer, hashSeed)
    const blocks = request.shape.prompts[0]?.blocks.find((each) => each.kind === kind && each.blockTokens === blockBytes)
    return {
      requestId: request.id,
      model: request.targetModel,
      prompt: { hashes: blocks === undefined ? [] : hashesOf(blocks.keys), bytes: lengthOf(request, ROUTING_BYTES) },
    }
  }

  /** The profile that decides on the policies: of the first endpoint that has any. */
  private profileAsked(request: Request, pods: readonly Endpoint[]): { readonly name: string; readonly automatic: string; readonly profile: ModelProfile | undefined } {
    const asked = request.received.get(CONFIG_PROFILE) ?? ''
    const first = pods.find((endpoint) => this.configs.of(endpoint) !== undefined)
    if (first === undefined) return { name: asked, automatic: '', profile: undefined }
    if (!isAutomatic(asked)) return { name: asked, automatic: '', profile: this.configs.profile(first, asked) }
    const config = this.configs.of(first)
    const lengths = { promptTokens: lengthOf(request, ROUTING_TOKENS), maxTokens: request.maxOutputTokens }
    const profile = (config === undefined ? undefined : automaticProfile(config, lengths)) ?? this.configs.profile(first, '')
    return { name: profile?.name ?? '', automatic: profile?.name ?? '', profile }
  }

  private needed(): Services {
    if (this.services === undefined) throw new Error(`${AIBRIX_PD_TYPE}: setup() was not called`)
    return this.services
  }
}

/** Those that the client's own selector lets through. (AIBrix: external-filter) */
const filtered = (request: Request, pods: readonly Endpoint[]): readonly Endpoint[] => {
  const selector = request.received.get(EXTERNAL_FILTER) ?? ''
  if (selector === '') return pods
  let matches: ReturnType<typeof labelExpression>
  try {
    matches = labelExpression(selector)
  } catch (error) {
    throw new Error(`filter pods by label selector failed: ${error instanceof Error ? error.message : String(error)}`)
  }
  const left = pods.filter(({ labels }) => matches(labels))
  if (left.length === 0) throw new Error('no ready pods for routing')
  return left
}

const chosenFor = (request: Request): Chosen | undefined => request.attributes.get(keyText(SELECTION)) as Chosen | undefined

/** What is counted is counted on a life: the next one of the same name begins with nothing. */
const lifeOf = (endpoint: Endpoint): string => String(endpoint.life)

/** A length that front doors told of the first prompt; 0 where they did not. */
const lengthOf = (request: Request, kind: string): number => request.shape.prompts[0]?.blocks.find((blocks) => blocks.kind === kind)?.blockTokens ?? 0

/** All that either profile offers, by id: a prefill endpoint where the prefill profile does, any other where decode does. */
const union = (decode: readonly Endpoint[], prefill: readonly Endpoint[]): readonly Endpoint[] => {
  const isPrefill = (endpoint: Endpoint): boolean => roleOf(endpoint) === 'prefill'
  return [...decode.filter((endpoint) => !isPrefill(endpoint)), ...prefill.filter(isPrefill)].sort(byId)
}

export const aibrixPdProfileHandler: PluginType = {
  type: AIBRIX_PD_TYPE,
  kinds: ['profile-handler', 'pre-request', 'response-body'],
  stability: 'beta',
  create: ({ name, parameters }) => new AibrixPdProfileHandler(name, aibrixPdSettingsOf(parameters)),
}
