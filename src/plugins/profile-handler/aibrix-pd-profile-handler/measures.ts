import { durationBucket, engineOf, goDuration, LABELS, roleOf, tokenBucket, totalBucket, type FailureLabels } from '../../../aibrix/index.ts'
import type { Services } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { MICROS_PER_S, type Instant } from '../../../core/instant.ts'
import type { Request, Usage } from '../../../core/request.ts'
import type { Phases } from './phase-times.ts'

type Observe = Services['observe']

/** What the router counts of itself. (AIBrix: gateway metrics; durations go by their buckets' names) */
export class RouterMeasures {
  private readonly gatewayPod: string
  private readonly thresholdUs: number

  /** `firstTokenThreshold` is in seconds. */
  constructor(gatewayPod: string, firstTokenThreshold: number) {
    this.gatewayPod = gatewayPod
    this.thresholdUs = firstTokenThreshold * MICROS_PER_S
  }

  selected(observe: Observe, { targetModel }: Request, decode: Endpoint, prefill: Endpoint): void {
    count(observe, 'pd_selected_prefill_pod_total', this.podLabels(targetModel, prefill))
    count(observe, 'pd_selected_decode_pod_total', this.podLabels(targetModel, decode))
  }

  failed(observe: Observe, { targetModel }: Request, { status, statusCode }: FailureLabels): void {
    count(observe, 'gateway_prefill_request_fail_total', { gateway_pod: this.gatewayPod, model: targetModel, status, status_code: statusCode })
  }

  /** A response is whole: how long each phase took. Of a phase that nobody told there is nothing to count. */
  ended(observe: Observe, request: Request, decode: Endpoint, phases: Phases, usage: Usage | undefined, now: Instant): void {
    const pod = this.podLabels(request.targetModel, decode)
    const inBucket = (name: string, bucket: string): void => count(observe, `gateway_${name}_bucket_total`, { ...pod, bucket })
    const firstToken = request.streaming ? phases.firstToken : undefined
    const ttft = (firstToken ?? now) - request.receivedAt
    if (request.streaming) inBucket('ttft', durationBucket(ttft))
    inBucket('total_time', totalBucket(now - request.receivedAt))
    // Without a prefill AIBrix takes the time from nothing, which is below 0.
    const routing = phases.prefillStart === undefined ? 0 : phases.prefillStart - request.receivedAt
    inBucket('routing_time', durationBucket(routing))
    if (phases.prefillStart === undefined || phases.prefillEnd === undefined) return
    const times = { routing, prefill: phases.prefillEnd - phases.prefillStart, transfer: ttft - (phases.prefillEnd - request.receivedAt), ttft, decode: now - (firstToken ?? phases.prefillEnd) }
    inBucket('prefill_time', durationBucket(times.prefill))
    inBucket('kv_transfer_time', durationBucket(times.transfer))
    inBucket('decode_time', durationBucket(times.decode))
    const tokens = usage?.completionTokens ?? 0
    if (request.streaming && tokens > 0 && times.decode > 0) inBucket('tpot', durationBucket(times.decode / tokens))
    if (ttft > this.thresholdUs) this.slow(observe, request, times, usage)
  }

  private slow(observe: Observe, request: Request, times: Readonly<Record<'routing' | 'prefill' | 'transfer' | 'ttft' | 'decode', number>>, usage: Usage | undefined): void {
    count(observe, 'gateway_first_token_delay_over_1s_total', {
      gateway_pod: this.gatewayPod, model: request.targetModel, request_id: request.id,
      p_bucket: tokenBucket(usage?.promptTokens ?? 0), c_bucket: tokenBucket(usage?.completionTokens ?? 0),
      routing_time_taken: goDuration(times.routing), prefill_time_taken: goDuration(times.prefill), kv_transfer_time_taken: goDuration(times.transfer),
      ttft: goDuration(times.ttft), decode_time_taken: goDuration(times.decode),
    })
  }

  private podLabels(model: string, endpoint: Endpoint): Readonly<Record<string, string>> {
    return {
      engine_type: engineOf(endpoint) || 'vllm', gateway_pod: this.gatewayPod, model, namespace: endpoint.id.split('/')[0] ?? '', pod: nameOf(endpoint),
      role: roleOf(endpoint) ?? '', role_replica_index: endpoint.labels.get(LABELS.replicaIndex) ?? '', roleset: endpoint.labels.get(LABELS.roleset) ?? '',
    }
  }
}

/** An endpoint's name without its namespace. */
export const nameOf = ({ id }: Endpoint): string => id.slice(id.indexOf('/') + 1)

const count = (observe: Observe, name: string, labels: Readonly<Record<string, string>>): void => observe({ kind: 'counter', name, labels, value: 1 })
