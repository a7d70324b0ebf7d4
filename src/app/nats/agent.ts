import { randomUUID } from 'node:crypto'
import { Announcer } from '../../adapters/nats/announcer.ts'
import { NatsLink } from '../../adapters/nats/connection.ts'
import { MetricsScraper } from '../../adapters/metrics-scrape/index.ts'
import type { ScrapeTarget } from '../../adapters/metrics-scrape/index.ts'
import type { BlockNaming } from '../../adapters/kv-events/index.ts'
import type { SignalboxSettings } from '../../config/signalbox/settings.ts'
import type { Metrics } from '../../core/endpoint.ts'
import type { EngineHash } from '../../core/hash/engine-keys.ts'
import { maskOf } from '../../core/shape.ts'
import { coreMetricsExtractor, CoreMetricsExtractor } from '../../plugins/extractor/core-metrics-extractor/index.ts'
import { metricsDataSource, MetricsDataSource } from '../../plugins/source/metrics-data-source/index.ts'
import { emptyEndpointMetrics, encodeEndpointAnnouncement, encodeTelemetryReport, toBytes } from '../../wire/index.ts'
import type { EndpointInfo, EndpointMetrics, ModelCount, Presence } from '../../wire/index.ts'
import { KvFaults } from '../kv-faults.ts'
import { KV_SOURCE_LABEL } from '../kv-feed.ts'
import { secretOf } from '../pool-secret.ts'
import { AgentCache } from './agent-cache.ts'
import type { AgentCacheOptions, AgentCacheParts } from './agent-cache.ts'
import { namesOf, natsOptions } from './options.ts'
import type { BrokerSettings } from './options.ts'

export interface AgentOptions {
  readonly broker: BrokerSettings
  /** "namespace/name". */
  readonly endpoint: string
  readonly address: string
  readonly port: number
  readonly labels: ReadonlyMap<string, string>
  /** Whose metric names the engine has: "vllm", "sglang", "triton-tensorrt-llm", ... */
  readonly engine: string
  /** Where the engine's metrics are. */
  readonly metricsUrl: string
  /** Milliseconds between two reads of the metrics. */
  readonly intervalMs: number
  /** Undefined where the engine's KV events are not followed here. */
  readonly kv?: AgentCacheOptions | undefined
  log(message: string): void
}

export interface Agent {
  readonly incarnation: string
  /** Says that no new requests should come, and goes on. */
  drain(): Promise<void>
  /** Takes the endpoint out of the fleet and ends. */
  close(): Promise<void>
}

const ENGINE_LABEL = 'llm-d.ai/engine-type'

/**
 * Runs beside an engine: reads its metrics here and publishes them, announces the endpoint with heartbeats, and tells what
 * the engine has in its prefix cache.
 * @throws SignalboxError where the broker cannot be reached
 */
export const startAgent = async (options: AgentOptions): Promise<Agent> => {
  const { endpoint, address, port, labels, engine, kv, log } = options
  const names = namesOf(options.broker)
  let cache: AgentCache | undefined = undefined
  const link = await NatsLink.open(natsOptions(options.broker, `signalbox agent ${endpoint}`), {
    down: () => {
      log('NATS is away')
      cache?.down()
    },
    up: () => {
      log('NATS is back')
      cache?.up()
    },
    error: log,
  })
  const incarnation = randomUUID()
  const allLabels = new Map([...labels, [ENGINE_LABEL, engine]])
  if (kv !== undefined) {
    allLabels.set(KV_SOURCE_LABEL, 'nats')
    cache = cacheOf(kv, { link, names, endpoint, incarnation }, log)
  }
  const info: EndpointInfo = {
    id: endpoint, address, port, incarnation,
    labels: [...allLabels].map(([name, value]) => ({ name, value })),
    annotations: [],
    metricsHostPort: '',
  }
  let presence: Presence = 'ready'
  let heartbeat = 0
  const announce = (): Uint8Array => {
    heartbeat += 1
    return toBytes(encodeEndpointAnnouncement, { endpoint: info, presence, heartbeat })
  }
  const announcer = new Announcer(link, names.endpointsBucket, endpoint, announce, (error) => log(`the announcement was not taken: ${String(error)}`))
  const subject = names.telemetry(endpoint)
  let sequence = 0
  const scraper = scraperOf(options, allLabels, (fields) => {
    if (!link.connected) return
    sequence += 1
    link.connection.publish(subject, toBytes(encodeTelemetryReport, { endpoint, incarnation, sequence, metrics: metricsOf(fields) }))
  })
  announcer.start()
  scraper.watch({ id: endpoint, url: options.metricsUrl, labels: allLabels })
  return {
    incarnation,
    drain: async () => {
      presence = 'draining'
      await announcer.write()
    },
    close: async () => {
      await scraper.close()
      await cache?.close()
      await announcer.leave()
      await link.close()
    },
  }
}

/** How an engine's blocks are named, as the schedulers of the pool name them. @throws SignalboxError usage where the pool's secret cannot be read */
export const blockNaming = (hash: EngineHash, blockTokens: number, seed: string, settings: Pick<SignalboxSettings, 'promptHashSecretFile'>): BlockNaming => {
  const secret = secretOf(settings)
  return { hash, blockTokens, seed, mask: secret === undefined ? undefined : maskOf(secret) }
}

const cacheOf = (kv: AgentCacheOptions, place: Pick<AgentCacheParts, 'link' | 'names' | 'endpoint' | 'incarnation'>, log: (message: string) => void): AgentCache => {
  const faults = new KvFaults((_endpoint, fault, count) => log(`KV events are not as they should be: ${fault} (${count}); told once of each kind`))
  return new AgentCache({ ...kv, ...place, fault: faults.take, failed: (error) => log(`the KV events were not taken: ${String(error)}`) })
}

const scraperOf = ({ intervalMs, log }: AgentOptions, labels: ReadonlyMap<string, string>, report: (fields: Partial<Metrics>) => void): MetricsScraper<ScrapeTarget> => {
  const context = { parameters: undefined, plugin: () => undefined, warn: log }
  const source = metricsDataSource.create({ ...context, name: metricsDataSource.type })
  const extractor = coreMetricsExtractor.create({ ...context, name: coreMetricsExtractor.type })
  if (!(source instanceof MetricsDataSource) || !(extractor instanceof CoreMetricsExtractor)) throw new TypeError('the built-in metrics plugins are not what they were')
  extractor.mappingFor(labels)
  return new MetricsScraper<ScrapeTarget>({
    source, extractor, intervalMs,
    report: (_target, fields) => report(fields),
    observe: () => undefined,
    changed: (_target, problem, message) => log(problem === undefined ? 'the metrics are read again' : `the metrics cannot be read: ${message}`),
  })
}

const metricsOf = (fields: Partial<Metrics>): EndpointMetrics => {
  const { activeModels, waitingModels, custom, ...scalars } = fields
  return {
    ...emptyEndpointMetrics(),
    ...scalars,
    activeModels: counts(activeModels),
    waitingModels: counts(waitingModels),
    modelsReported: activeModels !== undefined || waitingModels !== undefined,
    custom: [...(custom ?? [])].map(([name, value]) => ({ name, value })),
  }
}

const counts = (models: ReadonlyMap<string, number> | undefined): ModelCount[] =>
  [...(models ?? [])].map(([model, count]) => ({ model, count: Math.max(0, Math.round(count)) }))
