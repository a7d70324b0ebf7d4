import { tokensOf } from '../core/request.ts'
import type { EngineContext } from './context.ts'
import type { EndpointActor } from './endpoint-actor.ts'
import type { LiveRequest } from './live-request.ts'

/** Records the assignments of a routed request: the first endpoint of each profile that ran. */
export const hold = (context: EngineContext, request: LiveRequest): void => {
  const promptTokens = tokensOf(request)
  for (const [profile, { endpoints }] of request.result?.results ?? []) {
    const [endpoint] = endpoints
    if (endpoint === undefined) continue
    context.ledger.assign(request.key, { profile, endpoint, promptTokens, outputTokens: 0 })
    tellLoad(context, context.fleet.ofLife(endpoint.life))
  }
}

/** Releases all that the request holds; again is harmless. */
export const letGo = (context: EngineContext, request: LiveRequest): void => {
  const lives = context.ledger.assignmentsOf(request.key).map(({ endpoint }) => endpoint.life)
  context.ledger.release(request.key)
  for (const life of lives) tellLoad(context, context.fleet.ofLife(life))
}

/** Sends the endpoint's machine a crossing of its load, if there was one. */
const tellLoad = (context: EngineContext, actor: EndpointActor | undefined): void => {
  if (actor === undefined) return
  const { requests } = context.ledger.load(actor.endpoint)
  const load = requests === 0 ? 'idle' : requests < context.settings.saturatedRequests ? 'busy' : 'saturated'
  if (load === actor.load) return
  actor.load = load
  context.endpointMachine.send(actor, LOAD_EVENTS[load])
}

const LOAD_EVENTS = { idle: { type: 'idle' }, busy: { type: 'busy' }, saturated: { type: 'saturated' } } as const
