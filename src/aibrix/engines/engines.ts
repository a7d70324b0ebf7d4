import { prefillBody } from './prefill-body.ts'
import type { EngineProtocol } from './protocol.ts'
import { sglang } from './sglang.ts'
import { trtllm } from './trtllm.ts'
import { vllm } from './vllm.ts'

/** What an engine that is not known is treated as: a prefill of one token, and nothing is handed on. (AIBrix: default handler) */
const plain = (engine: string): EngineProtocol => ({
  engine,
  isAsync: false,
  prepare: (body) => ({ prefill: prefillBody(body, []), decode: body }),
  merge: (decodeBody) => decodeBody,
})

/** The protocol of an engine, by the value of its label; `fleetConnector` is the KV connector of vLLM pods without a label. */
export const engineProtocol = (engine: string, fleetConnector: string): EngineProtocol => {
  switch (engine) {
    case 'vllm':
      return vllm(fleetConnector)
    case 'sglang':
      return sglang
    case 'trtllm':
      return trtllm
    default:
      return plain(engine)
  }
}
