import { DiscardPolicy, StorageType } from '@nats-io/jetstream'
import type { JetStreamManager } from '@nats-io/jetstream'
import { ensureStream } from '../streams.ts'
import type { StreamJournalOptions } from './stream-journal.ts'

/** The journals that are there, for one who looks for one that is not; as far as the user may know. */
export const othersOf = async (manager: JetStreamManager): Promise<string> => {
  const names = await manager.streams.names().next().catch((): string[] => [])
  const journals = names.filter((name) => name.includes('_journal_') && !name.startsWith('OBJ_')).sort()
  return journals.length === 0 ? '' : `; it has ${journals.join(', ')}`
}

/** The stream of a replica's journal, made when it is not there. @throws SignalboxError nats-stream */
export const makeStream = (manager: JetStreamManager, { names, replica, streamReplicas }: StreamJournalOptions): Promise<unknown> =>
  ensureStream(manager, {
    name: names.journalStream(replica),
    subjects: [names.journal(replica)],
    num_replicas: streamReplicas,
    storage: StorageType.File,
    // Retention is the writer's, by whole segments: the server must not drop single batches.
    discard: DiscardPolicy.New,
    allow_direct: true,
  })
