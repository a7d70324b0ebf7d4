import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { Agent } from 'undici'
import { ApiError } from './api-error.ts'
import { blockKeys, textKey } from './block-hash.ts'
import { exposition } from './exposition.ts'
import type { Engine } from './exposition.ts'
import { parseGenerationRequest } from './generation-request.ts'
import type { Api, GenerationRequest, JsonObject } from './generation-request.ts'
import { HttpAnswer } from './http-answer.ts'
import { sendText } from './http-body.ts'
import { RENDER_PATHS, rendering, tokenIdsOf } from './render-routes.ts'
import { bootstrapRoom, contextId, handovers, newContextId, prefillExtra, stageIn } from './pd-protocol.ts'
import { API_PATHS, responseFormat } from './response-format.ts'
import { decodes, encodes } from './role.ts'
import type { Role, WorkKind } from './role.ts'
import type { Service } from './service.ts'
import { LegFailure, legsOf, runLegs } from './sidecar.ts'
import type { LegResults } from './sidecar.ts'

/** Who the endpoint is. */
export interface Identity {
  readonly role: Role
  readonly engine: Engine
  readonly model: string
  readonly adapters: readonly string[]
  /** Where it listens, once it does. */
  readonly place: () => { readonly host: string; readonly port: number; readonly name: string }
}

const NO_LEGS: LegResults = { kvTransfer: undefined, cachedTokens: 0, mediaReady: false }

/** The inference API of an endpoint: model server and, where its role decodes, the sidecar in front of it. */
export class InferenceRoutes {
  readonly #service: Service
  readonly #identity: Identity
  readonly #agent = new Agent({ headersTimeout: 0, bodyTimeout: 0 })
  /** Decodes that wait for their prefill to meet them. */
  #meeting = 0
  readonly #startedSeconds = Math.floor(Date.now() / 1000)

  constructor(service: Service, identity: Identity) {
    this.#service = service
    this.#identity = identity
  }

  get model(): string {
    return this.#identity.model
  }

  serves(path: string): boolean {
    return API_PATHS.has(path)
  }

  async close(): Promise<void> {
    await this.#agent.destroy()
  }

  models(): JsonObject {
    const { model, adapters } = this.#identity
    const entry = (id: string, parent: string | null): JsonObject => ({
      id, object: 'model', created: this.#startedSeconds, owned_by: 'simulation', root: id, parent,
    })
    return { object: 'list', data: [entry(model, null), ...adapters.map((adapter) => entry(adapter, model))] }
  }

  metrics(): string {
    const service = this.#service
    const { engine, model, adapters, role } = this.#identity
    const loras = service.adapters()
    return exposition(engine, {
      model,
      running: service.model.running,
      waiting: service.model.waiting,
      kvUsage: service.model.usedBlocks / service.timing.blockCount,
      blockTokens: service.timing.blockTokens,
      blockCount: service.timing.blockCount,
      loraMax: adapters.length,
      runningLoras: loras.running,
      waitingLoras: loras.waiting,
      nowSeconds: Date.now() / 1000,
      promptTokens: service.promptTokens,
      generationTokens: service.generationTokens,
      cacheQueries: service.cacheQueries,
      cacheHits: service.cacheHits,
      finished: service.served.encode + service.served.prefill + service.served.decode + service.served.plain,
      aborted: service.aborted,
      executed: service.executed,
      prefillPrealloc: role === 'prefill' ? service.model.waiting : 0,
      decodePrealloc: decodes(role) ? this.#meeting + service.model.waiting : 0,
      generationRate: service.generationRate(),
      firstToken: service.firstToken,
      tokenInterval: service.tokenInterval,
      requestTime: service.requestTime,
      queueTime: service.queueTime,
      prefillTime: service.prefillTime,
    })
  }

  /** Answers what the tokens of a request's prompt are, without serving it. */
  render(path: string, text: string): JsonObject | JsonObject[] {
    const request = parseGenerationRequest(RENDER_PATHS.get(path) as Api, text)
    this.#check(request)
    return rendering(request)
  }

  /** Serves one request to its end or until its client is gone. Throws an ApiError before anything was answered. */
  async infer(
    path: string, headers: IncomingHttpHeaders, text: string, response: ServerResponse, dropAfterTokens: number | undefined,
  ): Promise<void> {
    const request = parseGenerationRequest(API_PATHS.get(path) as Api, text)
    this.#check(request)
    const legs = legsOf(headers)
    const room = bootstrapRoom(text)
    if (!(await this.#handedOver(request, text, room, response))) return
    let results = NO_LEGS
    if (decodes(this.#identity.role) && (legs.prefiller !== undefined || legs.encoders.length > 0)) {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      try {
        results = await runLegs(request, path, legs, this.#agent, gone.signal)
      } catch (error) {
        if (!(error instanceof LegFailure)) throw error
        sendText(response, error.status, error.body, 'application/json')
        return
      }
    }
    if (!response.destroyed) this.#generate(request, results, response, dropAfterTokens, room)
  }

  /** Waits for the prefill that a decode goes on from; false when its client left before, or there is nothing to go on from. */
  async #handedOver(request: GenerationRequest, text: string, room: string | undefined, response: ServerResponse): Promise<boolean> {
    if (stageIn(request, this.#identity.role, room) !== 'decode') return true
    const context = contextId(text)
    if (room === undefined && context !== undefined && !handovers.take(context)) {
      throw new ApiError(400, 'BadRequestError', `no context ${context} is waiting to be generated from`)
    }
    if (room === undefined) return true
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    this.#meeting++
    try {
      return await handovers.fetch(room, gone.signal)
    } finally {
      this.#meeting--
    }
  }

  #check(request: GenerationRequest): void {
    const { model, adapters } = this.#identity
    if (request.model !== model && !adapters.includes(request.model)) {
      throw new ApiError(404, 'NotFoundError', `The model \`${request.model}\` does not exist.`)
    }
    if (this.#service.model.exceeds(request.prompt.tokens, request.maxTokens)) {
      const { blockTokens, blockCount } = this.#service.timing
      throw new ApiError(400, 'BadRequestError',
        `This model's maximum context length is ${blockTokens * blockCount} tokens; ` +
        `the prompt has ${request.prompt.tokens} and ${request.maxTokens} were asked for.`)
    }
  }

  #generate(request: GenerationRequest, legs: LegResults, response: ServerResponse, dropAfterTokens: number | undefined, room: string | undefined): void {
    const service = this.#service
    const { prompt } = request
    const kind = this.#kindOf(request, legs, room)
    const context = newContextId()
    const media = prompt.media.map((item) => item.key)
    const adapter = request.model === this.#identity.model ? undefined : request.model
    const answer = new HttpAnswer(response, {
      kind,
      adapter,
      format: responseFormat(request, randomUUID(), Math.floor(Date.now() / 1000)),
      stream: request.stream,
      promptKey: textKey(request.model) ^ (blockKeys(prompt.bytes, prompt.tokens, '')[0] as number),
      promptTokens: prompt.tokens,
      cachedTokens: legs.kvTransfer === undefined ? undefined : legs.cachedTokens,
      dropAfterTokens,
      extra: () => this.#extra(kind, prompt.tokens, prompt.media.map((item) => item.source), context),
    })
    const encodeOnly = kind === 'encode'
    const id = service.submit({
      content: { tokenIds: tokenIdsOf(prompt), adapter, places: prompt.places },
      keys: encodeOnly ? new Float64Array(0) : blockKeys(prompt.bytes, service.timing.blockTokens, request.model),
      promptTokens: encodeOnly ? 0 : prompt.tokens,
      outputTokens: request.maxTokens,
      remotePrefill: kind === 'decode',
      media,
      remoteMedia: request.mediaReady || legs.mediaReady,
    }, answer)
    if (kind === 'prefill') response.once('finish', () => handovers.offer(room ?? context))
    response.once('close', () => {
      if (!response.writableFinished) service.abort(id)
    })
  }

  #kindOf(request: GenerationRequest, legs: LegResults, room: string | undefined): WorkKind {
    if (legs.kvTransfer !== undefined) return 'decode'
    const told = stageIn(request, this.#identity.role, room)
    if (told !== undefined) return told
    const primed = request.maxTokens === 1 && !request.stream && request.prompt.media.length === 1
    return encodes(this.#identity.role) && primed ? 'encode' : 'plain'
  }

  /** What the next leg needs: where the KV blocks, or the media embeddings, lie. */
  #extra(kind: WorkKind, promptTokens: number, sources: readonly string[], context: string): JsonObject {
    const place = this.#identity.place()
    const { host, port } = place
    if (kind === 'prefill') return prefillExtra(this.#identity.engine, place, Math.ceil(promptTokens / this.#service.timing.blockTokens), context)
    if (kind !== 'encode') return {}
    const places = sources.map((source) => [textKey(source).toString(36), { peer_host: host, peer_port: port }] as const)
    return { ec_transfer_params: Object.fromEntries(places) }
  }
}
