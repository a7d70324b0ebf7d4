import type { Denial } from '../core/contract.ts'
import type { Stage } from '../core/request.ts'
import type { FailureCause, Input, RequestAttemptFailed, StageEnded } from '../wire/input.ts'
import type { RequestReceived } from '../wire/request.ts'
import type { EngineContext } from './context.ts'
import { callHook } from './hooks.ts'
import { takeKvBlocks } from './kv-blocks.ts'
import { LiveRequest } from './live-request.ts'
import { drain, join, leave, sweep, SWEEP, update } from './membership.ts'
import type { RequestEvent } from './request-event.ts'
import { takeTelemetry } from './telemetry.ts'
import type { Timer } from './timers.ts'

type Content = NonNullable<Input['input']>

/** Takes one input that is not the start of the engine. Reports on requests or endpoints that are gone change nothing. */
export const takeInput = (context: EngineContext, input: Content): void => {
  switch (input.kind) {
    case 'endpointJoined':
    case 'endpointUpdated':
    case 'endpointDraining':
    case 'endpointLeft':
      takeMembership(context, input)
      return
    case 'telemetryTick':
      takeTelemetry(context, input.value)
      return
    case 'requestReceived':
      receive(context, input.value)
      return
    case 'timerFired':
      fireDue(context)
      return
    default:
      takeReport(context, input)
  }
}

const takeMembership = (context: EngineContext, input: Content): void => {
  if (input.kind === 'endpointJoined' && input.value.endpoint !== undefined) join(context, input.value.endpoint)
  if (input.kind === 'endpointUpdated' && input.value.endpoint !== undefined) {
    const actor = context.fleet.get(input.value.endpoint.id)
    if (actor !== undefined && actor.endpoint.incarnation === input.value.endpoint.incarnation) update(context, actor, input.value.endpoint)
    else join(context, input.value.endpoint)
  }
  if (input.kind === 'endpointDraining') {
    const actor = context.fleet.get(input.value.endpoint)
    if (actor !== undefined) drain(context, actor)
  }
  if (input.kind === 'endpointLeft') {
    const actor = context.fleet.get(input.value.endpoint)
    const { incarnation } = input.value
    if (actor !== undefined && (incarnation === '' || incarnation === actor.endpoint.incarnation)) leave(context, actor)
  }
}

const receive = (context: EngineContext, arrival: RequestReceived): void => {
  const priority = context.settings.objectives.find(({ name }) => name === arrival.objective)?.priority ?? arrival.priority
  const request = new LiveRequest(context.position, context.at, arrival, priority)
  context.requests.set(request.key, request)
  context.requestMachine.start(request)
  send(context, request, { type: 'receive' })
}

/** What a data plane or a producer says of a request. */
const takeReport = (context: EngineContext, input: Content): void => {
  switch (input.kind) {
    case 'attributesReported': {
      const { request, producer, shape, error } = input.value
      sendTo(context, request, undefined, { type: 'produced', producer, shape, error })
      return
    }
    case 'requestSent':
      sendTo(context, input.value.request, input.value.attempt, { type: 'sent' })
      return
    case 'stageEnded':
      endStage(context, input.value)
      return
    case 'responseStarted':
      strike(context, input.value.request, input.value.attempt, input.value.status)
      sendTo(context, input.value.request, input.value.attempt, { type: 'started', status: input.value.status })
      return
    case 'requestProgressed':
      sendTo(context, input.value.request, undefined, { type: 'progressed' })
      return
    case 'responseEnded': {
      const { request, attempt, cause, usage, status } = input.value
      if (context.requests.get(request)?.firstTold === false) strike(context, request, attempt, status)
      sendTo(context, request, attempt, { type: 'ended', cause, usage, status })
      return
    }
    case 'requestAttemptFailed':
      failAttempt(context, input.value)
      return
    case 'requestAborted':
      sendTo(context, input.value.request, undefined, { type: 'abort', cause: input.value.cause })
      return
    case 'peerLoadReported':
      for (const plugin of context.pipeline.peerLoads) callHook(context, plugin, 'PeerLoads', () => plugin.peerLoad(input.value), undefined)
      return
    case 'replicaLeaseEnded':
      for (const plugin of context.pipeline.peerLoads) callHook(context, plugin, 'PeerLoads', () => plugin.peerGone(input.value.replica), undefined)
      return
    case 'kvBlocksStored':
    case 'kvBlocksRemoved':
    case 'kvBlocksCleared':
      takeKvBlocks(context, input)
      return
    default:
  }
}

/** A stage of a request that goes on; of one that is over there is nothing left to end. */
const endStage = (context: EngineContext, { request: key, attempt, stage }: StageEnded): void => {
  const request = context.requests.get(key)
  if (request === undefined || request.attempt !== attempt || !isStage(stage)) return
  for (const plugin of context.pipeline.stageEvents) callHook(context, plugin, 'StageEnded', () => plugin.stageEnded(request, stage), undefined)
}

const isStage = (name: string): name is Stage => name === 'decode' || name === 'encode' || name === 'prefill'

const failAttempt = (context: EngineContext, failure: RequestAttemptFailed): void => {
  const request = context.requests.get(failure.request)
  if (request === undefined || request.attempt !== failure.attempt) return
  const actor = context.fleet.get(failure.endpoint)
  if (actor !== undefined) context.endpointMachine.send(actor, { type: 'attemptFailed' })
  send(context, request, { type: 'attemptFailed', endpoint: failure.endpoint, denial: failureDenial(failure), retryable: failure.retryable })
}

/** A 5xx counts against the endpoint that answered, anything else for it. */
const strike = (context: EngineContext, key: number, attempt: number, status: number): void => {
  const request = context.requests.get(key)
  const result = request?.attempt === attempt ? request.result : undefined
  const endpoint = result?.results.get(result.primary)?.endpoints[0]
  const actor = endpoint === undefined ? undefined : context.fleet.ofLife(endpoint.life)
  if (actor !== undefined) context.endpointMachine.send(actor, { type: status >= 500 ? 'attemptFailed' : 'attemptSucceeded' })
}

const CAUSE_TEXT: Readonly<Record<FailureCause, string>> = {
  unspecified: 'failed',
  connect: 'could not be reached',
  reset: 'closed the connection',
  unavailable: 'answered 503',
  timeout: 'gave no answer in time',
  malformed: 'gave an answer that is not HTTP',
  truncated: 'ended in the middle of an answer',
}

const failureDenial = ({ cause, endpoint }: RequestAttemptFailed): Denial => {
  const message = `endpoint ${endpoint} ${CAUSE_TEXT[cause]}`
  if (cause === 'timeout') return { status: 504, code: 'DeadlineExceeded', reason: '', message }
  if (cause === 'unavailable') return { status: 503, code: 'ServiceUnavailable', reason: '', message }
  return { status: 502, code: 'BadGateway', reason: '', message }
}

const sendTo = (context: EngineContext, key: number, attempt: number | undefined, event: RequestEvent): void => {
  const request = context.requests.get(key)
  // A report on an earlier attempt is late: it says nothing of this one.
  if (request !== undefined && (attempt === undefined || attempt === request.attempt)) send(context, request, event)
}

/** Sends an event and forgets the actor when its machine is over. */
export const send = (context: EngineContext, request: LiveRequest, event: RequestEvent): void => {
  context.requestMachine.send(request, event)
  if (context.requestMachine.isFinal(request)) context.requestMachine.release(request)
}

/** Fires every timer that is due, by (deadline, key). */
const fireDue = (context: EngineContext): void => {
  for (let timer = context.timers.takeDue(context.at); timer !== undefined; timer = context.timers.takeDue(context.at)) fire(context, timer)
}

const fire = (context: EngineContext, timer: Timer): void => {
  if (timer.owner === 'engine') {
    if (timer.name === SWEEP) sweep(context)
    return
  }
  if (timer.owner === 'request') {
    const request = context.requests.get(timer.key)
    if (request === undefined) return
    request.timer = undefined
    context.requestMachine.fire(request, indexOf(context.requestMachine.timers, timer.name))
    if (context.requestMachine.isFinal(request)) context.requestMachine.release(request)
    return
  }
  const actor = context.fleet.ofLife(timer.key)
  if (actor === undefined) return
  actor.timer = undefined
  context.endpointMachine.fire(actor, 0)
}

const indexOf = (timers: readonly { readonly name: string }[], name: string): number => timers.findIndex((timer) => timer.name === name)
