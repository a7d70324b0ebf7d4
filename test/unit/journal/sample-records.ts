import { emptyRequestReceived } from '../../../src/wire/index.ts'
import type { Decision, Record } from '../../../src/wire/index.ts'

export const START_US = 1_764_000_000_000_000
/** Records of one request: arrival with its decision, sent, started, ended. */
export const RECORDS_PER_REQUEST = 4

/** The record at a position of a made-up journal in which one request after the other runs, four records each. */
export function sampleRecord(position: number, blockKeyBytes: number = 0): Record {
  const step = (position - 1) % RECORDS_PER_REQUEST
  const request = position - step
  const atUs = START_US + position * 1000
  const record = (input: NonNullable<Record['input']>['input'], decisions: Decision[] = []): Record => ({ position, atUs, input: { input }, decisions })
  switch (step) {
    case 0:
      return record({ kind: 'requestReceived', value: arrival(request, blockKeyBytes) }, [decision(request)])
    case 1:
      return record({ kind: 'requestSent', value: { request, attempt: 1 } })
    case 2:
      return record({ kind: 'responseStarted', value: { request, attempt: 1, status: 200, streaming: true } })
    default:
      return record({ kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', usage: { promptTokens: 8000, completionTokens: 200, totalTokens: 8200, cachedTokens: 0, reasoningTokens: 0 }, status: 200, bodyBytes: 4096 } })
  }
}

export function sampleRecords(from: number, to: number): Record[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => sampleRecord(from + index))
}

/** The client's id of the request that arrives at a position. */
export function requestIdOf(request: number): string {
  return `request-${request}-6f0e-4a52-a0a8-65b7bb3b8a11`
}

function arrival(request: number, blockKeyBytes: number): ReturnType<typeof emptyRequestReceived> {
  const blocks = blockKeyBytes === 0 ? [] : [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(blockKeyBytes).fill(request % 251) }]
  return {
    ...emptyRequestReceived(),
    requestId: requestIdOf(request), frontDoor: 'http', proxied: true, api: 'chat', model: 'llama-3', targetModel: 'llama-3',
    bodyBytes: 32_000, streaming: true, parser: 'openai-parser',
    shape: { tokenized: true, problem: '', prompts: [{ tokens: 8000, media: [], blocks }] },
  }
}

function decision(request: number): Decision {
  return {
    request, attempt: 1, outcome: 'routed', primaryProfile: 'default', decisionType: 'decode-only', rejection: undefined, headers: [],
    receiptDigest: BigInt(request) * 0x9e37_79b9_7f4a_7c15n % 2n ** 64n,
    profiles: [{
      profile: 'default', stage: 'decode', picks: [{ endpoint: 'default/pod-1', score: 0.875 }], margin: 0.0625, runnerUp: 'default/pod-2',
      ties: 1, draws: [], candidates: 128, survivors: 128, error: '',
    }],
  }
}
