import type { Services } from '../../../core/contract.ts'

/** Whose requests are counted: series differ by fairness id and priority. One object for all requests of a flow. */
export interface Flow {
  readonly fairnessId: string
  readonly priority: number
  /** By endpoint id. */
  readonly series: Map<string, Series>
}

interface Series {
  readonly labels: Readonly<Record<string, string>>
  requests: number
  tokens: number
}

/** Namespace and name of an endpoint id, split at its first "/". */
export const splitEndpointId = (id: string): { readonly namespace: string; readonly name: string } => {
  const slash = id.indexOf('/')
  return slash < 0 ? { namespace: '', name: id } : { namespace: id.slice(0, slash), name: id.slice(slash + 1) }
}

// Series at 0 are kept for the next request of their kind, up to so many: fairness ids are the clients' to choose.
const SERIES_KEPT_MAX = 4096

/** The gauges inflight_requests and inflight_tokens, by endpoint and flow. */
export class LoadGauges {
  private readonly producer: string
  private readonly flows = new Map<number, Map<string, Flow>>()
  private kept = 0

  constructor(producer: string) {
    this.producer = producer
  }

  /** The flow of this fairness id and priority. */
  flow(fairnessId: string, priority: number): Flow {
    let flows = this.flows.get(priority)
    if (flows === undefined) {
      flows = new Map()
      this.flows.set(priority, flows)
    }
    let flow = flows.get(fairnessId)
    if (flow === undefined) {
      flow = { fairnessId, priority, series: new Map() }
      flows.set(fairnessId, flow)
    }
    return flow
  }

  /** Changes both gauges of one endpoint and flow; negative numbers take off. */
  add(services: Services, endpointId: string, flow: Flow, requests: number, tokens: number): void {
    if (requests === 0 && tokens === 0) return
    let series = flow.series.get(endpointId)
    if (series === undefined) {
      series = { labels: this.labelsOf(endpointId, flow), requests: 0, tokens: 0 }
      flow.series.set(endpointId, series)
      this.kept += 1
    }
    series.requests += requests
    series.tokens += tokens
    services.observe({ kind: 'gauge', name: 'inflight_requests', labels: series.labels, value: series.requests })
    services.observe({ kind: 'gauge', name: 'inflight_tokens', labels: series.labels, value: series.tokens })
    if (series.requests === 0 && series.tokens === 0 && this.kept > SERIES_KEPT_MAX) this.forget(flow, endpointId)
  }

  private forget(flow: Flow, endpointId: string): void {
    flow.series.delete(endpointId)
    this.kept -= 1
    if (flow.series.size === 0) this.flows.get(flow.priority)?.delete(flow.fairnessId)
  }

  private labelsOf(endpointId: string, flow: Flow): Series['labels'] {
    const { namespace, name } = splitEndpointId(endpointId)
    return {
      endpoint_name: name,
      namespace,
      producer_name: this.producer,
      fairness_id: flow.fairnessId,
      priority: String(flow.priority),
    }
  }
}
