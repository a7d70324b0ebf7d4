import { SignalboxError } from '../core/errors.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { JournalReader } from '../journal/port.ts'
import { arrivalsOf, readRecord, readRecords } from '../journal/reading.ts'
import type { Receipt } from '../wire/decision.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import { finish, recover } from './recover.ts'

/** Everything the journal knows of one request. */
export interface Explanation {
  readonly requestId: string
  /** Position of its arrival. */
  readonly request: number
  /** Its records, in order; behind them the one that ended it, where that was a restart or a timer and so not its own. */
  readonly records: readonly JournalRecord[]
  /** The receipt of each of its decisions, recomputed. */
  readonly receipts: readonly Receipt[]
}

/**
 * Explains a request by its id, or by the position of its arrival: one explanation for each request of that id.
 * @throws SignalboxError request-not-found
 */
export const explain = (options: EngineOptions, reader: JournalReader, idOrPosition: string): Explanation[] => {
  const arrivals = arrivalsFor(reader, idOrPosition)
  if (arrivals.length === 0) throw new SignalboxError('request-not-found', `no request \`${idOrPosition}\` in this journal`)
  return arrivals.map((request) => explainArrival(options, reader, request))
}

const arrivalsFor = (reader: JournalReader, idOrPosition: string): readonly number[] => {
  const byId = arrivalsOf(reader, idOrPosition)
  if (byId.length > 0 || !/^\d+$/.test(idOrPosition)) return byId
  const position = Number(idOrPosition)
  if (position < 1 || position > reader.lastPosition()) return []
  return readRecord(reader, position).input?.input?.kind === 'requestReceived' ? [position] : []
}

const explainArrival = (options: EngineOptions, reader: JournalReader, request: number): Explanation => {
  const records = reader.recordsOf(request).map((position) => readRecord(reader, position))
  const arrival = records.find((record) => record.position === request)?.input?.input
  const receipts: Receipt[] = []
  for (const record of records) {
    if (!record.decisions.some((decision) => decision.request === request)) continue
    const replayer = finish(recover(options, reader, record.position))
    receipts.push(...replayer.receipts().filter((receipt) => receipt.request === request))
  }
  const last = records.at(-1)
  const end = last === undefined || SELF_ENDED.has(last.input?.input?.kind ?? '') ? undefined : endOf(options, reader, request, last.position)
  return { requestId: arrival?.kind === 'requestReceived' ? arrival.value.requestId : '', request, records: end === undefined ? records : [...records, end], receipts }
}

/** Behind these nothing more comes of a request. */
const SELF_ENDED: ReadonlySet<string> = new Set(['responseEnded', 'requestAborted'])

/** The record behind a position with which a request was over; undefined when it was over before, or is not yet. */
const endOf = (options: EngineOptions, reader: JournalReader, request: number, position: number): JournalRecord | undefined => {
  const replayer = finish(recover(options, reader, position))
  const { requests } = replayer.engine.view
  if (!requests.has(request) || position >= reader.lastPosition()) return undefined
  for (const record of readRecords(reader, position + 1)) {
    replayer.apply(record)
    if (!requests.has(request)) return record
  }
  return undefined
}
