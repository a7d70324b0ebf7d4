import { randomBytes } from 'node:crypto'
import {
  commonEngine, disaggRequestId, engineProtocol, failureLabels, LABELS, PREFILL_FAILED, PREFILL_SUCCEEDED, validateSglangBody,
  type EngineProtocol, type FailureLabels, type LegIds, type Pod,
} from '../aibrix/index.ts'
import type { PrefillFailure, PrefillLeg, PrefillObserver } from '../adapters/http/prefill/leg.ts'
import type { SignalboxSettings } from '../config/signalbox/settings.ts'
import type { Observation } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { Engine } from '../engine/engine.ts'
import type { RoutedEffect } from '../engine/effects.ts'
import { AibrixPdProfileHandler, aibrixPdSettingsOf, type AibrixPdSettings } from '../plugins/profile-handler/aibrix-pd-profile-handler/index.ts'

/** llm-d's label of an engine, where AIBrix's is absent, and its names of them. */
const LLM_D_ENGINE = 'llm-d.ai/engine-type'
const LLM_D_NAMES: Readonly<Record<string, string>> = { sglang: 'sglang', 'trtllm-serve': 'trtllm' }

/** Whether the front door runs the prefills: where the setting says so, else where AIBrix's router does. */
export const prefillsInGateway = (handler: unknown, { pdExecution }: Pick<SignalboxSettings, 'pdExecution'>): boolean =>
  (pdExecution ?? (handler instanceof AibrixPdProfileHandler ? handler.settings.execution : 'headers')) === 'gateway'

/** A line of the log with its fields. */
type Tell = (fields: Readonly<Record<string, unknown>>, message: string) => void

/** Says once by which policies AIBrix's router goes, where it is there. (AIBrix: pd_router lines at the start) */
export const tellPolicies = (handler: unknown, tell: Tell): void => {
  if (!(handler instanceof AibrixPdProfileHandler)) return
  const { prefill, decode } = handler.policiesInForce
  tell({ policy: prefill.name() }, 'pd_router prefill score policy')
  tell({ policy: decode.name(), describe: decode.describe() }, 'pd_router decode score policy')
  const { tokenizer, blockBytes, blocksMax, timeToLiveMinutes, sweepSeconds } = handler.settings
  tell({ tokenizer, block_size: blockBytes, block_number: blocksMax, eviction_duration_mins: timeToLiveMinutes, eviction_interval_seconds: sweepSeconds }, 'prefix_cache_hash_table_configurations')
}

/** The prefills that the front door runs itself. */
export class Prefills {
  private readonly engine: Engine
  private readonly settings: AibrixPdSettings
  private readonly runs: boolean
  private readonly protocols = new Map<string, EngineProtocol>()
  private readonly ids: LegIds
  private counter = 0
  private checked: { readonly candidates: readonly Endpoint[]; readonly engine: string } | undefined = undefined

  constructor(engine: Engine, settings: SignalboxSettings) {
    this.engine = engine
    const { handler } = engine.view.pipeline
    this.settings = handler instanceof AibrixPdProfileHandler ? handler.settings : aibrixPdSettingsOf(undefined)
    this.runs = prefillsInGateway(handler, settings)
    this.ids = { bootstrapRoom, disaggRequestId: () => disaggRequestId(Date.now(), this.settings.trtMachineId, this.counter++) }
  }

  /** The prefill to be run for a reply. */
  readonly legOf = ({ stages }: RoutedEffect): PrefillLeg | undefined => {
    const id = this.runs ? stages.find(({ stage }) => stage === 'prefill')?.endpoints[0] : undefined
    const pod = id === undefined ? undefined : this.engine.view.fleet.get(id)?.endpoint
    if (pod === undefined) return undefined
    const protocol = this.protocolOf(pod)
    return {
      endpoint: { id: pod.id, hostPort: pod.hostPort },
      engine: protocol.engine,
      isAsync: protocol.isAsync,
      timeoutMs: this.settings.prefillTimeoutSeconds * 1000,
      prepare: (body) => protocol.prepare(body, pod, this.ids),
      merge: (decode, reply, path) => protocol.merge(decode, reply, pod, path),
    }
  }

  /** Why a body cannot be taken: SGLang's two legs could not be made of it. */
  readonly refuses = (body: Uint8Array): string | undefined => {
    if (!this.runs || this.fleetEngine() !== 'sglang') return undefined
    try {
      validateSglangBody(body)
      return undefined
    } catch (error) {
      return error instanceof Error ? error.message : String(error)
    }
  }

  /** Counts what prefills come to. (AIBrix: gateway_prefill_*) */
  observer(observe: (observation: Observation) => void, log: Tell = () => undefined): PrefillObserver {
    const pod = { gateway_pod: this.settings.gatewayPod }
    let outstanding = 0
    const count = (name: string, model: string, { status, statusCode }: FailureLabels): void =>
      observe({ kind: 'counter', name, labels: { ...pod, model, status, status_code: statusCode }, value: 1 })
    return {
      outstanding: (change) => {
        outstanding += change
        observe({ kind: 'gauge', name: 'gateway_prefill_outstanding_requests', labels: pod, value: outstanding })
      },
      callFailed: (model, failure) => count(FAILED, model, failureLabels(labelled(failure))),
      gaveUp: (requestId, model, endpoint, message) => log({ request_id: requestId, model_name: model, prefill_pod: endpoint }, `prefill_request_failed: ${message}`),
      requestFailed: (model) => count(FAILED, model, PREFILL_FAILED),
      succeeded: (model) => count('gateway_prefill_request_success_total', model, PREFILL_SUCCEEDED),
    }
  }

  private protocolOf(pod: Pod): EngineProtocol {
    const engine = engineNameOf(pod)
    let protocol = this.protocols.get(engine)
    if (protocol === undefined) {
      protocol = engineProtocol(engine, this.settings.kvConnectorType)
      this.protocols.set(engine, protocol)
    }
    return protocol
  }

  /** The engine that all candidates share; '' for none. Asked anew when the candidates changed. */
  private fleetEngine(): string {
    const candidates = this.engine.view.fleet.candidates()
    if (this.checked?.candidates !== candidates) this.checked = { candidates, engine: sharedEngine(candidates) }
    return this.checked.engine
  }
}

const FAILED = 'gateway_prefill_request_fail_total'

const engineNameOf = ({ labels }: Pod): string => labels.get(LABELS.engine) ?? LLM_D_NAMES[labels.get(LLM_D_ENGINE) ?? ''] ?? 'vllm'

const sharedEngine = (candidates: readonly Endpoint[]): string => {
  const [first] = candidates
  if (first === undefined) return ''
  try {
    commonEngine(candidates)
  } catch {
    return ''
  }
  return engineNameOf(first)
}

/** A failure of the call itself; what is wrong with its reply is not counted as one. */
const labelled = (failure: PrefillFailure): Parameters<typeof failureLabels>[0] =>
  failure.kind === 'status' ? failure : { kind: failure.kind === 'reply' ? 'transport' : failure.kind }

const ROOMS = (1n << 63n) - 1n

/** Uniform in [0, 2^63 - 1): draws again in the one case of 2^63 that is too much. */
const bootstrapRoom = (): bigint => {
  for (;;) {
    const room = randomBytes(8).readBigUInt64LE() >> 1n
    if (room < ROOMS) return room
  }
}
