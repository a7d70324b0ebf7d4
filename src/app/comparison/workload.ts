import type { Buffer } from 'node:buffer'
import { blockKeys, chatBody, completeTiming, parseGenerationRequest, PrefixCeiling } from '../../simulation/index.ts'
import type { EndpointTiming, TraceRequest, VirtualRequest } from '../../simulation/index.ts'

/** A request of the trace as it will be sent, and as a model server will see it. */
export interface PlannedRequest {
  readonly atMs: number
  /** The body, made when it is wanted: all of them at once would take much memory. */
  body(): Buffer
  readonly work: VirtualRequest
}

/** What is played, the same for every policy. */
export interface Workload {
  readonly model: string
  readonly requests: readonly PlannedRequest[]
  readonly ceiling: PrefixCeiling
}

export interface WorkloadOptions {
  /** Divides the arrival times. */
  readonly speed: number
  /** Output tokens are cut to this. */
  readonly maxOutput: number
  readonly timing: Partial<EndpointTiming>
}

const MODEL = 'sim-model'

/** Turns a trace into requests with times in ms from the first; `progress` is told how many are done. */
export const workloadOf = (trace: readonly TraceRequest[], { speed, maxOutput, timing }: WorkloadOptions, progress: (done: number) => void): Workload => {
  const { blockTokens } = completeTiming(timing)
  const plan = { model: MODEL, imageShare: 0, maxOutput, salt: '' }
  const ceiling = new PrefixCeiling()
  const beginMs = trace[0]?.atMs ?? 0
  const requests = trace.map((request, index): PlannedRequest => {
    progress(index)
    ceiling.add(request)
    const body = (): Buffer => chatBody(request, plan)
    const { prompt, maxTokens } = parseGenerationRequest('chat', body().toString())
    return { atMs: (request.atMs - beginMs) / speed, body, work: { keys: blockKeys(prompt.bytes, blockTokens, MODEL), promptTokens: prompt.tokens, outputTokens: maxTokens } }
  })
  return { model: MODEL, requests, ceiling }
}
