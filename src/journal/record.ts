import { decodeRecord, encodeRecord, Reader, WireError } from '../wire/index.ts'
import type { Record, Writer } from '../wire/index.ts'
import { JournalError } from './journal-error.ts'

/** Appends one record, preceded by its length. Throws `WireError` when a number in it does not fit. */
export function appendRecord(record: Record, writer: Writer): void {
  const start = writer.open()
  encodeRecord(record, writer)
  writer.close(start)
}

/** Where a run of records stands in the journal. */
export interface RecordRun {
  readonly firstPosition: number
  readonly count: number
  /** Records, each preceded by its length as a varint. */
  readonly records: Uint8Array
}

/**
 * The records of a run, one by one, each checked: its position follows the one before, its time is not below `atUs`.
 * Those before `from` are stepped over unread, which is many times faster.
 * Throws `JournalError` ('journal-broken-chain') at the first that is not as it must be.
 */
export function* recordsOf(run: RecordRun, atUs: number = 0, from: number = 0): Generator<Record, void, undefined> {
  const reader = new Reader(run.records)
  let position = run.firstPosition
  for (let index = 0; index < run.count; index++, position++) {
    if (position < from) {
      skip(reader, position)
      continue
    }
    const record = next(reader, position)
    if (record.position !== position) {
      throw broken(`a record names position ${record.position} where ${position} is due`, position)
    }
    if (record.atUs < atUs) throw broken(`the record at ${position} is older than the one before`, position)
    atUs = record.atUs
    yield record
  }
  if (reader.at !== reader.end) throw broken(`a batch holds more than the ${run.count} records it names`, position)
}

function next(reader: Reader, position: number): Record {
  return read(position, () => decodeRecord(reader, reader.uint32()))
}

function skip(reader: Reader, position: number): void {
  reader.at = read(position, () => reader.limit(reader.uint32()))
}

function read<T>(position: number, reading: () => T): T {
  try {
    return reading()
  } catch (error) {
    if (error instanceof WireError) throw broken(`the record at ${position} cannot be read: ${error.message}`, position)
    throw error
  }
}

function broken(message: string, position: number): JournalError {
  return new JournalError('journal-broken-chain', message, position - 1)
}
