import { JournalError, openJournal } from '../app/journal-files.ts'
import type { JournalReader } from '../app/journal-files.ts'
import { outcome } from './outcome.ts'

/** Opens a journal for a command's work and closes it; what is wrong with it is told with its path. */
export const withJournal = (path: string, work: (reader: JournalReader) => number | Promise<number>): Promise<void> =>
  outcome(async () => {
    try {
      const reader = openJournal(path)
      try {
        return await work(reader)
      } finally {
        reader.close()
      }
    } catch (error) {
      // The chain knows positions, but not which file it reads.
      if (error instanceof JournalError && error.place === undefined) process.stderr.write(`${path}: `)
      throw error
    }
  })
