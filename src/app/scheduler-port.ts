import type { RequestDesk, Reply } from '../actors/request-desk.ts'
import type { Answer, ChosenStages, SchedulerPort } from '../adapters/http/scheduler-port.ts'
import type { RoutedEffect } from '../engine/effects.ts'

/** The request desk, as the HTTP front door wants it. */
export const schedulerPort = (desk: RequestDesk, refusing: () => Answer | undefined): SchedulerPort => ({
  receive: (input, accepted) => {
    const refusal = refusing()
    return refusal === undefined ? desk.receive(input, accepted).then(answerOf) : Promise.resolve(refusal)
  },
  sent: (request, attempt) => desk.sent(request, attempt),
  started: (request, attempt, status, streaming) => desk.started(request, attempt, status, streaming),
  progressed: (request, tokens) => desk.progressed(request, tokens),
  ended: (request, attempt, end) => desk.ended(request, attempt, end),
  attemptFailed: (request, attempt, endpoint, cause, status, retryable) => desk.attemptFailed(request, attempt, endpoint, cause, status, retryable).then(answerOf),
  aborted: (request, cause) => desk.aborted(request, cause),
})

const answerOf = (reply: Reply): Answer => {
  if (reply.kind === 'rejected') return { kind: 'rejected', request: reply.request, ...reply.denial }
  const { request, attempt, endpoint, fallbacks, headers, responseHeaders, targetModel } = reply
  return { kind: 'routed', request, attempt, endpoint, fallbacks, headers, responseHeaders, targetModel, stages: stagesOf(reply) }
}

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
