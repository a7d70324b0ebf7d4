import type { ServerResponse } from 'node:http'
import type { JsonObject } from './generation-request.ts'
import { outputToken } from './output-text.ts'
import type { ResponseFormat } from './response-format.ts'
import type { WorkKind } from './role.ts'
import type { Answer } from './service.ts'

/** What an answer needs besides the connection. */
export interface AnswerPlan {
  readonly kind: WorkKind
  readonly adapter: string | undefined
  readonly format: ResponseFormat
  readonly stream: boolean
  readonly promptKey: number
  readonly promptTokens: number
  /** Replaces the cached tokens that this endpoint saw (a prefill elsewhere counted them). */
  readonly cachedTokens: number | undefined
  /** The connection is reset after this many tokens. */
  readonly dropAfterTokens: number | undefined
  /** Members added to an answer that does not stream. */
  readonly extra: () => JsonObject
}

const STREAM_HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }

/** Writes one request's tokens to its connection, all that came at the same moment in one piece. */
export class HttpAnswer implements Answer {
  readonly kind: WorkKind
  readonly adapter: string | undefined
  readonly #response: ServerResponse
  readonly #plan: AnswerPlan
  #cachedTokens = 0
  #tokens = 0
  #text = ''
  #pending = ''
  #ended = false
  #dropped = false

  constructor(response: ServerResponse, plan: AnswerPlan) {
    this.kind = plan.kind
    this.adapter = plan.adapter
    this.#response = response
    this.#plan = plan
  }

  admitted(cachedTokens: number): void {
    this.#cachedTokens = this.#plan.cachedTokens ?? cachedTokens
  }

  token(): void {
    const { stream, format, dropAfterTokens, promptKey } = this.#plan
    if (dropAfterTokens !== undefined && this.#tokens >= dropAfterTokens) {
      this.#dropped = true
      return
    }
    const word = outputToken(promptKey, this.#tokens)
    if (stream) {
      if (this.#tokens === 0) this.#pending += format.begin()
      this.#pending += format.token(word)
    }
    this.#text += word
    this.#tokens++
  }

  finished(): void {
    this.#ended = true
  }

  flush(): void {
    const response = this.#response
    if (response.destroyed) return
    const { stream, format, promptTokens, extra } = this.#plan
    if (stream && !response.headersSent) response.writeHead(200, STREAM_HEADERS)
    if (this.#dropped) {
      this.#drop()
      return
    }
    const usage = { promptTokens, completionTokens: this.#tokens, cachedTokens: this.#cachedTokens }
    if (stream && this.#ended) {
      response.end(this.#pending + format.end(this.#text, usage))
    } else if (stream) {
      response.write(this.#pending)
    } else if (this.#ended) {
      const body = format.whole(this.#text, usage, extra())
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    }
    this.#pending = ''
  }

  /** What came before the fault still leaves, then the peer sees a reset. */
  #drop(): void {
    const { socket } = this.#response
    if (!this.#plan.stream || socket === null) {
      socket?.resetAndDestroy()
      return
    }
    this.#response.write(this.#pending, () => socket.resetAndDestroy())
    this.#pending = ''
  }
}
