import { Endpoint } from '../core/endpoint.ts'
import type { Metrics } from '../core/endpoint.ts'
import type { Denial } from '../core/contract.ts'
import { byCodeUnit } from '../core/order.ts'
import type { ProfileResult } from '../core/request.ts'
import type { EndpointInfo, EndpointMetrics, ModelCount } from '../wire/endpoint.ts'
import type { EndpointState, EngineState, RequestState } from '../wire/state.ts'
import { emptyRequestReceived } from '../wire/request.ts'
import type { EngineContext } from './context.ts'
import { EndpointActor } from './endpoint-actor.ts'
import { callHook, stageOf } from './hooks.ts'
import { LiveRequest } from './live-request.ts'
import { tellAdded } from './membership.ts'
import type { Timer, TimerOwner } from './timers.ts'

/** The fold of all inputs so far, as a message. Equal folds give equal messages, however they came about. */
export const saveState = (context: EngineContext): EngineState => ({
  position: context.position,
  atUs: context.at,
  started: context.started,
  startedAtPosition: context.startedAtPosition,
  endpoints: context.fleet.actors().map((actor) => saveEndpoint(context, actor)),
  requests: [...context.requests.values()].sort((a, b) => a.key - b.key).map((request) => saveRequest(context, request)),
  timers: context.timers.all().map(({ deadline, owner, key, name }) => ({ deadlineUs: deadline, owner, key, timer: name })),
  plugins: saveMemories(context),
  lives: context.fleet.lives,
})

/** What the plugins remember, by name. One that fails to say begins anew where the state is used: here and in every replay. */
export const saveMemories = (context: EngineContext): { plugin: string; state: Uint8Array }[] =>
  context.pipeline.plugins
    .flatMap((plugin) => {
      const state = callHook(context, plugin, 'Save', () => plugin.save?.(), undefined)
      return state === undefined ? [] : [{ plugin: plugin.typedName.name, state }]
    })
    .sort((a, b) => byCodeUnit(a.plugin, b.plugin))

/** Gives each plugin what one of the same name remembered. */
export const loadMemories = (context: EngineContext, memories: readonly { readonly plugin: string; readonly state: Uint8Array }[]): void => {
  const endpoints = knownEndpoints(context)
  for (const plugin of context.pipeline.plugins) {
    const memory = memories.find((each) => each.plugin === plugin.typedName.name)
    if (memory !== undefined) callHook(context, plugin, 'Load', () => plugin.load?.(memory.state, endpoints), undefined)
  }
}

/** Puts an engine, fresh from its pipeline's assembly, into a saved state. */
export const loadState = (context: EngineContext, state: EngineState): void => {
  context.position = state.position
  context.at = state.atUs
  context.started = state.started
  context.startedAtPosition = state.startedAtPosition
  context.fleet.lives = state.lives
  for (const endpoint of state.endpoints) loadEndpoint(context, endpoint)
  for (const request of state.requests) loadRequest(context, request)
  for (const { deadlineUs, owner, key, timer } of state.timers) {
    const pending = context.timers.schedule(deadlineUs, owner as TimerOwner, key, timer)
    attach(context, pending)
  }
  for (const endpoint of knownEndpoints(context)) tellAdded(context, endpoint)
  loadMemories(context, state.plugins)
}

const attach = (context: EngineContext, timer: Timer): void => {
  if (timer.owner === 'engine') context.sweep = timer
  const owner = timer.owner === 'request' ? context.requests.get(timer.key) : timer.owner === 'endpoint' ? context.fleet.ofLife(timer.key) : undefined
  if (owner !== undefined) owner.timer = timer
}

/** Present endpoints and those that are gone but still hold requests. */
const knownEndpoints = (context: EngineContext): readonly Endpoint[] => context.fleet.present()

const saveEndpoint = (context: EngineContext, actor: EndpointActor): EndpointState => {
  const { endpoint } = actor
  return {
    endpoint: infoOf(endpoint),
    slot: endpoint.slot,
    machine: context.endpointMachine.states[actor.state] ?? '',
    metrics: saveMetrics(endpoint),
    heardAtUs: endpoint.heardAt,
    strikes: actor.strikes,
    backoffs: actor.backoffs,
    joinedAtUs: actor.joinedAt,
    life: endpoint.life,
  }
}

const loadEndpoint = (context: EngineContext, saved: EndpointState): void => {
  const info = saved.endpoint
  if (info === undefined) return
  const endpoint = new Endpoint(
    { id: info.id, address: info.address, port: info.port, labels: mapOf(info.labels), annotations: mapOf(info.annotations), incarnation: info.incarnation, metricsHostPort: info.metricsHostPort },
    saved.slot,
    saved.life,
  )
  loadMetrics(endpoint, saved.metrics)
  endpoint.heardAt = saved.heardAtUs
  const actor = new EndpointActor(endpoint)
  actor.joinedAt = saved.joinedAtUs
  actor.strikes = saved.strikes
  actor.backoffs = saved.backoffs
  context.endpointMachine.restore(actor, saved.machine)
  const states = saved.machine.split('|')
  actor.ready = states.includes('presence.ready')
  actor.unreachable = states.includes('reachability.unreachable')
  actor.fresh = states.includes('freshness.fresh')
  actor.load = states.includes('load.saturated') ? 'saturated' : states.includes('load.busy') ? 'busy' : 'idle'
  context.fleet.put(actor)
}

const infoOf = (endpoint: Endpoint): EndpointInfo => ({
  id: endpoint.id,
  address: endpoint.address,
  port: endpoint.port,
  labels: listOf(endpoint.labels),
  annotations: listOf(endpoint.annotations),
  incarnation: endpoint.incarnation,
  metricsHostPort: endpoint.metricsHostPort,
})

const saveMetrics = (metrics: Metrics): EndpointMetrics => ({
  waitingQueueSize: metrics.waitingQueueSize,
  runningRequestsSize: metrics.runningRequestsSize,
  kvCacheUsage: metrics.kvCacheUsage,
  cacheBlockSize: metrics.cacheBlockSize,
  cacheNumBlocks: metrics.cacheNumBlocks,
  maxActiveModels: metrics.maxActiveModels,
  activeModels: countsOf(metrics.activeModels),
  waitingModels: countsOf(metrics.waitingModels),
  modelsReported: true,
  custom: [...metrics.custom].sort(([a], [b]) => byCodeUnit(a, b)).map(([name, value]) => ({ name, value })),
})

const loadMetrics = (endpoint: Endpoint, saved: EndpointMetrics | undefined): void => {
  if (saved === undefined) return
  endpoint.waitingQueueSize = saved.waitingQueueSize ?? 0
  endpoint.runningRequestsSize = saved.runningRequestsSize ?? 0
  endpoint.kvCacheUsage = saved.kvCacheUsage ?? 0
  endpoint.cacheBlockSize = saved.cacheBlockSize ?? 0
  endpoint.cacheNumBlocks = saved.cacheNumBlocks ?? 0
  endpoint.maxActiveModels = saved.maxActiveModels ?? 0
  endpoint.activeModels = new Map(saved.activeModels.map(({ model, count }) => [model, count]))
  endpoint.waitingModels = new Map(saved.waitingModels.map(({ model, count }) => [model, count]))
  endpoint.custom = new Map(saved.custom.map(({ name, value }) => [name, value]))
}

const saveRequest = (context: EngineContext, request: LiveRequest): RequestState => ({
  key: request.key,
  received: request.arrival,
  receivedAtUs: request.receivedAt,
  machine: context.requestMachine.states[request.state] ?? '',
  attempt: request.attempt,
  excluded: [...request.excluded],
  assignments: context.ledger.assignmentsOf(request.key).map((held) => ({
    profile: held.profile,
    stage: stageOf(context, held.profile),
    endpoint: held.endpoint.id,
    life: held.endpoint.life,
    promptTokens: held.promptTokens,
    outputTokens: held.outputTokens,
  })),
  primaryProfile: request.result?.primary ?? '',
  started: request.firstTold,
  awaiting: [...request.awaiting],
  lastFailure: request.lastFailure === undefined ? undefined : { ...request.lastFailure },
})

const loadRequest = (context: EngineContext, saved: RequestState): void => {
  const request = new LiveRequest(saved.key, saved.receivedAtUs, saved.received ?? emptyRequestReceived(), saved.received?.priority ?? 0)
  request.attempt = saved.attempt
  request.excluded = saved.excluded
  request.awaiting = saved.awaiting
  request.started = saved.started
  request.firstTold = saved.started
  request.lastFailure = saved.lastFailure satisfies Denial | undefined
  context.requestMachine.restore(request, saved.machine)
  const results = new Map<string, ProfileResult>()
  for (const { profile, endpoint, life } of saved.assignments) results.set(profile, { endpoints: [ofLife(context, endpoint, life)] })
  context.requests.set(request.key, request)
  if (saved.primaryProfile === '') return
  request.result = { primary: saved.primaryProfile, results }
  request.settle()
  context.ledger.hold(request, saved.assignments[0]?.promptTokens ?? 0)
}

/** The endpoint of that life; where it has left, a stand-in that only bears its names. */
const ofLife = (context: EngineContext, id: string, life: number): Endpoint =>
  context.fleet.ofLife(life)?.endpoint ??
  new Endpoint({ id, address: '', port: 0, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '' }, 0, life)

const listOf = (map: ReadonlyMap<string, string>): { name: string; value: string }[] => [...map].map(([name, value]) => ({ name, value }))
const mapOf = (list: readonly { readonly name: string; readonly value: string }[]): ReadonlyMap<string, string> => new Map(list.map(({ name, value }) => [name, value]))
const countsOf = (map: ReadonlyMap<string, number>): ModelCount[] => [...map].map(([model, count]) => ({ model, count }))
