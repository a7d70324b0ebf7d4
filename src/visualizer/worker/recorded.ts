import { SignalboxError } from '../../core/errors.ts'
import { pluginTypes } from '../../plugins/index.ts'
import { sentenceOfDecision } from '../../replay/sentence.ts'
import type { Travel } from '../../replay/travel/travel.ts'
import type { Decision, Receipt } from '../../wire/decision.ts'
import { emptyReceipt } from '../../wire/decision.ts'
import type { Record as JournalRecord } from '../../wire/journal.ts'
import { inputText } from './engine-look.ts'
import type { Decided, Look } from './messages.ts'

/** A record by itself, where the engine after it is not known. */
export const recordedLook = (travel: Travel, position: number): Look => {
  const at = Math.max(travel.start.position, Math.min(position, travel.last))
  const record = at > travel.start.position ? travel.record(at) : undefined
  return {
    known: false, position: at, atUs: record?.atUs ?? travel.start.atUs,
    kind: record?.input?.input?.kind ?? 'start', input: inputText(record?.input, false),
    decided: record === undefined ? [] : recordedDecisions(record),
    endpoints: [], requests: [], liveRequests: 0, timers: [],
  }
}

/** Decisions of a record as the journal holds them. */
export const recordedAt = (travel: Travel, position: number): Decided[] => recordedDecisions(travel.record(position))

const recordedDecisions = (record: JournalRecord): Decided[] =>
  record.decisions.map((decision) => ({ receipt: receiptOf(record, decision), sentence: sentenceOfDecision(decision), recordedOnly: true }))

/** What of a receipt stands in the journal: the decision, and no table. */
const receiptOf = ({ position, atUs }: JournalRecord, decision: Decision): Receipt => ({
  ...emptyReceipt(), position, atUs, request: decision.request, attempt: decision.attempt, decision,
})

/** Position of the next record about a request after a position, or of the one before. */
export const nextReport = (travel: Travel, actor: number | string, position: number, direction: 1 | -1): number | undefined => {
  const { records } = travel.told
  for (let i = position + direction - records.first; i >= 0 && i < records.request.length; i += direction) if (records.request.at(i) === actor) return records.first + i
  return undefined
}

/** Why a journal cannot be decided again, and what to do. */
export const undecidableText = (error: unknown, travel: Travel): string => {
  const here = new Set([...pluginTypes].map(({ type }) => type))
  const foreign = (travel.started?.plugins ?? []).filter(({ type }) => !here.has(type)).map(({ type }) => type)
  if (foreign.length > 0) {
    return `This journal was decided with plugins that the page does not have: ${[...new Set(foreign)].join(', ')}. It shows what was recorded: requests, where they went, and records. For receipts and the engine's state run \`signalbox explain REQUEST --plugins YOUR-MODULE\` on the journal.`
  }
  return `This journal cannot be decided again here: ${error instanceof SignalboxError ? error.toString() : error instanceof Error ? error.message : String(error)}. It shows what was recorded.`
}
