import type { ClientHeaders } from './header-policy.ts'
import type { Prepared } from './preparation.ts'
import type { RequestInput } from './scheduler-port.ts'

const first = (headers: ReadonlyMap<string, string>, ...names: readonly string[]): string => {
  for (const name of names) {
    const value = headers.get(name)
    if (value !== undefined && value !== '') return value
  }
  return ''
}

/**
 * What the engine takes of a request: allow-listed headers, the body's shape and length, never the body. The target
 * model is the client's own wish (x-llm-d-model-name-rewrite), where the body's model can be replaced; the priority is
 * the engine's to find by the objective.
 */
export const requestInput = (requestId: string, headers: ClientHeaders, prepared: Prepared, bodyBytes: number): RequestInput => {
  const wished = first(headers.all, 'x-llm-d-model-name-rewrite', 'x-gateway-model-name-rewrite')
  return {
    requestId,
    frontDoor: 'http',
    proxied: true,
    api: prepared.api,
    model: prepared.model,
    targetModel: prepared.rewritable && wished !== '' ? wished : prepared.model,
    priority: 0,
    objective: first(headers.all, 'x-llm-d-inference-objective', 'x-gateway-inference-objective'),
    fairnessId: first(headers.all, 'x-llm-d-inference-fairness-id', 'x-gateway-inference-fairness-id'),
    headers: headers.journaled,
    bodyBytes,
    streaming: prepared.streaming,
    maxOutputTokens: prepared.maxOutputTokens,
    shape: prepared.shape,
    subset: undefined,
    parser: prepared.parser,
  }
}
