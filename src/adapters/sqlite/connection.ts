import { existsSync, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { SignalboxError } from '../../core/errors.ts'
import { JournalError } from '../../journal/journal-error.ts'
import type { Durability } from '../../journal/port.ts'
import { SCHEMA_VERSION } from '../../journal/schema-version.ts'
import { readError, writeError } from './storage-error.ts'
import { APPLICATION_ID, TABLES } from './tables.ts'

/** Readers wait so long for a writer that is just opening or closing the file. */
const BUSY_TIMEOUT_MS = 2000
/** Pages of the write-ahead log before it is moved into the file: 4 MB, few ms of work in the writer's thread. */
const CHECKPOINT_PAGES = 1000

/** Opens a journal for reading, beside whoever writes it. Throws `SignalboxError` when it is not there or no journal. */
export function openForReading(path: string): DatabaseSync {
  if (!existsSync(path)) throw new SignalboxError('journal-not-found', 'there is no journal', { file: path })
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(path, { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    checkKind(database, path)
    return database
  } catch (error) {
    database?.close()
    throw readError(error, path, 0)
  }
}

/** Opens a journal for writing, and makes it when it is not there. The caller owns it. */
export function openForWriting(path: string, durability: Durability): DatabaseSync {
  let database: DatabaseSync | undefined
  try {
    mkdirSync(dirname(path), { recursive: true })
    database = new DatabaseSync(path, { timeout: BUSY_TIMEOUT_MS })
    if (isEmpty(database)) create(database)
    checkKind(database, path)
    database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = ${durability === 'commit' ? 'FULL' : 'NORMAL'};
      PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES};
    `)
    return database
  } catch (error) {
    database?.close()
    throw isFileSystem(error) ? new SignalboxError('journal-write', `the journal cannot be made: ${error.message}`, { file: path }) : writeError(error, path)
  }
}

/** Leaves one file that any process can read: the write-ahead log is moved into it, when no reader holds it. */
export function closeWritten(database: DatabaseSync): void {
  try {
    database.exec('PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE')
  } catch {
    // A reader holds the log, or the disk is full: then the log stays, and is as good.
  }
  database.close()
}

function isEmpty(database: DatabaseSync): boolean {
  return database.prepare('SELECT count(*) AS count FROM sqlite_schema').get()?.['count'] === 0
}

function create(database: DatabaseSync): void {
  // The order matters: how pages are freed is fixed with the first table.
  database.exec(`PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL`)
  database.exec(`
    BEGIN IMMEDIATE;
    PRAGMA application_id = ${APPLICATION_ID};
    PRAGMA user_version = ${SCHEMA_VERSION};
    ${TABLES}
    COMMIT;
  `)
}

function checkKind(database: DatabaseSync, path: string): void {
  const place = { file: path }
  if (database.prepare('PRAGMA application_id').get()?.['application_id'] !== APPLICATION_ID) {
    throw new SignalboxError('journal-not-a-journal', 'the file is a database, but no journal', place)
  }
  const version = Number(database.prepare('PRAGMA user_version').get()?.['user_version'])
  if (version > SCHEMA_VERSION) {
    throw new JournalError('journal-newer-schema', `the journal is of schema ${version}, this is ${SCHEMA_VERSION}`, 0, place)
  }
}

function isFileSystem(error: unknown): error is Error {
  return error instanceof Error && 'syscall' in error
}
