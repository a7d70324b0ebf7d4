import type { Engine } from '../../engine/engine.ts'
import { engineAt } from '../engine-at.ts'
import type { Growing } from '../timeline/growing.ts'
import type { Lane } from '../timeline/timeline.ts'
import type { Travel } from './travel.ts'

/** One value of the engine's state that somebody may ask about. */
export type Probe =
  | { readonly of: 'endpoint'; readonly id: string; readonly field: EndpointField }
  | { readonly of: 'request'; readonly key: number; readonly field: RequestField }

export const ENDPOINT_FIELDS = ['machine', 'inFlightRequests', 'inFlightTokens', 'waitingQueueSize', 'runningRequestsSize', 'kvCacheUsage', 'heardAt', 'incarnation', 'strikes'] as const
type EndpointField = (typeof ENDPOINT_FIELDS)[number]

type RequestField = 'machine' | 'attempt' | 'endpoint' | 'excluded'

/** The value in an engine; undefined when what it is of is not there. */
export const readProbe = (engine: Engine, probe: Probe): string | number | undefined =>
  probe.of === 'endpoint' ? endpointValue(engine, probe.id, probe.field) : requestValue(engine, probe.key, probe.field)

const endpointValue = (engine: Engine, id: string, field: EndpointField): string | number | undefined => {
  const actor = engine.view.fleet.get(id)
  if (actor === undefined) return undefined
  switch (field) {
    case 'machine': return engine.view.endpointMachine.states[actor.state]
    case 'inFlightRequests': return engine.view.ledger.load(actor.endpoint).requests
    case 'inFlightTokens': return engine.view.ledger.load(actor.endpoint).tokens
    case 'strikes': return actor.strikes
    default: return actor.endpoint[field]
  }
}

const requestValue = (engine: Engine, key: number, field: RequestField): string | number | undefined => {
  const request = engine.view.requests.get(key)
  if (request === undefined) return undefined
  switch (field) {
    case 'machine': return engine.view.requestMachine.states[request.state]
    case 'attempt': return request.attempt
    case 'endpoint': return request.result?.results.get(request.result.primary)?.endpoints[0]?.id
    case 'excluded': return request.excluded.join(', ')
  }
}

/**
 * The record that last wrote a value: the newest at or before `position` after which it is another than before.
 * Undefined when it was so already where the journal begins.
 */
export const lastWrite = (travel: Travel, probe: Probe, position: number): number | undefined => {
  for (let end = newestChange(travel, probe, Math.min(position, travel.last)); end > travel.start.position;) {
    const from = travel.keyframeBefore(end)
    const engine = engineAt(travel.plainOptions, from)
    let value = readProbe(engine, probe)
    let found: number | undefined = undefined
    for (const record of travel.records(from.position + 1, end)) {
      engine.step(record.input ?? { input: undefined }, record.atUs)
      const now = readProbe(engine, probe)
      if (!Object.is(now, value)) found = record.position
      value = now
    }
    if (found !== undefined) return found
    end = from.position
  }
  return undefined
}

/** Where the timeline says that a value changed last, so that the search need not go through all that came after; else `position`. */
const newestChange = (travel: Travel, probe: Probe, position: number): number => {
  const now = readProbe(travel.seek(position), probe)
  const { lanes, records } = travel.timeline
  const lane = probe.of === 'endpoint' ? lanes.find(({ id }) => id === probe.id) : undefined
  const columns = lane === undefined || probe.of !== 'endpoint' ? undefined : columnsOf(lane, probe.field)
  if (columns === undefined || position < records.first) return position
  const [times, values] = columns
  let sample = times.lastAtMost(records.atUs.at(position - records.first))
  while (sample > 0 && values.at(sample - 1) === values.at(sample)) sample -= 1
  if (sample < 0) return position
  const end = Math.min(position, records.first + records.atUs.lastAtMost(times.at(sample)))
  // Another life since then began with values of its own.
  if (lane?.spells.some(({ kind, from }) => kind === 'alive' && from > records.atUs.at(end - records.first)) === true) return position
  // It is only a guess where else to look: the value must be the one that it is now.
  return Object.is(readProbe(travel.seek(end), probe), now) ? end : position
}

/** When a field was noted, and what it was. */
const columnsOf = (lane: Lane, field: EndpointField): readonly [Growing, Growing] | undefined => {
  switch (field) {
    case 'waitingQueueSize': return [lane.reportedAt, lane.waiting]
    case 'runningRequestsSize': return [lane.reportedAt, lane.running]
    case 'kvCacheUsage': return [lane.reportedAt, lane.kvCache]
    case 'inFlightRequests': return [lane.loadAt, lane.requests]
    case 'inFlightTokens': return [lane.loadAt, lane.tokens]
    default: return undefined
  }
}
