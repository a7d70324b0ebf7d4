import type { ServerResponse } from 'node:http'
import type { JsonObject } from './generation-request.ts'
import { outputToken } from './output-text.ts'
import type { ResponseFormat, Usage } from './response-format.ts'
import type { WorkKind } from './role.ts'
import { HOLD_MS } from './service.ts'
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

/** Writes one request's tokens to its connection, those that came together in one piece. */
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
  #writtenMs = 0

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

  flush(now: boolean): boolean {
    const response = this.#response
    if (response.destroyed) return true
    if (this.#dropped) {
      this.#drop()
    } else if (!this.#plan.stream) {
      if (this.#ended) this.#writeWhole()
    } else if (this.#ended) {
      this.#beginStream()
      response.end(this.#pending + this.#plan.format.end(this.#text, this.#usage()))
    } else {
      const nowMs = performance.now()
      if (!now && nowMs - this.#writtenMs < HOLD_MS) return false
      this.#writtenMs = nowMs
      this.#beginStream()
      response.write(this.#pending)
    }
    this.#pending = ''
    return true
  }

  #beginStream(): void {
    if (!this.#response.headersSent) this.#response.writeHead(200, STREAM_HEADERS)
  }

  #writeWhole(): void {
    const body = this.#plan.format.whole(this.#text, this.#usage(), this.#plan.extra())
    this.#response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    this.#response.end(body)
  }

  #usage(): Usage {
    return { promptTokens: this.#plan.promptTokens, completionTokens: this.#tokens, cachedTokens: this.#cachedTokens }
  }

  /** What came before the fault still leaves, then the peer sees a reset. */
  #drop(): void {
    const { socket } = this.#response
    if (!this.#plan.stream || socket === null) {
      socket?.resetAndDestroy()
      return
    }
    this.#beginStream()
    this.#response.write(this.#pending, () => socket.resetAndDestroy())
  }
}
