import { memberOf } from '../../core/json-scan.ts'
import type { Pod } from '../pod.ts'
import { BodyError, edited, valueKindAt } from './body-edit.ts'
import { connectorOf } from './connector.ts'
import { mergeableBody, prefillBody } from './prefill-body.ts'
import type { EngineProtocol } from './protocol.ts'

/** Asks a prefill to keep its blocks for a decode elsewhere. */
const REMOTE_DECODE =
  '{"do_remote_decode":true,"do_remote_prefill":false,"remote_engine_id":null,"remote_block_ids":null,"remote_host":null,"remote_port":null}'

/** vLLM: what the prefill says of its blocks goes into the decode's body, by connector. (AIBrix: vllm) */
export const vllm = (fleetConnector: string): EngineProtocol => ({
  engine: 'vllm',
  isAsync: false,
  prepare: (body, prefill) => {
    const connector = connectorOf(prefill, fleetConnector)
    return { prefill: prefillBody(body, connector === 'shfs' ? [['kv_transfer_params', REMOTE_DECODE]] : []), decode: body }
  },
  merge: (decodeBody, reply, prefill) => {
    const connector = connectorOf(prefill, fleetConnector)
    if (connector === 'mooncake') return decodeBody
    const body = mergeableBody(decodeBody)
    const text = new TextDecoder().decode(reply)
    if (connector === 'nixl') return edited(body, { set: [['disagg_prefill_resp', text.trim()]] })
    return withBlocks(body, reply, prefill)
  },
})

/** The decode body with the prefill's kv_transfer_params, told at which host to fetch. Without any it goes on without them. */
const withBlocks = (body: Uint8Array, reply: Uint8Array, prefill: Pod): Uint8Array => {
  const params = memberBytes(reply, 'kv_transfer_params')
  if (params === undefined) return body
  if (valueKindAt(params, 0) !== 'object') throw new BodyError('kv_transfer_params of the prefill reply is not an object')
  const told = edited(params, { set: [['remote_host', JSON.stringify(prefill.address)]] })
  return edited(body, { set: [['kv_transfer_params', new TextDecoder().decode(told)]] })
}

/** The bytes of a top-level member's value; undefined where it is not there. */
export const memberBytes = (object: Uint8Array, name: string, at = 0): Uint8Array | undefined => {
  const text = new TextDecoder('latin1').decode(object)
  const open = text.indexOf('{', at)
  const member = open < 0 ? undefined : memberOf(text, open, name)
  return member === undefined ? undefined : object.subarray(member.start, member.end)
}
