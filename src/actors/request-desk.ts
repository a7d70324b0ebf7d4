import { filter } from 'rxjs'
import type { Denial } from '../core/contract.ts'
import type { SignalboxError } from '../core/errors.ts'
import type { RejectedEffect, RoutedEffect } from '../engine/effects.ts'
import type { EndCause, FailureCause, Input } from '../wire/input.ts'
import type { RequestReceived, RequestShape, Usage } from '../wire/request.ts'
import type { EngineActor } from './engine-actor.ts'

export type Reply = RoutedEffect | RejectedEffect

/** Ends a request's connection from the engine's side. */
export type GiveUp = (request: number, denial: Denial) => void

/**
 * Where front doors hand requests in: each gets a promise of its answer, and tells what becomes of it. The desk knows
 * nothing of protocols and keeps nothing but the answers that are awaited.
 */
export class RequestDesk {
  private readonly actor: EngineActor
  private readonly awaited = new Map<number, (reply: Reply) => void>()

  constructor(actor: EngineActor) {
    this.actor = actor
    actor.effects.pipe(filter((effect) => effect.kind === 'routed' || effect.kind === 'rejected')).subscribe((effect) => {
      const answer = this.awaited.get(effect.request)
      this.awaited.delete(effect.request)
      answer?.(effect)
    })
  }

  /** Answers awaited. */
  get waiting(): number {
    return this.awaited.size
  }

  /** Calls back for each request that the engine gave up. */
  onExpired(giveUp: GiveUp): void {
    this.actor.effects.pipe(filter((effect) => effect.kind === 'expired')).subscribe((effect) => {
      giveUp(effect.request, effect.denial)
    })
  }

  /** Takes a request; `accepted` is told its key as soon as it has one. */
  receive(received: RequestReceived, accepted: (request: number) => void): Promise<Reply> {
    return new Promise((resolve) => {
      this.actor.submit(
        { input: { kind: 'requestReceived', value: received } },
        ({ record }) => {
          this.awaited.set(record.position, resolve)
          accepted(record.position)
        },
        (error) => resolve({ kind: 'rejected', request: 0, denial: refusal(error) }),
      )
    })
  }

  prefillEnded(request: number, attempt: number, status: number): void {
    this.report({ kind: 'stageEnded', value: { request, attempt, stage: 'prefill', status } })
  }

  sent(request: number, attempt: number): void {
    this.report({ kind: 'requestSent', value: { request, attempt } })
  }

  /** An asynchronous producer's answer for a request that waits: the shape, or why there is none. */
  produced(request: number, producer: string, shape: RequestShape | undefined, error: string): void {
    this.report({ kind: 'attributesReported', value: { request, producer, shape, error } })
  }

  started(request: number, attempt: number, status: number, streaming: boolean): void {
    this.report({ kind: 'responseStarted', value: { request, attempt, status, streaming } })
  }

  progressed(request: number, tokens: number): void {
    this.report({ kind: 'requestProgressed', value: { request, tokens } })
  }

  ended(request: number, attempt: number, end: { readonly cause: EndCause; readonly usage: Usage | undefined; readonly status: number; readonly bodyBytes: number }): void {
    this.report({ kind: 'responseEnded', value: { request, attempt, ...end } })
  }

  /** An attempt failed: the answer is another route or the final refusal. */
  attemptFailed(request: number, attempt: number, endpoint: string, cause: FailureCause, status: number, retryable: boolean): Promise<Reply> {
    return new Promise((resolve) => {
      this.awaited.set(request, resolve)
      this.actor.submit({ input: { kind: 'requestAttemptFailed', value: { request, attempt, endpoint, cause, status, retryable } } }, ({ effects }) => {
        // The request was over before: expired, or ended by a restart.
        if (effects.some((effect) => effect.kind !== 'wake' && effect.request === request)) return
        this.awaited.delete(request)
        resolve({ kind: 'rejected', request, denial: GONE })
      }, (error) => {
        this.awaited.delete(request)
        resolve({ kind: 'rejected', request, denial: refusal(error) })
      })
    })
  }

  aborted(request: number, cause: EndCause): void {
    const answer = this.awaited.get(request)
    this.awaited.delete(request)
    answer?.({ kind: 'rejected', request, denial: { status: 499, code: 'Canceled', reason: 'rejected-context-cancelled', message: 'the client left' } })
    this.report({ kind: 'requestAborted', value: { request, cause } })
  }

  private report(input: NonNullable<Input['input']>): void {
    this.actor.submit({ input })
  }
}

const refusal = ({ code, message }: SignalboxError): Denial =>
  code === 'input-invalid' ? { status: 400, code: 'BadRequest', reason: '', message } : { status: 503, code: 'ServiceUnavailable', reason: '', message }

const GONE: Denial = { status: 504, code: 'DeadlineExceeded', reason: '', message: 'the request was given up' }
