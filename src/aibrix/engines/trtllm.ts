import { itemsOf, memberOf } from '../../core/json-scan.ts'
import { BodyError, edited, valueKindAt } from './body-edit.ts'
import { mergeableBody, prefillBody } from './prefill-body.ts'
import type { EngineProtocol } from './protocol.ts'
import { memberBytes } from './vllm.ts'

/** TensorRT-LLM: the context server's disaggregated_params go on to the generation server. (AIBrix: trtllm) */
export const trtllm: EngineProtocol = {
  engine: 'trtllm',
  isAsync: false,
  prepare: (body, _prefill, ids) => ({
    prefill: prefillBody(body, [['disaggregated_params', `{"request_type":"context_only","disagg_request_id":${ids.disaggRequestId()}}`]], {
      set: [['max_tokens', '1'], ['stream', 'false']],
      drop: ['stream_options', 'min_tokens', 'max_completion_tokens'],
    }),
    decode: body,
  }),
  merge: (decodeBody, reply, _prefill, path) => {
    const params = memberBytes(reply, 'disaggregated_params') ?? firstChoiceParams(reply)
    if (params === undefined) return decodeBody
    if (valueKindAt(params, 0) !== 'object') throw new BodyError('disaggregated_params of the prefill reply is not an object')
    const decoder = new TextDecoder()
    const set: [string, string][] = [['disaggregated_params', decoder.decode(edited(params, { set: [['request_type', '"generation_only"']] }))]]
    const ids = memberBytes(reply, 'prompt_token_ids')
    if (ids !== undefined && valueKindAt(ids, 0) === 'list') {
      if (path === '/v1/completions') set.push(['prompt', decoder.decode(ids)])
      else if (path === '/v1/chat/completions') set.push(['prompt_token_ids', decoder.decode(ids)])
    }
    return edited(mergeableBody(decodeBody), { set })
  },
}

/** disaggregated_params of the first choice; undefined where there are none. */
const firstChoiceParams = (reply: Uint8Array): Uint8Array | undefined => {
  const text = new TextDecoder('latin1').decode(reply)
  const choices = memberOf(text, text.indexOf('{'), 'choices')
  if (choices === undefined || valueKindAt(reply, choices.start) !== 'list') return undefined
  const [first] = itemsOf(text, choices.start)
  return first === undefined || valueKindAt(reply, first) !== 'object' ? undefined : memberBytes(reply, 'disaggregated_params', first)
}

/** From when milliseconds count: 2023-01-01. */
const EPOCH_MS = 1_672_531_200_000
const MS_MAX = 2 ** 41 - 1
const MACHINES = 1024
const COUNTER_MASK = 4095n
/** Ids below this belong to the servers themselves. */
const OWN_IDS = 1n << 42n
const RANGE = (1n << 63n) - 1n - OWN_IDS

/** Whether a router may have this machine id. */
export const isMachineId = (id: number): boolean => Number.isInteger(id) && id >= 0 && id < MACHINES

/**
 * An id of a disaggregated request: milliseconds, machine and counter side by side, folded into [2^42, 2^63 - 1).
 * (AIBrix: disagg_request_id)
 * @param nowMs milliseconds since the Unix epoch
 */
export const disaggRequestId = (nowMs: number, machine: number, counter: number): bigint => {
  const ms = BigInt(Math.min(MS_MAX, Math.max(0, nowMs - EPOCH_MS)))
  return (((ms << 22n) | (BigInt(machine) << 12n) | (BigInt(counter) & COUNTER_MASK)) % RANGE) + OWN_IDS
}
