import { SignalboxError } from '../../core/errors.ts'
import type { ErrorCode } from '../../core/errors.ts'
import { JournalError } from '../../journal/journal-error.ts'

// Primary result codes of SQLite.
const BUSY = 5
const READONLY = 8
const IOERR = 10
const CORRUPT = 11
const FULL = 13
const CANTOPEN = 14
const NOTADB = 26

/** SQLite's primary result code of an error; undefined when it is not SQLite's. */
export function resultCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined
  return error.errcode & 0xff
}

/** An error of SQLite while reading `path`, as users should meet it; `position` is the last that was read well. */
export function readError(error: unknown, path: string, position: number): unknown {
  const code = isOutOfRange(error) ? CORRUPT : resultCode(error)
  if (code === undefined) return error
  const place = { file: path }
  if (code === CORRUPT || code === IOERR) {
    return new JournalError('journal-broken-chain', `the file of the journal is damaged: ${reason(error)}`, position, place)
  }
  if (code === BUSY) return new SignalboxError('journal-locked', 'the journal is locked', place)
  if (code === NOTADB) return new SignalboxError('journal-not-a-journal', `the file is no journal: ${reason(error)}`, place)
  if (code === CANTOPEN) return new SignalboxError('journal-not-found', `the journal cannot be opened: ${reason(error)}`, place)
  // What remains (a missing table or column, a wrong type) is a file that was not made by the journal.
  return new SignalboxError('journal-not-a-journal', `the file cannot be read as a journal: ${reason(error)}`, place)
}

/** An error of SQLite while writing `path`. */
export function writeError(error: unknown, path: string): unknown {
  const code = resultCode(error)
  if (code === undefined) return error
  const why = code === FULL ? 'the disk or the journal is full' : code === READONLY ? 'the file cannot be written' : reason(error)
  const named: ErrorCode = code === BUSY ? 'journal-locked' : 'journal-write'
  return new SignalboxError(named, `the journal cannot be written: ${why}`, { file: path })
}

/** A number in a row that no journal writes. */
function isOutOfRange(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
