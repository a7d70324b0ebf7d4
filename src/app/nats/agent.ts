import { randomUUID } from 'node:crypto'
import { Announcer } from '../../adapters/nats/announcer.ts'
import { NatsLink } from '../../adapters/nats/connection.ts'
import { MetricsScraper } from '../../adapters/metrics-scrape/index.ts'
import type { ScrapeTarget } from '../../adapters/metrics-scrape/index.ts'
import type { Metrics } from '../../core/endpoint.ts'
import { coreMetricsExtractor, CoreMetricsExtractor } from '../../plugins/extractor/core-metrics-extractor/index.ts'
import { metricsDataSource, MetricsDataSource } from '../../plugins/source/metrics-data-source/index.ts'
import { emptyEndpointMetrics, encodeEndpointAnnouncement, encodeTelemetryReport, toBytes } from '../../wire/index.ts'
import type { EndpointInfo, EndpointMetrics, ModelCount, Presence } from '../../wire/index.ts'
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
 * Runs beside an engine: reads its metrics here and publishes them, and announces the endpoint with heartbeats.
 * @throws SignalboxError where the broker cannot be reached
 */
export const startAgent = async (options: AgentOptions): Promise<Agent> => {
  const { endpoint, address, port, labels, engine, log } = options
  const names = namesOf(options.broker)
  const link = await NatsLink.open(natsOptions(options.broker, `signalbox agent ${endpoint}`), {
    down: () => log('NATS is away'),
    up: () => log('NATS is back'),
    error: log,
  })
  const incarnation = randomUUID()
  const allLabels = new Map([...labels, [ENGINE_LABEL, engine]])
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
      await announcer.leave()
      await link.close()
    },
  }
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
