import type { Endpoint, Metrics } from '../core/endpoint.ts'
import type { ModelCount } from '../wire/endpoint.ts'
import type { MetricColumn, TelemetryTick } from '../wire/input.ts'
import type { EngineContext } from './context.ts'
import { callHook } from './hooks.ts'

/** The scalar metrics, by the name that a tick gives them. */
export const METRIC_FIELDS = {
  waiting_queue_size: 'waitingQueueSize',
  running_requests_size: 'runningRequestsSize',
  kv_cache_usage: 'kvCacheUsage',
  cache_block_size: 'cacheBlockSize',
  cache_num_blocks: 'cacheNumBlocks',
  max_active_models: 'maxActiveModels',
} as const satisfies Record<string, keyof Metrics>

export type MetricName = keyof typeof METRIC_FIELDS

/** Takes the changed values, and renews the age of every endpoint heard from. */
export const takeTelemetry = (context: EngineContext, tick: TelemetryTick): void => {
  for (const column of tick.columns) takeColumn(context, column)
  for (const report of tick.models) {
    const endpoint = context.fleet.atSlot(report.slot)?.endpoint
    if (endpoint === undefined) continue
    endpoint.activeModels = counts(report.active)
    endpoint.waitingModels = counts(report.waiting)
  }
  takeHeard(context, tick.heard)
}

const takeColumn = (context: EngineContext, column: MetricColumn): void => {
  const field = column.custom ? undefined : METRIC_FIELDS[column.metric as MetricName]
  if (!column.custom && field === undefined) return
  const values = column.whole.length > 0 ? column.whole : column.real
  let slot = 0
  for (let i = 0; i < column.slotDeltas.length; i++) {
    slot += column.slotDeltas[i] as number
    const endpoint = context.fleet.atSlot(slot)?.endpoint
    const value = values[i]
    if (endpoint === undefined || value === undefined) continue
    if (field === undefined) setCustom(endpoint, column.metric, value)
    else endpoint[field] = value
  }
}

const setCustom = (endpoint: Endpoint, name: string, value: number): void => {
  endpoint.custom = new Map(endpoint.custom).set(name, value)
}

const takeHeard = (context: EngineContext, heard: Uint8Array): void => {
  for (let byte = 0; byte < heard.length; byte++) {
    let bits = heard[byte] as number
    for (let slot = byte * 8; bits !== 0; slot += 1, bits >>= 1) {
      if ((bits & 1) === 0) continue
      const actor = context.fleet.atSlot(slot)
      if (actor === undefined) continue
      actor.endpoint.heardAt = context.at
      if (!actor.fresh) context.endpointMachine.send(actor, HEARD)
      for (const plugin of context.pipeline.metricsEvents) callHook(context, plugin, 'MetricsHeard', () => plugin.metricsHeard(actor.endpoint), undefined)
    }
  }
}

const HEARD = { type: 'heard' } as const

const counts = (list: readonly ModelCount[]): ReadonlyMap<string, number> => new Map(list.map(({ model, count }) => [model, count]))
