import { SignalboxError } from '../core/errors.ts'
import type { EngineOptions } from '../engine/context.ts'
import type { JournalReader } from '../journal/port.ts'
import { arrivalsOf, readRecord } from '../journal/reading.ts'
import type { Receipt } from '../wire/decision.ts'
import type { Record as JournalRecord } from '../wire/journal.ts'
import { finish, recover } from './recover.ts'

/** Everything the journal knows of one request. */
export interface Explanation {
  readonly requestId: string
  /** Position of its arrival. */
  readonly request: number
  /** Its records, in order. */
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
  return { requestId: arrival?.kind === 'requestReceived' ? arrival.value.requestId : '', request, records, receipts }
}
