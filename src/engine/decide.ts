import type { Denial } from '../core/contract.ts'
import type { SchedulingResult } from '../core/request.ts'
import { digestPair, digestRun, profileDecision } from '../scheduling/receipt.ts'
import type { Decision, Outcome } from '../wire/decision.ts'
import type { EngineContext } from './context.ts'
import type { RoutedEffect, Target } from './effects.ts'
import { callHook, stageOf } from './hooks.ts'
import type { LiveRequest } from './live-request.ts'

const NO_HEADERS: ReadonlyMap<string, string> = new Map()

/** Writes the decision of the turn for this request, and keeps what its receipt needs. */
export const decide = (context: EngineContext, request: LiveRequest, outcome: Outcome, why: Denial | undefined): void => {
  const { scheduling, result } = request
  const runs = scheduling?.runs ?? []
  const deciders = scheduling?.deciders ?? []
  const digest = context.digest.reset().word(request.attempt)
  for (const run of runs) digestRun(digest, run)
  for (const pair of scheduling?.pairs ?? []) digestPair(digest, pair)
  for (const decider of deciders) digest.text(decider.plugin).word(decider.runs ? 1 : 0)
  const decision: Decision = {
    request: request.key,
    attempt: request.attempt,
    outcome,
    profiles: runs.map(profileDecision),
    primaryProfile: result?.primary ?? '',
    decisionType: outcome === 'routed' && result !== undefined ? decisionType(context, result) : '',
    rejection: why === undefined ? undefined : { status: why.status, reason: why.reason, message: why.message, code: why.code },
    headers: outcome === 'routed' ? [...request.headers].map(([name, value]) => ({ name, value })) : [],
    receiptDigest: digest.value(),
  }
  context.decisions.push(decision)
  context.receipts.keep({
    position: context.position,
    atUs: context.at,
    request: request.key,
    requestId: request.id,
    attempt: request.attempt,
    runs,
    deciders,
    excluded: request.excluded,
    pairs: scheduling?.pairs ?? [],
    notes: scheduling?.notes ?? [],
    decision,
  })
}

const decisionType = (context: EngineContext, result: SchedulingResult): string => {
  const { handler } = context.pipeline
  return callHook(context, handler, 'ProfileHandler', () => handler.decisionType?.(result), '') ?? ''
}

/** The answer to the front door. */
export const routedEffect = (context: EngineContext, request: LiveRequest): RoutedEffect => {
  const result = request.result
  const targets: Target[] = (result?.results.get(result.primary)?.endpoints ?? []).map(({ id, hostPort }) => ({ id, hostPort }))
  const [endpoint, ...fallbacks] = targets
  return {
    kind: 'routed',
    request: request.key,
    attempt: request.attempt,
    endpoint: endpoint ?? { id: '', hostPort: '' },
    fallbacks,
    headers: [...request.headers],
    responseHeaders: result === undefined ? [] : context.pipeline.responseHeaders.flatMap((plugin) => [...callHook(context, plugin, 'ResponseReceived', () => plugin.responseHeaders(request, result), NO_HEADERS)]),
    targetModel: request.targetModel,
    stages: [...(result?.results ?? [])].map(([profile, { endpoints }]) => ({
      stage: stageOf(context, profile),
      endpoints: endpoints.map(({ id }) => id),
    })),
  }
}
