import { AssignmentCounts, type PodMetrics } from '../../../aibrix/index.ts'
import { fromProducer, KV_CACHE_USAGE, type DataKey } from '../../../core/attribute.ts'
import type { Consumption, EndpointEvents, MetricsEvents, PluginType, Producer, ResponseBody, Services, StageEvents, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParameters, text } from '../../../core/parameters.ts'
import type { Request, ResponseStep } from '../../../core/request.ts'
import { EndpointMeter } from './endpoint-meter.ts'
import { decodeMetricsMemory, encodeMetricsMemory } from './metrics-memory.ts'

export { CUSTOM_METRICS, ENGINE_METRICS } from './scraped.ts'

const TYPE = 'aibrix-metrics-producer'

/** What the prefill/decode router of AIBrix reads of each endpoint. */
export const AIBRIX_METRICS: DataKey<PodMetrics> = { dataType: 'AibrixPodMetrics', producer: TYPE }

/**
 * Measures endpoints the way AIBrix's router wants it: from scraped counters where an engine has them, from our own
 * completions where not. (AIBrix: pod metrics)
 */
export class AibrixMetricsProducer implements Producer, ResponseBody, StageEvents, MetricsEvents, EndpointEvents {
  readonly typedName: TypedName
  private readonly extractor: string
  private readonly meters = new Map<number, EndpointMeter>()
  /** Requests that were sent to the primary endpoint and have not ended, by its life. */
  private readonly running = new AssignmentCounts<number>()
  private services: Services | undefined = undefined

  constructor(name: string, extractor: string) {
    this.typedName = { type: TYPE, name }
    this.extractor = extractor
  }

  consumes(): Consumption {
    return { required: [], optional: [fromProducer(KV_CACHE_USAGE, this.extractor)] }
  }

  produces(): readonly DataKey<unknown>[] {
    return [fromProducer(AIBRIX_METRICS, this.typedName.name)]
  }

  setup(services: Services): void {
    this.services = services
    services.writer(fromProducer(AIBRIX_METRICS, this.typedName.name)).provide((endpoint) => this.metricsOf(endpoint))
  }

  /** Nothing to write for a request: what is measured is read from the meters. */
  produce(_request: Request, _candidates: readonly Endpoint[]): void {}

  metricsHeard(endpoint: Endpoint): void {
    this.meter(endpoint).heard(endpoint, endpoint.heardAt)
  }

  requestSent(request: Request): void {
    const endpoint = primaryOf(request)
    if (endpoint === undefined) return
    this.running.add(request.key, String(endpoint.life))
    this.meter(endpoint).warm = true
  }

  /** Prefills do not count as running. */
  stageEnded(_request: Request): void {}

  responseBody(request: Request, step: ResponseStep): void {
    if (!step.endOfStream) return
    const endpoint = primaryOf(request)
    const wasRunning = this.running.remove(request.key)
    if (wasRunning && endpoint !== undefined && step.cause === 'natural') this.meter(endpoint).completed(this.now())
  }

  endpointAdded(endpoint: Endpoint): void {
    this.meter(endpoint)
  }

  endpointRemoved(endpoint: Endpoint): void {
    this.meters.delete(endpoint.life)
  }

  dump(): unknown {
    return this.services?.endpoints().map((endpoint) => ({ endpoint: endpoint.id, ...this.metricsOf(endpoint) })) ?? []
  }

  save(): Uint8Array {
    return encodeMetricsMemory([...this.meters].map(([life, meter]) => [life, meter.save()]), this.running.entries())
  }

  load(state: Uint8Array): void {
    const { meters, running } = decodeMetricsMemory(state)
    for (const [life, saved] of meters) this.meters.set(life, EndpointMeter.load(saved))
    for (const [key, life] of running) this.running.add(key, life)
  }

  private metricsOf(endpoint: Endpoint): PodMetrics {
    const meter = this.meter(endpoint)
    return meter.metrics(endpoint, meter.warm ? this.running.count(String(endpoint.life)) : undefined, this.now())
  }

  private meter(endpoint: Endpoint): EndpointMeter {
    let meter = this.meters.get(endpoint.life)
    if (meter === undefined) {
      meter = new EndpointMeter(this.now())
      this.meters.set(endpoint.life, meter)
    }
    return meter
  }

  private now(): number {
    return this.services?.now() ?? 0
  }
}

const primaryOf = (request: Request): Endpoint | undefined => {
  const { result } = request
  return result?.results.get(result.primary)?.endpoints[0]
}

export const aibrixMetricsProducer: PluginType = {
  type: TYPE,
  kinds: ['producer', 'response-body'],
  stability: 'beta',
  create: ({ name, parameters }) => new AibrixMetricsProducer(name, decodeParameters(parameters, { metricsExtractorName: text('core-metrics-extractor') }).metricsExtractorName),
}

