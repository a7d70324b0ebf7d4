import { tokensOf } from '../core/request.ts'
import type { EngineContext } from './context.ts'
import type { EndpointActor } from './endpoint-actor.ts'
import type { LiveRequest } from './live-request.ts'

/** Records the assignments of a routed request: the first endpoint of each profile that ran. */
export const hold = (context: EngineContext, request: LiveRequest): void => {
  context.ledger.hold(request, tokensOf(request))
  tellLoads(context, request)
}

/** Releases all that the request holds; again is harmless. */
export const letGo = (context: EngineContext, request: LiveRequest): void => {
  if (!request.holds) return
  context.ledger.letGo(request)
  tellLoads(context, request)
}

/** Sends the machines of the request's endpoints a crossing of their load, where there was one. */
const tellLoads = (context: EngineContext, request: LiveRequest): void => {
  for (const [, { endpoints }] of request.result?.results ?? []) {
    const actor = endpoints[0] === undefined ? undefined : context.fleet.ofLife(endpoints[0].life)
    if (actor !== undefined) tellLoad(context, actor)
  }
}

const tellLoad = (context: EngineContext, actor: EndpointActor): void => {
  const { requests } = context.ledger.load(actor.endpoint)
  const load = requests === 0 ? 'idle' : requests < context.settings.saturatedRequests ? 'busy' : 'saturated'
  if (load === actor.load) return
  actor.load = load
  context.endpointMachine.send(actor, LOAD_EVENTS[load])
}

const LOAD_EVENTS = { idle: { type: 'idle' }, busy: { type: 'busy' }, saturated: { type: 'saturated' } } as const
