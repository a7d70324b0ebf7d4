import type { IncomingMessage, ServerResponse } from 'node:http'
import type { EndCause } from '../../core/request.ts'
import { announcesTooMuch, readBody } from './body-reader.ts'
import type { BodyResult } from './body-reader.ts'
import { sendError, sendErrorWhileReading } from './client-answer.ts'
import { Completion } from './completion.ts'
import type { Connections } from './connections.ts'
import type { ErrorAnswer } from './error-response.ts'
import { attemptHeaders, readClientHeaders } from './header-policy.ts'
import type { ClientHeaders } from './header-policy.ts'
import { prefillHeaders } from './prefill/headers.ts'
import type { PrefillFailure, PrefillLeg, PrefillObserver } from './prefill/leg.ts'
import { prefillRefusal, tellPrefillFailed } from './prefill/refusal.ts'
import { PrefillRunner } from './prefill/run.ts'
import type { PrefillRun } from './prefill/run.ts'
import type { Preparation, Prepared } from './preparation.ts'
import { upstreamBody } from './request-body.ts'
import { originForm } from './routes.ts'
import { requestInput } from './request-input.ts'
import type { Answer, AttemptFailure, DoorAnswer, ResponseEnd, Routed, SchedulerPort } from './scheduler-port.ts'
import { ResponseRelay } from './response-relay.ts'
import type { RelayListener } from './response-relay.ts'

/** What the exchanges of one front door share. */
export interface ExchangeParts {
  readonly scheduler: SchedulerPort
  readonly preparation: Preparation
  readonly connections: Connections
  readonly bodyLimitBytes: number
  /** Ask streams for their usage although the client did not, and keep the frame from it. */
  readonly forcesUsage: boolean
  readonly prefills: PrefillObserver
  /** The engine's key of an exchange has become known. */
  keyed(key: number, exchange: Exchange): void
  finished(exchange: Exchange, key: number | undefined): void
  /** A used connection turned out to be closed and the request went over a new one. */
  stale(): void
  failed(error: unknown): void
}

/** How an exchange ended, seen from the scheduler. */
type Ending =
  | { readonly kind: 'ended'; readonly attempt: number; readonly end: ResponseEnd }
  | { readonly kind: 'aborted'; readonly cause: EndCause }
  /** The scheduler knows it already, or never knew of the request. */
  | { readonly kind: 'untold' }

const UNTOLD: Ending = { kind: 'untold' }

/** Causes after which another endpoint may be asked, as long as the client has no byte. */
const RETRYABLE: ReadonlySet<AttemptFailure> = new Set(['connect', 'reset', 'truncated', 'unavailable'])

/** One request of a client: from its head to the last byte of its response. */
export class Exchange implements RelayListener {
  readonly requestId: string
  readonly #parts: ExchangeParts
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #path: string
  readonly #headers: ClientHeaders
  readonly #over: Completion<Ending>
  #key: number | undefined
  #isReceived = false
  #isAbortTold = false
  #body: Buffer | undefined
  #prepared: Prepared | undefined
  #relay: ResponseRelay | undefined
  #prefill: PrefillRunner | undefined
  /** Of the attempt that runs. */
  #route: Routed | undefined
  /** Ends what is done for the request beside its way to an endpoint. */
  readonly #leaving = new AbortController()

  /** `path` is the claimed path, without query. */
  constructor(parts: ExchangeParts, request: IncomingMessage, response: ServerResponse, path: string, requestId: string) {
    this.#parts = parts
    this.#request = request
    this.#response = response
    this.#path = path
    this.#headers = readClientHeaders(request.rawHeaders)
    this.requestId = requestId
    this.#over = new Completion((ending) => {
      this.#close(ending)
    })
    response.once('close', () => {
      this.#over.settle(this.#isReceived ? { kind: 'aborted', cause: 'client-disconnect' } : UNTOLD)
    })
  }

  /** `expectsContinue`: the client waits for a word before it sends its body. */
  start(expectsContinue: boolean): void {
    if (announcesTooMuch(this.#headers.all.get('content-length'), this.#parts.bodyLimitBytes)) {
      this.#refuse(this.#tooLarge(), true)
      return
    }
    if (expectsContinue) this.#response.writeContinue()
    readBody(this.#request, this.#parts.bodyLimitBytes, (result) => {
      this.#read(result)
    })
  }

  /** Ends it with an answer of its owner's. The scheduler is told only where `cause` is given. */
  stop(answer: DoorAnswer, cause?: EndCause): void {
    if (this.#over.isSettled) return
    const relay = this.#relay
    if (relay?.hasBegun === true) relay.breakOff(answer)
    else this.#sendError(answer)
    this.#over.settle(cause === undefined || !this.#isReceived ? UNTOLD : { kind: 'aborted', cause })
  }

  #read(result: BodyResult): void {
    if (this.#over.isSettled) return
    if (result === 'left') {
      this.#over.settle(UNTOLD)
      this.#response.destroy()
      return
    }
    if (result === 'too-large') {
      this.#refuse(this.#tooLarge(), true)
      return
    }
    const prepared = this.#parts.preparation.prepare(this.#path, this.#headers.all, result)
    if (prepared.kind === 'refused') {
      this.#refuse(prepared, false)
      return
    }
    this.#body = result
    this.#prepared = prepared
    this.#receive(prepared, result.length)
  }

  #receive(prepared: Prepared, bodyBytes: number): void {
    this.#isReceived = true
    const input = requestInput(this.requestId, this.#headers, prepared, bodyBytes, this.#parts.preparation.receives)
    const answer = this.#parts.scheduler.receive(input, (key) => {
      this.#accepted(key)
    })
    this.#await(answer)
  }

  #await(answer: Promise<Answer>): void {
    answer.then(
      (value) => {
        this.#answered(value)
      },
      (error: unknown) => {
        this.#parts.failed(error)
        this.stop({ status: 500, code: 'Internal', reason: '', message: 'the scheduler failed' }, 'error')
      },
    )
  }

  #accepted(key: number): void {
    if (this.#key !== undefined) return
    this.#key = key
    if (this.#over.isSettled) this.#tell(() => this.#tellAborted())
    else this.#keep(key)
  }

  #keep(key: number): void {
    this.#parts.keyed(key, this)
    this.#prepared?.count?.(key, this.#leaving.signal)
  }

  #answered(answer: Answer): void {
    if (answer.kind === 'rejected' && this.#key === undefined) this.#key = answer.request
    else if (answer.kind === 'routed') this.#accepted(answer.request)
    if (this.#over.isSettled) return
    if (answer.kind === 'rejected') this.stop(answer)
    else this.#send(answer)
  }

  #send(route: Routed): void {
    const { connections, forcesUsage } = this.#parts
    const prepared = this.#prepared
    const original = this.#body
    if (prepared === undefined || original === undefined) return
    const isRewritten = prepared.rewritable && route.targetModel !== '' && route.targetModel !== prepared.model
    const change = { model: isRewritten ? route.targetModel : undefined, forceUsage: forcesUsage }
    const { bytes, hidesUsage } = upstreamBody(original, prepared.api, prepared.streaming, change)
    const names = isRewritten && prepared.model !== '' ? { from: route.targetModel, to: prepared.model } : undefined
    const edits = { hidesUsage, names }
    const headers = attemptHeaders(this.#headers.forwarded, route, this.requestId, hidesUsage || names !== undefined ? CODED : undefined)
    this.#route = route
    this.#relay = new ResponseRelay(this.#response, route, { requestId: this.requestId, api: prepared.api, streams: prepared.streaming, edits, isSglang: prepared.parser === SGLANG_PARSER }, this)
    const relay = this.#relay
    const path = originForm(this.#request.url ?? this.#path)
    const decode = (body: Buffer): void => {
      if (!this.#over.isSettled) relay.start(connections, { hostPort: route.endpoint.hostPort, method: 'POST', path, headers, body }, this.#parts.stale)
    }
    if (route.prefill === undefined) decode(bytes)
    else this.#prefillFor(route, route.prefill, { model: prepared.model, path, body: bytes }, decode)
  }

  /** Runs the prefill; the decode goes when it can. */
  #prefillFor(route: Routed, leg: PrefillLeg, request: Pick<PrefillRun, 'model' | 'path' | 'body'>, decode: (body: Buffer) => void): void {
    const { connections, prefills, scheduler, stale } = this.#parts
    this.#prefill = new PrefillRunner({ ...request, requestId: this.requestId, leg, headers: prefillHeaders(this.#headers.forwarded, this.requestId) }, prefills, {
      decode,
      prefillEnded: (status) => this.#tell(() => scheduler.prefillEnded?.(route.request, route.attempt, status)),
      prefillFailed: (message, cause) => this.#prefillFailed(route, leg, message, cause),
    })
    this.#prefill.start(connections, stale)
  }

  /** Without its prefill the request is over, unless the decode speaks already or another attempt has taken its place. */
  #prefillFailed(route: Routed, leg: PrefillLeg, message: string, cause: PrefillFailure | 'body'): void {
    if (this.#over.isSettled || this.#route !== route || this.#relay?.hasBegun === true) return
    this.#relay?.abort()
    const answer = prefillRefusal(this.requestId, route, leg, message)
    if (cause === 'body') this.stop(answer, 'error')
    else tellPrefillFailed(this.#parts.scheduler, route, leg, cause).then(() => this.stop(answer), () => this.stop(answer, 'error'))
  }

  sent(): void {
    const route = this.#route
    if (route !== undefined) this.#tell(() => this.#parts.scheduler.sent(route.request, route.attempt))
  }

  started(status: number, streaming: boolean): void {
    const route = this.#route
    this.#body = undefined
    if (route !== undefined) this.#tell(() => this.#parts.scheduler.started(route.request, route.attempt, status, streaming))
  }

  progressed(tokens: number): void {
    const route = this.#route
    if (route !== undefined) this.#tell(() => this.#parts.scheduler.progressed(route.request, tokens))
  }

  ended(end: ResponseEnd): void {
    if (this.#route !== undefined) this.#over.settle({ kind: 'ended', attempt: this.#route.attempt, end })
  }

  failed(cause: AttemptFailure, status: number): void {
    const route = this.#route
    if (route === undefined) return
    const isRetryable = this.#relay?.hasBegun !== true && RETRYABLE.has(cause)
    this.#await(this.#parts.scheduler.attemptFailed(route.request, route.attempt, route.endpoint.id, cause, status, isRetryable))
  }

  refused(message: string): void {
    this.stop({ status: 400, code: 'BadRequest', reason: '', message }, 'error')
  }

  /** An error of the scheduler's must not look like one of the endpoint's, in whose callbacks this runs. */
  #tell(report: () => void): void {
    try {
      report()
    } catch (error) {
      this.#parts.failed(error)
    }
  }

  #refuse(answer: ErrorAnswer, isReading: boolean): void {
    if (isReading) sendErrorWhileReading(this.#response, this.requestId, answer)
    else this.#sendError(answer)
    this.#over.settle(UNTOLD)
  }

  #sendError(answer: ErrorAnswer): void {
    sendError(this.#response, this.requestId, answer)
  }

  #tooLarge(): ErrorAnswer {
    const message = `the body is larger than ${this.#parts.bodyLimitBytes} bytes`
    return { status: 413, code: 'body_too_large', message }
  }

  #close(ending: Ending): void {
    this.#leaving.abort()
    const key = this.#key
    if (ending.kind === 'ended' && key !== undefined) this.#tell(() => this.#parts.scheduler.ended(key, ending.attempt, ending.end))
    else if (ending.kind === 'aborted') this.#tell(() => this.#tellAborted())
    this.#body = undefined
    if (this.#route?.prefill?.isAsync !== true) this.#prefill?.cancel()
    try {
      this.#relay?.abort()
    } finally {
      this.#parts.finished(this, key)
    }
  }

  /** Once, and as soon as the scheduler's key of the request is known. */
  #tellAborted(): void {
    const ending = this.#over.value
    if (this.#isAbortTold || this.#key === undefined || ending?.kind !== 'aborted') return
    this.#isAbortTold = true
    this.#parts.scheduler.aborted(this.#key, ending.cause)
  }
}

/** llm-d's name of the parser of SGLang's own API. */
const SGLANG_PARSER = 'sglanghttp'

/** Only a response that is not compressed can be edited. */
const CODED: ReadonlySet<string> = new Set(['accept-encoding'])
