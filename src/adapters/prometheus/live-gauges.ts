import type { Registry } from 'prom-client'
import type { Instant } from '../../core/instant.ts'
import { CounterFamily, GaugeFamily } from './family.ts'
import { PREFIX } from './observations.ts'

/** What is read of an endpoint. */
export interface EndpointReading {
  readonly id: string
  readonly waitingQueueSize: number
  readonly runningRequestsSize: number
  readonly kvCacheUsage: number
  readonly heardAt: Instant
}

/** Where the gauges read when they are asked for; an absent part is not shown. */
export interface LiveSources {
  readonly pool: string
  now(): Instant
  /** Endpoints that are ready. */
  endpoints(): Iterable<EndpointReading>
  /** Age in microseconds from which the pool's averages leave an endpoint out. */
  staleAfter(): number
  inFlight?(): Iterable<{ readonly endpoint: string; readonly stage: string; readonly requests: number }>
  inboxDepth?(): number
  liveRequests?(): number
  journal?(): { readonly state: string; readonly lagRecords: number; readonly lagMs: number }
  divergences?(): number
  receipts?(): number
  /** The HTTP front door; undefined until it is open. */
  door?(): { readonly requests: number; readonly staleConnections: number; readonly broken: number } | undefined
  telemetry?(): {
    readonly reports: number
    readonly superseded: number
    readonly outOfOrder: number
    readonly otherLife: number
    readonly refused: Readonly<Record<string, number>>
  }
  feeds?(): {
    /** Messages from NATS that were not taken, by reason; undefined without NATS. */
    readonly refused: Readonly<Record<string, number>> | undefined
    readonly kvFaults: Readonly<Record<string, number>>
    /** Engines whose KV events are followed, by the "address:port" of their endpoints. */
    readonly kvSubscribers: readonly { readonly pod: string; readonly messages: number; readonly reconnections: number; readonly errors: Readonly<Record<string, number>> }[]
    /** Undefined where no KV events are wanted. */
    readonly kvInbox: { readonly waiting: number; readonly capacity: number } | undefined
    /** Undefined where KV events do not come over NATS. */
    readonly kv: { readonly behind: number; readonly waiting: number } | undefined
    /** Undefined without NATS. */
    readonly peers: PeerReading | undefined
  }
  scraper?(): { readonly endpoints: number; readonly polling: number; readonly waiting: number; readonly skipped: number }
}

/** What is known of peer replicas, and how far their stream and that of reports on requests are read. */
export interface PeerReading {
  /** Replicas whose load is held. */
  readonly held: number
  /** Reports not taken, by reason. */
  readonly dropped: Readonly<Record<string, number>>
  /** Messages that wait in the server, by what they tell of. */
  readonly behind: Readonly<Record<string, number>>
}

const DECIMALS = 100
const MS_PER_S = 1000

/** Registers the gauges that are read only when somebody asks. */
export const registerLiveGauges = (registry: Registry, sources: LiveSources): void => {
  registerPool(registry, sources)
  const { inFlight, inboxDepth, liveRequests, journal, divergences, receipts } = sources
  if (inFlight !== undefined) {
    const family = gauge(registry, 'signalbox_inflight_requests', 'Requests assigned to an endpoint, by stage.', ['endpoint', 'stage'])
    family.collect = () => {
      family.clear()
      for (const { endpoint, stage, requests } of inFlight.call(sources)) family.cell(endpoint, stage).add(requests)
    }
  }
  if (inboxDepth !== undefined) single(registry, 'signalbox_inbox_depth', 'Inputs that wait for the engine.', () => inboxDepth.call(sources))
  if (liveRequests !== undefined) single(registry, 'signalbox_live_requests', 'Requests that are not over.', () => liveRequests.call(sources))
  if (receipts !== undefined) single(registry, 'signalbox_receipts', 'Receipts held in memory.', () => receipts.call(sources))
  if (divergences !== undefined) {
    rising(registry, 'signalbox_divergences_total', 'Decisions that the replay of the journal did not come to again.', [], () => [[[], divergences.call(sources)]])
  }
  if (journal !== undefined) {
    single(registry, 'signalbox_journal_lag_records', 'Records that the journal has not acknowledged.', () => journal.call(sources).lagRecords)
    single(registry, 'signalbox_journal_lag_seconds', 'Age of the oldest record that the journal has not acknowledged.', () => journal.call(sources).lagMs / MS_PER_S)
    const state = gauge(registry, 'signalbox_journal_state', 'The state of the journal link: 1 at the one it is in.', ['state'])
    state.collect = () => {
      state.clear()
      state.cell(journal.call(sources).state).set(1)
    }
  }
  registerDoor(registry, sources)
  registerFeeds(registry, sources)
}

const registerDoor = (registry: Registry, sources: LiveSources): void => {
  const { door } = sources
  if (door === undefined) return
  rising(registry, 'signalbox_http_requests_total', 'Requests that came in over HTTP.', [], () => [[[], door.call(sources)?.requests ?? 0]])
  rising(registry, 'signalbox_http_stale_connections_total', 'Requests sent again over a new connection because the endpoint had closed a used one.', [], () => [[[], door.call(sources)?.staleConnections ?? 0]])
  rising(registry, 'signalbox_http_broken_requests_total', 'Requests that were no HTTP or came too slowly.', [], () => [[[], door.call(sources)?.broken ?? 0]])
}

const registerFeeds = (registry: Registry, sources: LiveSources): void => {
  const { telemetry, scraper, feeds } = sources
  if (telemetry !== undefined) {
    const read = (): ReturnType<typeof telemetry> => telemetry.call(sources)
    rising(registry, 'signalbox_telemetry_reports_total', 'Reports of endpoints.', [], () => [[[], read().reports]])
    rising(registry, 'signalbox_telemetry_superseded_total', 'Reports that a newer one replaced before the engine took them.', [], () => [[[], read().superseded]])
    rising(registry, 'signalbox_telemetry_dropped_total', 'Reports not taken, by reason.', ['reason'], () => [[['out-of-order'], read().outOfOrder], [['other-life'], read().otherLife]])
    rising(registry, 'signalbox_telemetry_refused_values_total', 'Values not taken, by reason.', ['reason'], () => Object.entries(read().refused).map(([reason, count]) => [[reason], count]))
  }
  if (feeds !== undefined) {
    const read = (): ReturnType<typeof feeds> => feeds.call(sources)
    rising(registry, 'signalbox_nats_refused_total', 'Messages from NATS that were not taken, by reason.', ['reason'], () => Object.entries(read().refused ?? {}).map(([reason, count]) => [[reason], count]))
    registerKvEvents(registry, read)
    single(registry, 'signalbox_peer_replicas', 'Peer replicas whose load is held.', () => read().peers?.held ?? 0)
    rising(registry, 'signalbox_peer_reports_dropped_total', 'Reports of peer replicas that were not taken, by reason.', ['reason'], () => Object.entries(read().peers?.dropped ?? {}).map(([reason, count]) => [[reason], count]))
    const behind = gauge(registry, 'signalbox_nats_behind', 'Messages that wait in the NATS server, by what they tell of.', ['of'])
    behind.collect = () => {
      for (const [of, messages] of Object.entries(read().peers?.behind ?? {})) behind.cell(of).set(messages)
    }
  }
  if (scraper !== undefined) {
    single(registry, 'signalbox_scraped_endpoints', 'Endpoints whose metrics are polled.', () => scraper.call(sources).endpoints)
    single(registry, 'signalbox_scrapes_waiting', 'Polls that wait for a place.', () => scraper.call(sources).waiting)
    rising(registry, 'signalbox_scrapes_skipped_total', 'Polls left out because the last one was not over.', [], () => [[[], scraper.call(sources).skipped]])
  }
}

const registerKvEvents = (registry: Registry, read: NonNullable<LiveSources['feeds']>): void => {
  rising(registry, 'signalbox_kv_events_faults_total', 'Faults of KV events, by kind.', ['fault'], () => Object.entries(read().kvFaults).map(([fault, count]) => [[fault], count]))
  single(registry, 'signalbox_kv_events_behind', 'Reports of caches that wait in the NATS server.', () => read().kv?.behind ?? 0)
  single(registry, 'signalbox_kv_events_waiting_endpoints', 'Endpoints of whose cache not all is known yet.', () => read().kv?.waiting ?? 0)
  const prefix = `${PREFIX}kv_cache_events_`
  const byEngine = ['pod_identifier']
  single(registry, `${prefix}active_subscribers`, '[ALPHA] Engines whose KV events are followed.', () => read().kvSubscribers.length)
  rising(registry, `${prefix}messages_received_total`, '[ALPHA] Messages of KV events, by engine.', byEngine, () => read().kvSubscribers.map(({ pod, messages }) => [[pod], messages]))
  rising(registry, `${prefix}subscriber_reconnections_total`, '[ALPHA] Connections for KV events that were made anew, by engine.', byEngine, () => read().kvSubscribers.map(({ pod, reconnections }) => [[pod], reconnections]))
  rising(registry, `${prefix}zmq_errors_total`, '[ALPHA] What went wrong with connections for KV events, by engine and operation.', [...byEngine, 'operation'], () =>
    read().kvSubscribers.flatMap(({ pod, errors }) => Object.entries(errors).map(([operation, count]) => [[pod, operation], count] as const)))
  single(registry, `${prefix}pool_queue_depth`, '[ALPHA] Inputs of KV events that wait for the engine.', () => read().kvInbox?.waiting ?? 0)
  single(registry, `${prefix}pool_capacity`, '[ALPHA] Inputs that wait for the engine from which on KV events are not read.', () => read().kvInbox?.capacity ?? 0)
}

/** llm-d's gauges of the pool, over the endpoints whose metrics are fresh, rounded to two decimals. */
const registerPool = (registry: Registry, sources: LiveSources): void => {
  const fresh = (): EndpointReading[] => {
    const oldest = sources.now() - sources.staleAfter()
    return [...sources.endpoints()].filter(({ heardAt }) => heardAt > 0 && heardAt >= oldest)
  }
  const parts = [
    ['kv_cache_utilization', 'KV-cache usage', ({ kvCacheUsage }: EndpointReading) => kvCacheUsage],
    ['queue_size', 'waiting requests', ({ waitingQueueSize }: EndpointReading) => waitingQueueSize],
    ['running_requests', 'running requests', ({ runningRequestsSize }: EndpointReading) => runningRequestsSize],
  ] as const
  for (const [name, what, read] of parts) {
    pooled(registry, sources, `average_${name}`, `Average of the endpoints' ${what}.`, () => average(fresh().map(read)))
    pooled(registry, sources, `std_dev_${name}`, `Standard deviation of the endpoints' ${what}.`, () => deviation(fresh().map(read)))
  }
  pooled(registry, sources, 'ready_endpoints', 'Endpoints that are ready.', () => [...sources.endpoints()].length)
  const queues = gauge(registry, `${PREFIX}per_endpoint_queue_size`, '[ALPHA] Waiting requests of each endpoint.', ['name', 'model_server_endpoint'])
  queues.collect = () => {
    queues.clear()
    for (const { id, waitingQueueSize } of fresh()) queues.cell(sources.pool, id.slice(id.indexOf('/') + 1)).set(waitingQueueSize)
  }
}

const pooled = (registry: Registry, { pool }: LiveSources, name: string, help: string, read: () => number): void => {
  const family = gauge(registry, PREFIX + name, `[ALPHA] ${help}`, ['name'])
  family.collect = () => family.cell(pool).set(Math.round(read() * DECIMALS) / DECIMALS)
}

const single = (registry: Registry, name: string, help: string, read: () => number): void => {
  const family = gauge(registry, name, help, [])
  family.collect = () => family.cell().set(read())
}

const gauge = (registry: Registry, name: string, help: string, labels: readonly string[]): GaugeFamily => new GaugeFamily({ name, help, labels }).register(registry)

/** A number that somebody else counts. */
const rising = (registry: Registry, name: string, help: string, labels: readonly string[], read: () => readonly (readonly [readonly string[], number])[]): void => {
  const family = new CounterFamily({ name, help, labels }).register(registry)
  family.collect = () => {
    // All of them are read each time: what is not told any more is gone.
    family.clear()
    for (const [values, count] of read()) family.cell(...values).set(count)
  }
}

const average = (values: readonly number[]): number => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length)

/** Of a sample, so over one less; 0 for fewer than two. */
const deviation = (values: readonly number[]): number => {
  if (values.length < 2) return 0
  const mean = average(values)
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) * (value - mean), 0) / (values.length - 1))
}
