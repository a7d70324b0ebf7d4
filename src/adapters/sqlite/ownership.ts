import { DatabaseSync } from 'node:sqlite'
import { SignalboxError } from '../../core/errors.ts'
import { resultCode, writeError } from './storage-error.ts'

const BUSY = 5

/**
 * The right to write a journal, held by one process at a time.
 * It is a lock of the operating system on a file beside the journal, so it ends with the process, however that ends.
 */
export class Ownership {
  private readonly lock: DatabaseSync

  private constructor(lock: DatabaseSync) {
    this.lock = lock
  }

  /** Throws `SignalboxError` ('journal-locked') when another process, or another part of this one, holds it. */
  static take(path: string): Ownership {
    let lock: DatabaseSync | undefined
    try {
      lock = new DatabaseSync(`${path}-lock`)
      lock.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
      return new Ownership(lock)
    } catch (error) {
      lock?.close()
      if (resultCode(error) !== BUSY) throw writeError(error, `${path}-lock`)
      const pid = ownerOf(path)
      throw new SignalboxError('journal-locked', `the journal is written by ${pid === undefined ? 'another process' : `process ${pid}`}`, { file: path })
    }
  }

  release(): void {
    this.lock.close()
  }
}

/** The process that last wrote the journal. */
function ownerOf(path: string): number | undefined {
  let journal: DatabaseSync | undefined
  try {
    journal = new DatabaseSync(path, { readOnly: true })
    const pid = journal.prepare('SELECT pid FROM owner').get()?.['pid']
    return typeof pid === 'number' ? pid : undefined
  } catch {
    // The owner has just begun and not written its number yet.
    return undefined
  } finally {
    journal?.close()
  }
}
