import type { Endpoint, EndpointDescription } from '../core/endpoint.ts'
import { joinHostPort } from '../core/address.ts'
import { MICROS_PER_S, millis } from '../core/instant.ts'
import type { EndpointInfo } from '../wire/endpoint.ts'
import type { EngineContext } from './context.ts'
import type { EndpointActor } from './endpoint-actor.ts'
import { callHook } from './hooks.ts'

/** Name of the one timer that looks for endpoints gone silent. */
export const SWEEP = 'sweep'
/** How often it looks: a stale endpoint is noticed at most this much later. */
const SWEEP_INTERVAL = MICROS_PER_S

/** An endpoint came, or told of itself anew; another incarnation under the same id is another life. */
export const join = (context: EngineContext, info: EndpointInfo): void => {
  const known = context.fleet.get(info.id)
  if (known !== undefined && known.endpoint.incarnation === info.incarnation) {
    update(context, known, info)
    return
  }
  if (known !== undefined) leave(context, known)
  const actor = context.fleet.add(description(info))
  context.endpointMachine.send(actor, { type: 'join' })
  context.endpointMachine.send(actor, { type: 'ready' })
  tellAdded(context, actor.endpoint)
  scheduleSweep(context)
}

/** Its address, labels or annotations changed; a draining endpoint that is announced again is ready again. */
export const update = (context: EngineContext, actor: EndpointActor, info: EndpointInfo): void => {
  const { endpoint } = actor
  const next = description(info)
  endpoint.address = next.address
  endpoint.port = next.port
  endpoint.hostPort = joinHostPort(next.address, next.port)
  endpoint.labels = next.labels
  endpoint.annotations = next.annotations
  endpoint.metricsHostPort = next.metricsHostPort
  // Whoever remembers what it found among the candidates has to look again.
  context.fleet.changed()
  context.endpointMachine.send(actor, { type: 'ready' })
  tellAdded(context, endpoint)
}

export const drain = (context: EngineContext, actor: EndpointActor): void => {
  context.endpointMachine.send(actor, { type: 'drain' })
}

/** It is gone. Requests on it keep their assignments to this life until they end. */
export const leave = (context: EngineContext, actor: EndpointActor): void => {
  context.endpointMachine.send(actor, { type: 'leave' })
  context.fleet.remove(actor)
  for (const plugin of context.pipeline.endpointEvents) callHook(context, plugin, 'EndpointEvents', () => plugin.endpointRemoved(actor.endpoint), undefined)
}

/** Tells the plugins of an endpoint that came, or of one that they do not know of after they were made anew. */
export const tellAdded = (context: EngineContext, endpoint: Endpoint): void => {
  for (const plugin of context.pipeline.endpointEvents) callHook(context, plugin, 'EndpointEvents', () => plugin.endpointAdded(endpoint), undefined)
}

/** Tells each endpoint that was not heard from for too long that it is silent. */
export const sweep = (context: EngineContext): void => {
  context.sweep = undefined
  const staleAfter = millis(context.settings.staleAfterMs)
  for (const actor of context.fleet.actors()) {
    if (actor.fresh && context.at - actor.endpoint.heardAt >= staleAfter) context.endpointMachine.send(actor, { type: 'silent' })
  }
  if (context.fleet.present().length > 0) scheduleSweep(context)
}

const scheduleSweep = (context: EngineContext): void => {
  context.sweep ??= context.timers.schedule(context.at + SWEEP_INTERVAL, 'engine', 0, SWEEP)
}

const description = (info: EndpointInfo): EndpointDescription => ({
  id: info.id,
  address: info.address,
  port: info.port,
  labels: new Map(info.labels.map(({ name, value }) => [name, value])),
  annotations: new Map(info.annotations.map(({ name, value }) => [name, value])),
  incarnation: info.incarnation,
  metricsHostPort: info.metricsHostPort,
})
