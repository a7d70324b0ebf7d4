import type { Services, TypedName } from '../../core/contract.ts'

export type DecisionType = 'decode-only' | 'prefill-decode' | 'encode-decode' | 'encode-prefill-decode'

/** Which stages were used besides decode, as one word. (llm-d: decision types) */
export const decisionTypeOf = (encodeUsed: boolean, prefillUsed: boolean): DecisionType => {
  if (encodeUsed) return prefillUsed ? 'encode-prefill-decode' : 'encode-decode'
  return prefillUsed ? 'prefill-decode' : 'decode-only'
}

/**
 * Counts a decision under the family's old and its new name; a request without a model counts as "unknown".
 * (llm-d: llm_d_inference_scheduler_<family>_decision_total, llm_d_epp_<family>_decision_total)
 */
export const countDecision = (services: Services, family: 'disagg' | 'pd', plugin: TypedName, model: string, decision: DecisionType): void => {
  const labels = { model_name: model === '' ? 'unknown' : model, decision_type: decision }
  services.observe({ kind: 'counter', name: `llm_d_inference_scheduler_${family}_decision_total`, labels, value: 1 })
  services.observe({
    kind: 'counter',
    name: `${family}_decision_total`,
    labels: { plugin_name: plugin.name, plugin_type: plugin.type, ...labels },
    value: 1,
  })
}
