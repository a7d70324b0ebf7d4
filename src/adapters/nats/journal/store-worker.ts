import { workerData } from 'node:worker_threads'
import type { SealedBatch, SealedState, StoredBatch } from '../../../journal/index.ts'
import { NatsLink } from '../connection.ts'
import type { NatsOptions } from '../connection.ts'
import { Names } from '../names.ts'
import { answerCalls, Handed } from './blocking-call.ts'
import type { AnswererData, Call } from './blocking-call.ts'
import { StreamJournal } from './stream-journal.ts'

/** What a store is opened with. */
export interface StoreOptions {
  readonly nats: NatsOptions
  readonly prefix: string
  readonly pool: string
  readonly replica: string
  readonly streamReplicas: number
  /** Read what is there and make nothing. */
  readonly readOnly?: boolean
}

const data = workerData as AnswererData<StoreOptions>

const open = async ({ nats, prefix, pool, replica, streamReplicas, readOnly = false }: StoreOptions): Promise<{ readonly link: NatsLink; readonly journal: StreamJournal }> => {
  const link = await NatsLink.open(nats)
  try {
    const options = { link, names: new Names(prefix, pool), replica, streamReplicas }
    return { link, journal: await (readOnly ? StreamJournal.look(options) : StreamJournal.open(options)) }
  } catch (error) {
    await link.close()
    throw error
  }
}

/** Copied once, out of the connection's memory, and not once more on the way to the other thread. */
const handed = (page: readonly StoredBatch[]): Handed => {
  const own = page.map((batch) => ({ ...batch, bytes: new Uint8Array(batch.bytes) }))
  return new Handed(own, own.map(({ bytes }) => bytes.buffer))
}

const opening = open(data.given)
opening.catch(() => undefined)

answerCalls(data, async ({ method, args }: Call): Promise<unknown> => {
  const { journal, link } = await opening
  switch (method) {
    case 'append':
      return journal.append(args[0] as readonly SealedBatch[])
    case 'openSegment':
      return journal.openSegment(args[0] as SealedState, args[1] as boolean)
    case 'putSnapshot':
      return journal.putSnapshot(args[0] as SealedState)
    case 'lastPosition':
      return journal.lastPosition()
    case 'segments':
      return journal.segments()
    case 'base':
      return journal.base(args[0] as number)
    case 'snapshots':
      return journal.snapshots()
    case 'snapshot':
      return journal.snapshot(args[0] as number)
    case 'sequenceAfter':
      return journal.sequenceAfter(args[0] as number)
    case 'page':
      return handed(await journal.page(args[0] as number))
    case 'dropSnapshot':
      return journal.dropSnapshot(args[0] as number)
    case 'dropOldestSegment':
      return journal.dropOldestSegment(args[0] as number)
    case 'close':
      journal.close()
      return link.close()
    default:
      // Opens and nothing else.
      return undefined
  }
})
