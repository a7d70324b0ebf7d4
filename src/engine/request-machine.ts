import { compile } from '../../machines/interpreter/compile.ts'
import type { Action, Implementations, InternalEvent, Interpreter } from '../../machines/interpreter/interpreter.ts'
import { createXStateInterpreter } from '../../machines/interpreter/xstate-actors.ts'
import { requestMachine } from '../../machines/request/machine.ts'
import type { RequestAction, RequestDelay, RequestGuard } from '../../machines/request/machine.ts'
import type { Denial, Report } from '../core/contract.ts'
import { millis } from '../core/instant.ts'
import type { Timers } from './timers.ts'
import type { EngineContext } from './context.ts'
import { decide, routedEffect } from './decide.ts'
import type { ClosedEffect } from './effects.ts'
import type { LiveRequest } from './live-request.ts'
import { hold, letGo } from './holding.ts'
import { callHook } from './hooks.ts'
import { nextStage, openProducing, pick, runAdmitters, runProducers, runStage } from './schedule.ts'
import type { RequestEvent } from './request-event.ts'

type Names = Implementations<LiveRequest, RequestEvent, RequestAction, RequestGuard, RequestDelay>
type Act = Action<LiveRequest, RequestEvent>

/** The request machine, run as the options say. */
export const runRequests = (context: EngineContext): Interpreter<LiveRequest, RequestEvent> => {
  let interpreter: Interpreter<LiveRequest, RequestEvent> | undefined = undefined
  const implementations: Names = {
    actions: actions(context),
    guards: guards(context),
    delays: {
      producerTimeout: () => context.pipeline.producers.reduce((longest, { answersWithinMs = 0 }) => Math.max(longest, answersWithinMs), context.settings.timeouts.producerMs),
      sentTimeout: () => context.settings.timeouts.sentMs,
      firstTokenTimeout: () => context.settings.timeouts.firstTokenMs,
      silenceTimeout: () => context.settings.timeouts.silenceMs,
    },
    schedule: (request, timer, delayMs) => {
      const name = interpreter?.timers[timer]?.name ?? ''
      if (request.timer !== undefined) context.timers.cancel(request.timer)
      request.timer = context.timers.schedule(context.at + millis(delayMs), 'request', request.key, name)
    },
    cancel: (request, timer) => dropTimer(context.timers, request, interpreter?.timers[timer]?.name ?? ''),
  }
  const run = context.options.interpreter === 'table' ? compile : createXStateInterpreter
  interpreter = run(requestMachine, implementations, context.options.watch?.request)
  return interpreter
}

const dropTimer = (timers: Timers, request: LiveRequest, name: string): void => {
  if (request.timer === undefined || request.timer.name !== name) return
  timers.cancel(request.timer)
  request.timer = undefined
}

const guards = (context: EngineContext): Names['guards'] => ({
  isAdmitted: (request) => request.denial === undefined,
  isProduced: (request) => request.awaiting.length === 0,
  isDenied: (request) => request.denial !== undefined && request.lastFailure === undefined,
  picksDecode: (request) => nextStage(context, request) === 'decode',
  picksEncode: (request) => nextStage(context, request) === 'encode',
  picksPrefill: (request) => nextStage(context, request) === 'prefill',
  isRouted: (request) => request.denial === undefined && request.result !== undefined,
  hasFailedBefore: (request) => request.lastFailure !== undefined,
  canRetry: (request, event) => isType(event, 'attemptFailed') && event.retryable && request.attempt < context.settings.retry.attempts,
})

const actions = (context: EngineContext): Names['actions'] => ({ ...gathering(context), ...serving(context), ...endings(context) })

/** From arrival to a decision. */
const gathering = (context: EngineContext): Pick<Names['actions'], 'admit' | 'produce' | 'takeAttributes' | 'giveUpProducing' | 'openScheduling' | 'pick' | 'runStage' | 'assign'> => ({
  admit: (request) => {
    const candidates = context.fleet.candidates()
    for (const controller of context.pipeline.admissionControllers) {
      request.denial ??= callHook(context, controller, 'AdmissionController', () => controller.admission(request, candidates), undefined)
    }
  },
  produce: (request) => {
    openProducing(context, request)
    if (request.denial !== undefined) return
    request.awaiting = context.pipeline.producers.filter((producer) => callHook(context, producer, 'Awaits', () => producer.awaits?.(request) === true, false)).map((producer) => producer.typedName.name)
    if (request.awaiting.length === 0) runProducers(context, request)
  },
  takeAttributes: (request, event) => {
    if (!isType(event, 'produced')) return
    request.awaiting = request.awaiting.filter((producer) => producer !== event.producer)
    if (event.shape !== undefined) request.takeShape(event.shape)
    if (event.error !== '') request.scheduling?.notes.push(`producer ${event.producer}: ${event.error}`)
    if (request.awaiting.length === 0) renewProducing(context, request)
  },
  giveUpProducing: (request) => {
    request.scheduling?.notes.push(`no answer in time from: ${request.awaiting.join(', ')}`)
    request.awaiting = []
    renewProducing(context, request)
  },
  openScheduling: (request) => runAdmitters(context, request),
  pick: (request) => pick(context, request),
  runStage: (request) => runStage(context, request),
  assign: (request) => {
    hold(context, request)
    decide(context, request, 'routed', undefined)
    context.effects.push(routedEffect(context, request))
    request.settle()
  },
})

/** After a wait the fleet may be another one. */
const renewProducing = (context: EngineContext, request: LiveRequest): void => {
  const notes = request.scheduling?.notes ?? []
  openProducing(context, request)
  request.scheduling?.notes.push(...notes)
  runProducers(context, request)
}

/** From a decision to the end of the stream. */
const serving = (context: EngineContext): Pick<Names['actions'], 'markSent' | 'startStream' | 'progress' | 'endStream' | 'releaseAttempt' | 'failAttempt'> => ({
  markSent: (request) => {
    for (const plugin of context.pipeline.stageEvents) callHook(context, plugin, 'RequestSent', () => plugin.requestSent(request), undefined)
  },
  startStream: (request, event) => {
    if (request.started) return
    request.started = true
    if (isType(event, 'started')) request.status = event.status
    if (isType(event, 'ended')) return
    request.forgetShape()
    request.firstTold = true
    respond(context, request, true, false)
  },
  progress: () => undefined,
  endStream: (request, event) => {
    if (!isType(event, 'ended')) return
    request.cause = event.cause
    request.usage = event.usage
    request.status = event.status
  },
  releaseAttempt: (request, event) => {
    noteFailure(request, event)
    request.cause = 'error'
    letGo(context, request)
    respond(context, request, true, true)
    if (isType(event, 'attemptFailed')) request.excluded = [...request.excluded, event.endpoint]
    request.attempt += 1
    request.cause = 'unspecified'
    openProducing(context, request)
    runProducers(context, request)
  },
  failAttempt: (request, event) => noteFailure(request, event),
})

const noteFailure = (request: LiveRequest, event: RequestEvent | InternalEvent): void => {
  if (isType(event, 'attemptFailed')) request.lastFailure = event.denial
}

/** The final states: whatever is held is let go, once. */
const endings = (context: EngineContext): Record<'complete' | 'reject' | 'fail' | 'abortRequest' | 'expire', Act> => ({
  complete: (request) => close(context, request, 'completed'),
  reject: (request) => refuse(context, request, 'rejected', request.denial ?? INTERNAL),
  fail: (request, event) => {
    if (isType(event, 'restart')) {
      request.cause = 'scheduler-restarted'
      close(context, request, 'failed')
      return
    }
    request.cause = 'error'
    refuse(context, request, 'failed', request.lastFailure ?? request.denial ?? INTERNAL)
  },
  abortRequest: (request, event) => {
    request.cause = isType(event, 'abort') ? event.cause : 'client-disconnect'
    close(context, request, 'aborted')
  },
  expire: (request) => {
    request.cause = 'error'
    context.effects.push({ kind: 'expired', request: request.key, denial: EXPIRED })
    close(context, request, 'expired')
  },
})

const INTERNAL: Denial = { status: 500, code: 'Internal', reason: '', message: 'the request could not be scheduled' }
const EXPIRED: Denial = { status: 504, code: 'DeadlineExceeded', reason: '', message: 'the endpoint gave no sign of life in time' }

const refuse = (context: EngineContext, request: LiveRequest, outcome: 'rejected' | 'failed', why: Denial): void => {
  decide(context, request, outcome, why)
  context.effects.push({ kind: 'rejected', request: request.key, denial: why })
  close(context, request, outcome)
}

const close = (context: EngineContext, request: LiveRequest, outcome: ClosedEffect['outcome']): void => {
  // Where nothing was routed but hooks saw the request leave, they see it end.
  const seen = request.result !== undefined
  letGo(context, request)
  if (seen) respond(context, request, !request.firstTold, true)
  const { key, cause, usage, receivedAt } = request
  const reports = seen ? context.pipeline.reporters.flatMap((plugin) => callHook(context, plugin, 'Report', () => plugin.report(request, usage), undefined) ?? []) : NO_REPORTS
  context.effects.push({ kind: 'closed', request: key, outcome, cause, usage, receivedAt, reports })
  context.requests.delete(key)
}

const NO_REPORTS: readonly Report[] = []

const respond = (context: EngineContext, request: LiveRequest, startOfStream: boolean, endOfStream: boolean): void => {
  const step = { startOfStream, endOfStream, usage: request.usage, cause: endOfStream ? request.cause : undefined }
  for (const plugin of context.pipeline.responseBodies) callHook(context, plugin, 'ResponseStreaming', () => plugin.responseBody(request, step), undefined)
}

const isType = <T extends RequestEvent['type']>(event: RequestEvent | InternalEvent, type: T): event is Extract<RequestEvent, { type: T }> => event.type === type
