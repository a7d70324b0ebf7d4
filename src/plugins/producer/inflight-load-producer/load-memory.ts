import type { PeerHolding } from '../../../core/contract.ts'
import { Endpoint } from '../../../core/endpoint.ts'
import { loadJson, saveJson } from '../../saved-json.ts'

/** What the producer saves: [id, life] of endpoints that had load, and per request what it holds. */
export interface LoadMemory {
  readonly seen: readonly (readonly [id: string, life: number])[]
  readonly requests: readonly RememberedRequest[]
  readonly peers: readonly (readonly [replica: string, assignments: readonly PeerHolding[]])[]
}

export interface RememberedRequest {
  readonly key: number
  readonly fairnessId: string
  readonly priority: number
  readonly held: readonly RememberedAssignment[]
}

interface RememberedAssignment {
  readonly profile: string
  readonly endpoint: string
  readonly life: number
  readonly promptTokens: number
  readonly outputTokens: number
  readonly promptHeld: boolean
}

export const encodeLoadMemory = (memory: LoadMemory): Uint8Array => saveJson(memory)

/** Throws `state-invalid` on bytes that this producer did not write. */
export const decodeLoadMemory = (bytes: Uint8Array): LoadMemory => loadJson(bytes, 'an inflight-load-producer', isLoadMemory)

const isLoadMemory = (value: unknown): value is LoadMemory => {
  const memory = value as Partial<LoadMemory> | null | undefined
  return Array.isArray(memory?.seen) && Array.isArray(memory.requests) && Array.isArray(memory.peers)
}

/** Stands for an endpoint that has left while requests on it still run: only its id and life matter. */
export const departed = (id: string, life: number): Endpoint =>
  new Endpoint({ id, address: '', port: 0, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '' }, -1, life)
