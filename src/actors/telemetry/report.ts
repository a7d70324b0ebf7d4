import type { Metrics } from '../../core/endpoint.ts'
import type { EndpointMetrics, ModelCount } from '../../wire/endpoint.ts'

/** What one endpoint told of itself at one moment; a metric that is absent keeps the value it had. */
export interface MetricsReport extends Partial<Metrics> {
  /** Rises within one life of the endpoint; absent where the way of transport keeps the order. */
  readonly sequence?: number
}

/** The report that an `EndpointMetrics` message carries. */
export const reportOf = (message: EndpointMetrics, sequence?: number): MetricsReport => {
  const report: { -readonly [K in keyof MetricsReport]: MetricsReport[K] } = {}
  if (sequence !== undefined) report.sequence = sequence
  if (message.waitingQueueSize !== undefined) report.waitingQueueSize = message.waitingQueueSize
  if (message.runningRequestsSize !== undefined) report.runningRequestsSize = message.runningRequestsSize
  if (message.kvCacheUsage !== undefined) report.kvCacheUsage = message.kvCacheUsage
  if (message.cacheBlockSize !== undefined) report.cacheBlockSize = message.cacheBlockSize
  if (message.cacheNumBlocks !== undefined) report.cacheNumBlocks = message.cacheNumBlocks
  if (message.maxActiveModels !== undefined) report.maxActiveModels = message.maxActiveModels
  if (message.modelsReported) {
    report.activeModels = counts(message.activeModels)
    report.waitingModels = counts(message.waitingModels)
  }
  if (message.custom.length > 0) report.custom = new Map(message.custom.map(({ name, value }) => [name, value]))
  return report
}

const counts = (list: readonly ModelCount[]): ReadonlyMap<string, number> => new Map(list.map(({ model, count }) => [model, count]))
