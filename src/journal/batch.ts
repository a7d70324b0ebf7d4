import { decodeBatch, emptyBatch, encodeBatch, toBytes } from '../wire/index.ts'
import type { Batch } from '../wire/index.ts'
import type { RecordRun } from './record.ts'
import { sealed, unsealed } from './seal.ts'

/** Most records in one batch: what is read, checked and lost as one stays small. */
export const BATCH_RECORDS_MAX = 4096
/** Records are put together until they reach this; one record larger than it is a batch of its own. */
export const BATCH_BYTES_MAX = 1_048_576

/** A batch as it is stored. */
export interface SealedBatch {
  readonly firstPosition: number
  readonly count: number
  /** Time of its last record, in microseconds since the Unix epoch. */
  readonly atUs: number
  readonly seal: bigint
  /** The encoded `Batch`. */
  readonly bytes: Uint8Array
  /** Sections of the request index for its records; see `request-index.ts`. */
  readonly index: Uint8Array
}

/** Seals a run of records as the batch that follows the one with the seal `previous`. */
export function sealBatch(run: RecordRun, previous: bigint, atUs: number, index: Uint8Array): SealedBatch {
  const { firstPosition, count, records } = run
  const message = toBytes(encodeBatch, { ...emptyBatch(), firstPosition, count, previousHash: previous, records })
  return { firstPosition, count, atUs, index, ...sealed(message) }
}

/** The batch that the bytes hold; undefined when they were changed or cut. Its records are a view into the bytes. */
export function openBatch(bytes: Uint8Array): Batch | undefined {
  return unsealed(decodeBatch, bytes)
}

/** Position of the last record of a batch. */
export function lastPositionOf(batch: { readonly firstPosition: number; readonly count: number }): number {
  return batch.firstPosition + batch.count - 1
}
