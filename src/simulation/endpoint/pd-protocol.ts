import { isObject } from './generation-request.ts'
import type { GenerationRequest, JsonObject } from './generation-request.ts'
import type { Engine } from './exposition.ts'
import type { Role, WorkKind } from './role.ts'

/**
 * How the engines hand a prompt's KV from the endpoint that prefills to the one that decodes. What goes over a network
 * of its own in a real fleet is a note in this process: which prompts are prefilled and wait to be fetched.
 */
export class Handovers {
  readonly #ready = new Set<string>()
  readonly #waiting = new Map<string, () => void>()

  /** A prefill is done: whoever waits for it may fetch it. */
  offer(key: string): void {
    const fetch = this.#waiting.get(key)
    this.#waiting.delete(key)
    if (fetch === undefined) this.#ready.add(key)
    else fetch()
    // A prefill that nobody fetches is given up in a real engine too.
    if (this.#ready.size > READY_MAX) for (const oldest of this.#ready) return void this.#ready.delete(oldest)
  }

  /** Takes a prefill that is done; false where there is none. */
  take(key: string): boolean {
    return this.#ready.delete(key)
  }

  /** Waits for a prefill, as long as `signal` lets it; false when that ended the wait. */
  async fetch(key: string, signal: AbortSignal): Promise<boolean> {
    if (this.take(key)) return true
    if (signal.aborted) return false
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.#waiting.set(key, () => resolve(true))
    const leave = (): void => {
      this.#waiting.delete(key)
      resolve(false)
    }
    signal.addEventListener('abort', leave, { once: true })
    const came = await promise
    signal.removeEventListener('abort', leave)
    return came
  }
}

const READY_MAX = 65_536

/** Shared by the endpoints of a process, which are each other's only peers. */
export const handovers: Handovers = new Handovers()

/** SGLang's meeting point; digits as they stand, since they do not fit a double. */
export function bootstrapRoom(text: string): string | undefined {
  return /"bootstrap_room"\s*:\s*(\d+)/.exec(text)?.[1]
}

/** TensorRT-LLM's name of a prefilled context, digits as they stand. */
export function contextId(text: string): string | undefined {
  return /"ctx_request_id"\s*:\s*(\d+)/.exec(text)?.[1]
}

/** What the body says the request is to this endpoint; undefined where it says nothing. */
export function stageIn(request: GenerationRequest, role: Role, room: string | undefined): WorkKind | undefined {
  const { body, kvTransfer, maxTokens, stream } = request
  if (room !== undefined) return role === 'prefill' ? 'prefill' : 'decode'
  const params = body['disaggregated_params']
  if (isObject(params)) return params['request_type'] === 'context_only' ? 'prefill' : 'decode'
  if (kvTransfer?.['do_remote_decode'] === true) return 'prefill'
  if (kvTransfer?.['do_remote_prefill'] === true || isObject(body['disagg_prefill_resp'])) return 'decode'
  // A connector that adds nothing to the body: such an endpoint does nothing else with one token.
  return role === 'prefill' && maxTokens === 1 && !stream ? 'prefill' : undefined
}

/** What a prefill answers besides the usual, by engine: where its KV lies, and of which context it is. */
export function prefillExtra(engine: Engine, place: { readonly host: string; readonly port: number; readonly name: string }, blocks: number, id: string): JsonObject {
  if (engine === 'sglang') return {}
  if (engine === 'trtllm-serve') {
    return { disaggregated_params: { request_type: 'context_only', ctx_request_id: raw(id), first_gen_tokens: [0], opaque_state: `${place.host}:${place.port}` } }
  }
  return {
    kv_transfer_params: {
      do_remote_prefill: true,
      do_remote_decode: false,
      remote_engine_id: place.name,
      remote_block_ids: Array.from({ length: blocks }, (_, block) => block),
      remote_host: place.host,
      remote_port: place.port,
    },
  }
}

/** Digits that JSON.stringify writes as they are. */
const raw = (digits: string): unknown => (JSON as unknown as { rawJSON(text: string): unknown }).rawJSON(digits)

let contexts = 0n

/** Above 2^53, so that whoever passes it through a double is found out. */
export function newContextId(): string {
  contexts += 1n
  return String((1n << 60n) + contexts)
}
