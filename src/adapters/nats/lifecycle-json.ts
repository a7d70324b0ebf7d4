import { emptyEndedReport, emptyLifecycleReport } from '../../wire/index.ts'
import type { EndCause, FailureCause, LifecycleReport } from '../../wire/index.ts'
import { isObject, jsonObject, textOf, wholeOf } from './json-fields.ts'
import type { JsonObject } from './json-fields.ts'

type Report = NonNullable<LifecycleReport['report']>

const END_CAUSES: readonly EndCause[] = ['natural', 'client-disconnect', 'evicted', 'error']
const FAILURES: readonly FailureCause[] = ['connect', 'reset', 'unavailable', 'timeout', 'malformed', 'truncated']

/**
 * A lifecycle report from JSON: {"request": 7, "attempt": 1, "requestId": "...", "ended": {"cause": "natural", "status": 200}}
 * and likewise sent, started, progressed, aborted and failed. Undefined where it is none.
 */
export const readLifecycleJson = (bytes: Uint8Array): LifecycleReport | undefined => {
  const given = jsonObject(bytes)
  if (given === undefined) return undefined
  const request = wholeOf(given['request'])
  const attempt = wholeOf(given['attempt'])
  const requestId = textOf(given['requestId'])
  const report = readReport(given)
  if (request === undefined || attempt === undefined || attempt > ATTEMPT_MAX || requestId === undefined || report === undefined) return undefined
  return { ...emptyLifecycleReport(), request, attempt, requestId, report }
}

const ATTEMPT_MAX = 0xffff_ffff

const readReport = (given: JsonObject): Report | undefined => {
  for (const [kind, read] of READERS) {
    const fields = given[kind]
    if (fields !== undefined) return isObject(fields) ? read(fields) : undefined
  }
  return undefined
}

const READERS: readonly (readonly [kind: string, read: (fields: JsonObject) => Report | undefined])[] = [
  ['sent', () => ({ kind: 'sent', value: {} })],
  ['started', (fields) => ({ kind: 'started', value: { status: small(fields['status'], 200), streaming: fields['streaming'] === true } })],
  ['progressed', (fields) => ({ kind: 'progressed', value: { tokens: wholeOf(fields['tokens']) ?? 0 } })],
  ['ended', (fields) => {
    const value = { ...emptyEndedReport(), cause: END_CAUSES.find((cause) => cause === fields['cause']) ?? 'natural', status: small(fields['status'], 200), bodyBytes: wholeOf(fields['bodyBytes']) ?? 0 }
    const usage = isObject(fields['usage']) ? usageOf(fields['usage']) : undefined
    return { kind: 'ended', value: { ...value, usage } }
  }],
  ['failed', (fields) => ({
    kind: 'failed',
    value: {
      endpoint: textOf(fields['endpoint']) ?? '',
      cause: FAILURES.find((cause) => cause === fields['cause']) ?? 'connect',
      status: small(fields['status'], 0),
      retryable: fields['retryable'] !== false,
      replyTo: textOf(fields['replyTo']) ?? '',
    },
  })],
  ['aborted', (fields) => ({ kind: 'aborted', value: { cause: END_CAUSES.find((cause) => cause === fields['cause']) ?? 'client-disconnect' } })],
]

const small = (given: unknown, fallback: number): number => {
  const value = given === undefined ? fallback : wholeOf(given)
  return value === undefined || value > 999 ? fallback : value
}

const usageOf = (given: JsonObject) => ({
  promptTokens: wholeOf(given['promptTokens']) ?? 0,
  completionTokens: wholeOf(given['completionTokens']) ?? 0,
  totalTokens: wholeOf(given['totalTokens']) ?? 0,
  cachedTokens: wholeOf(given['cachedTokens']) ?? 0,
  reasoningTokens: wholeOf(given['reasoningTokens']) ?? 0,
})
