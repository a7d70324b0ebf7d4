import type { AdminOptions, PluginState } from '../adapters/http/admin.ts'
import type { LiveSources } from '../adapters/prometheus/index.ts'
import type { Plugin } from '../core/contract.ts'
import type { Stage } from '../core/request.ts'
import type { Engine } from '../engine/engine.ts'
import type { EngineHost } from './host.ts'
import type { KvFaults } from './kv-faults.ts'
import type { KvFeed } from './kv-feed.ts'
import type { BrokerReadings } from './nats/broker.ts'
import type { Scraping } from './scraping.ts'

const ROLE_LABEL = 'llm-d.ai/role'

/** The endpoints of an engine, as /endpoints tells them. */
export const endpointRows = (engine: Engine): readonly unknown[] => {
  const { fleet, ledger, endpointMachine } = engine.view
  return fleet.actors().map(({ endpoint, state }) => ({
    id: endpoint.id,
    address: endpoint.hostPort,
    role: endpoint.labels.get(ROLE_LABEL) ?? '',
    state: (endpointMachine.states[state] ?? '').split('|').map((path) => path.replace(/^\w+\./, '')).join(' '),
    requests: ledger.load(endpoint).requests,
    waiting: endpoint.waitingQueueSize,
    running: endpoint.runningRequestsSize,
    kvCacheUsage: endpoint.kvCacheUsage,
    ageMs: endpoint.heardAt === 0 ? null : Math.round((engine.at - endpoint.heardAt) / 1000),
  }))
}

export const pluginStates = (engine: Engine): readonly PluginState[] =>
  engine.view.pipeline.plugins.map((plugin) => ({ name: plugin.typedName.name, type: plugin.typedName.type, state: dumped(plugin) }))

/** A plugin that cannot say what it holds does not hide the others. */
const dumped = (plugin: Plugin): unknown => {
  try {
    return plugin.dump?.()
  } catch (error) {
    return { error: String(error) }
  }
}

/** Drains an endpoint by its id. */
export const drain = (host: EngineHost): AdminOptions['drain'] => (endpoint) => {
  if (host.actor.engine.view.fleet.get(endpoint) === undefined) return 'unknown-endpoint'
  host.actor.submit({ input: { kind: 'endpointDraining', value: { endpoint, reason: 'operator' } } })
  return 'draining'
}

/** Where the gauges read. */
export const liveSources = (host: EngineHost, scraping: Scraping, pool: string): LiveSources => {
  const { engine } = host.actor
  return {
    pool,
    now: () => engine.at,
    endpoints: () => engine.view.fleet.ready(),
    staleAfter: () => engine.view.settings.staleAfterMs * 1000,
    inFlight: () => inFlight(engine),
    inboxDepth: () => host.actor.depth,
    liveRequests: () => engine.view.requests.size,
    journal: () => {
      const { records, ageMs } = host.journal.link.lag()
      return { state: host.link.state, lagRecords: records, lagMs: ageMs }
    },
    divergences: () => host.divergences,
    receipts: () => engine.view.receipts.size,
    telemetry: () => scraping.slots.counts,
    scraper: () => scraping.counts ?? NOT_SCRAPED,
  }
}

const NOT_SCRAPED = { endpoints: 0, polling: 0, waiting: 0, skipped: 0 }

/** What the feeds of an engine did not take, and how far they are. */
export const feedReadings = (kvFaults: KvFaults, kvFeed: KvFeed | undefined, broker: { readonly readings: BrokerReadings } | undefined): ReturnType<NonNullable<LiveSources['feeds']>> => {
  const readings = broker?.readings
  return { refused: readings?.refused, kvFaults: kvFaults.counts, kvSubscribers: kvFeed?.subscribers ?? [], kvInbox: kvFeed?.inbox, kv: readings?.kv, peers: readings?.peers }
}

function* inFlight(engine: Engine): Generator<{ endpoint: string; stage: string; requests: number }, void, undefined> {
  const { fleet, ledger, pipeline } = engine.view
  // A series that was shown stays, at 0: every endpoint has one for each stage that is configured.
  const stages = [...new Set(pipeline.profileNames.map((profile) => stageOf(engine, profile)))]
  const loads = new Map<string, Map<string, number>>()
  const loadOf = (endpoint: string): Map<string, number> => {
    const load = loads.get(endpoint) ?? new Map<string, number>(stages.map((stage) => [stage, 0]))
    loads.set(endpoint, load)
    return load
  }
  for (const { id } of fleet.present()) loadOf(id)
  for (const key of ledger.requests()) {
    for (const { profile, endpoint } of ledger.assignmentsOf(key)) {
      const load = loadOf(endpoint.id)
      const stage = stageOf(engine, profile)
      load.set(stage, (load.get(stage) ?? 0) + 1)
    }
  }
  for (const [endpoint, load] of loads) for (const [stage, requests] of load) yield { endpoint, stage, requests }
}

const stageOf = (engine: Engine, profile: string): Stage => {
  try {
    return engine.view.pipeline.handler.stageOf(profile)
  } catch {
    return 'decode'
  }
}
