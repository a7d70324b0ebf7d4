import { endsInClaimed } from '../../../src/adapters/http/preparation.ts'
import type { Preparation } from '../../../src/adapters/http/preparation.ts'
import type { Destination, SchedulerPort } from '../../../src/adapters/http/scheduler-port.ts'

/** Always the one endpoint, at once: what is left is the cost of the door. */
export const schedulingFor = (endpoint: Destination): { readonly scheduler: SchedulerPort; readonly preparation: Preparation } => {
  let next = 1
  const nothing = (): void => undefined
  return {
    scheduler: {
      receive: (input, accepted) => {
        const request = next++
        accepted(request)
        return Promise.resolve({
          kind: 'routed', request, attempt: 1, endpoint, fallbacks: [], headers: [], targetModel: input.targetModel, stages: { decode: endpoint.id },
        })
      },
      sent: nothing,
      started: nothing,
      progressed: nothing,
      ended: nothing,
      aborted: nothing,
      attemptFailed: (request) => Promise.resolve({ kind: 'rejected', request, status: 502, code: 'BadGateway', reason: '', message: 'the endpoint failed' }),
    },
    preparation: {
      claims: (path) => endsInClaimed(path),
      prepare: (_path, _headers, body) => {
        const { model, stream } = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString()) as { model: string; stream: boolean }
        return {
          kind: 'prepared', api: 'chat', parser: 'bench', model, rewritable: true, streaming: stream, maxOutputTokens: undefined,
          shape: { tokenized: false, prompts: [], problem: '' },
        }
      },
    },
  }
}
