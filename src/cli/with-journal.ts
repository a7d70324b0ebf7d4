import type { Command } from 'commander'
import { JournalError } from '../app/journal-files.ts'
import type { JournalReader } from '../app/journal-files.ts'
import { openJournalAt } from '../app/journal-place.ts'
import type { BrokerAccess } from '../app/journal-place.ts'
import { addSettingsOptions } from '../config/signalbox/options.ts'
import { outcome } from './outcome.ts'

/** What a command says of its journal. */
export const JOURNAL = 'journal.sqlite, the folder it is in, an exported .sbj file, or nats://host:port/POOL/REPLICA for one in JetStream'

/** Adds what it takes to reach a server that asks who one is. */
export const withBrokerOptions = (command: Command): Command =>
  addSettingsOptions(command, [
    'natsCredsFile', 'natsNkeyFile', 'natsUser', 'natsPasswordFile', 'natsTokenFile', 'natsTlsCaFile', 'natsTlsCertFile', 'natsTlsKeyFile', 'natsInboxPrefix', 'natsSubjectPrefix',
  ])

/** Opens a journal for a command's work and closes it; what is wrong with it is told with its place. */
export const withJournal = (place: string, access: BrokerAccess, work: (reader: JournalReader) => number | Promise<number>): Promise<void> =>
  outcome(async () => {
    try {
      const reader = openJournalAt(place, access)
      try {
        return await work(reader)
      } finally {
        reader.close()
      }
    } catch (error) {
      // The chain knows positions, but not which file it reads.
      if (error instanceof JournalError && error.place === undefined) process.stderr.write(`${place}: `)
      throw error
    }
  })
