import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { SignalboxError } from '../../core/errors.ts'
import { isJournalFile, JournalFile } from '../../journal/file.ts'
import type { ByteSource } from '../../journal/file.ts'
import type { JournalReader } from '../../journal/port.ts'
import { SqliteJournalReader } from './journal-reader.ts'

/** Name of the journal in a folder. */
const JOURNAL_FILE_NAME = 'journal.sqlite'
const HEAD_BYTES = 32
const SQLITE_MARK = 'SQLite format 3\0'

/** The file that a path names: a folder stands for the journal in it. */
export function journalPath(path: string): string {
  return existsSync(path) && statSync(path).isDirectory() ? join(path, JOURNAL_FILE_NAME) : path
}

/**
 * Opens a journal for reading, whichever kind it is: a SQLite file, a folder that holds one, or an exported file.
 * Throws `SignalboxError` when there is none or it is no journal, `JournalError` when it cannot be read.
 */
export function openJournal(path: string): JournalReader {
  const file = journalPath(path)
  if (!existsSync(file)) throw new SignalboxError('journal-not-found', 'there is no journal', { file })
  const source = new OpenFile(file)
  const head = source.read(0, HEAD_BYTES)
  if (isJournalFile(head)) return exported(source)
  source.close()
  if (head.length === 0 || Buffer.from(head).toString('latin1').startsWith(SQLITE_MARK)) return SqliteJournalReader.open(file)
  throw new SignalboxError('journal-not-a-journal', 'the file is neither a journal nor an exported one', { file })
}

function exported(source: OpenFile): JournalReader {
  try {
    return new ExportedJournal(source)
  } catch (error) {
    source.close()
    throw error
  }
}

class OpenFile implements ByteSource {
  readonly size: number
  private readonly handle: number

  constructor(path: string) {
    this.handle = openSync(path, 'r')
    this.size = fstatSync(this.handle).size
  }

  read(offset: number, length: number): Uint8Array {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.size - offset)))
    let at = 0
    while (at < bytes.length) {
      const count = readSync(this.handle, bytes, at, bytes.length - at, offset + at)
      if (count === 0) break
      at += count
    }
    return bytes.subarray(0, at)
  }

  close(): void {
    closeSync(this.handle)
  }
}

class ExportedJournal extends JournalFile {
  private readonly file: OpenFile

  constructor(file: OpenFile) {
    super(file)
    this.file = file
  }

  override close(): void {
    this.file.close()
  }
}
