import { headers } from '@nats-io/nats-core'
import type { MsgHdrs } from '@nats-io/nats-core'
import type { StoredMsg } from '@nats-io/jetstream'
import { JournalError } from '../../../journal/index.ts'
import type { SealedBatch } from '../../../journal/index.ts'
import { headerOf, wholeNumber } from '../message-fields.ts'

const HEADER = 'Signalbox-Batch'
/** Bytes of a batch that is too large for a message: it stands in the object store, and the message has none of it. */
const APART = 'Signalbox-Apart'

/** What the header of a batch's message tells, so that its place is known without reading it. */
export interface BatchHead {
  readonly firstPosition: number
  readonly count: number
  /** Time of its last record, in microseconds since the Unix epoch. */
  readonly atUs: number
  /** How many batches were stored up to it, from 1, those included that are gone. */
  readonly number: number
  /** Bytes of all those batches. */
  readonly total: number
}

export const headAfter = (batch: Pick<SealedBatch, 'firstPosition' | 'count' | 'atUs' | 'bytes'>, before: Pick<BatchHead, 'number' | 'total'> | undefined): BatchHead => ({
  firstPosition: batch.firstPosition,
  count: batch.count,
  atUs: batch.atUs,
  number: (before?.number ?? 0) + 1,
  total: (before?.total ?? 0) + batch.bytes.length,
})

/**
 * The header of the message; `id` lets the server drop what is sent twice, `after` refuses what does not follow. `apart`
 * is the batch's size where it stands apart from the message.
 */
export const headersOf = ({ firstPosition, count, atUs, number, total }: BatchHead, id: string, after: number, apart: number | undefined): MsgHdrs => {
  const marked = headers()
  marked.set(HEADER, [firstPosition, count, atUs, number, total].join(' '))
  marked.set('Nats-Msg-Id', id)
  marked.set('Nats-Expected-Last-Sequence', String(after))
  if (apart !== undefined) marked.set(APART, String(apart))
  return marked
}

/** Reads the head of a stored batch. Throws `JournalError` where it has none: somebody else wrote to the stream. */
export const headOf = (message: StoredMsg): BatchHead => {
  const numbers = headerOf(message.header, HEADER).split(' ').map((text) => wholeNumber(text, Number.MAX_SAFE_INTEGER))
  const [firstPosition, count, atUs, number, total] = numbers
  if (numbers.length !== 5 || numbers.includes(undefined)) {
    throw new JournalError('journal-broken-chain', `message ${message.seq} of the stream is no batch of a journal`, 0)
  }
  return { firstPosition, count, atUs, number, total } as BatchHead
}

/** Bytes of the batch where it stands apart from its message; undefined where the message has it. */
export const apartOf = ({ header }: StoredMsg): number | undefined => wholeNumber(headerOf(header, APART))

export const lastOf = ({ firstPosition, count }: BatchHead): number => firstPosition + count - 1
