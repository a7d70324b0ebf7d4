import type { Record } from '../wire/index.ts'
import type { JournalReader } from './port.ts'
import { readRecords } from './reading.ts'

/** What a journal holds, by count and size. */
export interface JournalStat {
  readonly firstPosition: number
  readonly lastPosition: number
  /** Times of the first and the last record, in microseconds since the Unix epoch; 0 without records. */
  readonly firstAtUs: number
  readonly lastAtUs: number
  readonly segments: number
  readonly batches: number
  readonly snapshots: number
  /** Bytes of batches, of bases, and of snapshots. */
  readonly batchBytes: number
  readonly baseBytes: number
  readonly snapshotBytes: number
  readonly records: number
  /** Records of each kind of input, most first. */
  readonly kinds: readonly { readonly kind: string; readonly records: number }[]
  readonly requests: number
  /** Bytes of batches for each request that arrived; 0 without requests. */
  readonly bytesPerRequest: number
}

/** Counts through all records of a journal. Yields how many it has counted; throws `JournalError` at the first fault. */
export function* statOf(reader: JournalReader): Generator<number, JournalStat, undefined> {
  const segments = reader.segments()
  const snapshots = reader.snapshots()
  const kinds = new Map<string, number>()
  let records = 0
  let firstAtUs = 0
  let lastAtUs = 0
  const firstPosition = (segments[0]?.basePosition ?? 0) + 1
  for (const record of readRecords(reader, firstPosition)) {
    const kind = kindOf(record)
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    if (records === 0) firstAtUs = record.atUs
    lastAtUs = record.atUs
    records += 1
    if (records % 1024 === 0) yield records
  }
  const batchBytes = segments.reduce((sum, segment) => sum + segment.bytes, 0)
  const requests = kinds.get('request-received') ?? 0
  return {
    firstPosition, lastPosition: reader.lastPosition(), firstAtUs, lastAtUs,
    segments: segments.length, batches: segments.reduce((sum, segment) => sum + segment.batches, 0), snapshots: snapshots.length,
    batchBytes,
    baseBytes: segments.reduce((sum, segment) => sum + segment.baseBytes, 0),
    snapshotBytes: snapshots.reduce((sum, snapshot) => sum + snapshot.bytes, 0),
    records,
    kinds: [...kinds].map(([kind, count]) => ({ kind, records: count })).sort((a, b) => b.records - a.records || (a.kind < b.kind ? -1 : 1)),
    requests,
    bytesPerRequest: requests === 0 ? 0 : Math.round(batchBytes / requests),
  }
}

/** What kind of input a record holds, in words: `request-received`. */
export function kindOf(record: Record): string {
  const kind = record.input?.input?.kind
  return kind === undefined ? 'unknown' : kind.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
}
