import type { Detector, Filter, PluginContext, PluginType, Services, TypedName } from '../../../core/contract.ts'
import { durationMs } from '../../../core/duration.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { millis, type Instant } from '../../../core/instant.ts'
import { decodeParametersOf, int, number, ParameterError } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'
import { keep } from '../../filter/keep.ts'

const TYPE = 'utilization-detector'

const FIELDS = {
  queueDepthThreshold: int(5),
  kvCacheUtilThreshold: number(0.8),
  metricsStalenessThreshold: durationMs(200),
  headroom: number(0),
}

export interface UtilizationDetectorSettings {
  /** Waiting requests at which an endpoint is full. */
  readonly queueDepthThreshold: number
  /** Fraction of the cache at which an endpoint is full. */
  readonly kvCacheUtilThreshold: number
  /** Older metrics count as none. */
  readonly metricsStalenessMs: number
  /** How far beyond full the filter lets an endpoint go: 0.2 is 20 %. */
  readonly headroom: number
}

/**
 * Judges by what endpoints report: the mean of max(waiting / threshold, cache / threshold), where stale ones count 1. As a
 * filter it keeps fresh endpoints under both thresholds, all when none is left. (llm-d: utilization-detector)
 */
export class UtilizationDetector implements Detector, Filter {
  readonly typedName: TypedName
  readonly settings: UtilizationDetectorSettings
  private readonly staleAfter: number
  private services: Services | undefined = undefined
  private staleTold = -1

  constructor(name: string, settings: UtilizationDetectorSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    this.staleAfter = millis(settings.metricsStalenessMs)
  }

  setup(services: Services): void {
    this.services = services
  }

  saturation(endpoints: readonly Endpoint[], now: Instant): number {
    const { queueDepthThreshold, kvCacheUtilThreshold } = this.settings
    let sum = 0
    let stale = 0
    for (const endpoint of endpoints) {
      if (this.isStale(endpoint, now)) stale += 1
      else sum += Math.max(endpoint.waitingQueueSize / queueDepthThreshold, endpoint.kvCacheUsage / kvCacheUtilThreshold)
    }
    this.tellStale(stale)
    return endpoints.length === 0 ? 1 : (sum + stale) / endpoints.length
  }

  filter(_request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    const { queueDepthThreshold, kvCacheUtilThreshold, headroom } = this.settings
    if (this.services === undefined) throw new Error(`${TYPE}: setup() was not called`)
    const now = this.services.now()
    const waitingLimit = queueDepthThreshold * (1 + headroom)
    const usageLimit = kvCacheUtilThreshold * (1 + headroom)
    const kept = keep(
      candidates,
      (endpoint) => !this.isStale(endpoint, now) && endpoint.waitingQueueSize < waitingLimit && endpoint.kvCacheUsage < usageLimit,
    )
    return kept.length === 0 ? candidates : kept
  }

  private isStale(endpoint: Endpoint, now: Instant): boolean {
    return endpoint.heardAt === 0 || now - endpoint.heardAt > this.staleAfter
  }

  private tellStale(stale: number): void {
    if (stale === this.staleTold) return
    this.staleTold = stale
    this.services?.observe({ kind: 'gauge', name: 'flow_control_stale_endpoints', labels: { detector: this.typedName.name }, value: stale })
  }
}

const settingsOf = (context: PluginContext): UtilizationDetectorSettings => {
  const given = decodeParametersOf('failed to unmarshal utilization detector config: ', context.parameters, FIELDS)
  const faults: string[] = []
  if (given.queueDepthThreshold <= 0) faults.push(`queueDepthThreshold must be strictly positive, got ${given.queueDepthThreshold}`)
  if (given.kvCacheUtilThreshold <= 0 || given.kvCacheUtilThreshold > 1) {
    faults.push(`kvCacheUtilThreshold must be in (0.0, 1.0], got ${given.kvCacheUtilThreshold}`)
  }
  if (given.metricsStalenessThreshold <= 0) faults.push(`metricsStalenessThreshold must be strictly positive, got ${given.metricsStalenessThreshold} ms`)
  if (given.headroom < 0) faults.push(`headroom must be a non-negative value, got ${given.headroom}`)
  if (faults.length > 0) throw new ParameterError(`invalid utilization detector configuration: ${faults.join('; ')}`)
  if (given.headroom > 1) context.warn(`${TYPE}: headroom ${given.headroom} is ${given.headroom * 100} %; it is a fraction, not a percentage`)
  const { metricsStalenessThreshold, ...rest } = given
  return { ...rest, metricsStalenessMs: metricsStalenessThreshold }
}

export const utilizationDetector: PluginType = {
  type: TYPE,
  kinds: ['detector', 'filter'],
  stability: 'beta',
  create: (context) => new UtilizationDetector(context.name, settingsOf(context)),
}
