import type { RequestDesk, Reply } from '../actors/request-desk.ts'
import type { Answer, ChosenStages, SchedulerPort } from '../adapters/http/scheduler-port.ts'
import type { PrefillLeg } from '../adapters/http/prefill/leg.ts'
import type { RoutedEffect } from '../engine/effects.ts'

/** The request desk, as the HTTP front door wants it. */
export const schedulerPort = (desk: RequestDesk, refusing: () => Answer | undefined, legOf: LegOf = () => undefined): SchedulerPort => ({
  receive: (input, accepted) => {
    const refusal = refusing()
    return refusal === undefined ? desk.receive(input, accepted).then((reply) => answerOf(reply, legOf)) : Promise.resolve(refusal)
  },
  prefillEnded: (request, attempt, status) => desk.prefillEnded(request, attempt, status),
  sent: (request, attempt) => desk.sent(request, attempt),
  started: (request, attempt, status, streaming) => desk.started(request, attempt, status, streaming),
  progressed: (request, tokens) => desk.progressed(request, tokens),
  ended: (request, attempt, end) => desk.ended(request, attempt, end),
  attemptFailed: (request, attempt, endpoint, cause, status, retryable) => desk.attemptFailed(request, attempt, endpoint, cause, status, retryable).then((reply) => answerOf(reply, legOf)),
  aborted: (request, cause) => desk.aborted(request, cause),
})

/** The prefill that the front door is to run for a reply; undefined where it runs none. */
export type LegOf = (reply: RoutedEffect) => PrefillLeg | undefined

const answerOf = (reply: Reply, legOf: LegOf): Answer => {
  if (reply.kind === 'rejected') return { kind: 'rejected', request: reply.request, ...reply.denial }
  const { request, attempt, endpoint, fallbacks, headers, responseHeaders, targetModel } = reply
  const prefill = legOf(reply)
  const answer = { kind: 'routed' as const, request, attempt, endpoint, fallbacks, headers, responseHeaders, targetModel, stages: stagesOf(reply) }
  if (prefill === undefined) return answer
  // Nobody else is to run the prefill as well.
  return { ...answer, prefill, headers: [...headers.filter(([name]) => name !== PREFILLER), [PREFILLER, '']] }
}

const PREFILLER = 'x-prefiller-host-port'

const stagesOf = ({ stages, endpoint }: RoutedEffect): ChosenStages => {
  const of = (stage: string): readonly string[] => stages.find((each) => each.stage === stage)?.endpoints ?? []
  const [prefill] = of('prefill')
  const encode = of('encode')
  return {
    decode: of('decode')[0] ?? endpoint.id,
    ...(prefill === undefined ? {} : { prefill }),
    ...(encode.length === 0 ? {} : { encode }),
  }
}
