import { NatsJournalStore } from '../adapters/nats/journal/journal-store.ts'
import { openJournal } from '../adapters/sqlite/open-journal.ts'
import { SignalboxError } from '../core/errors.ts'
import type { JournalReader } from '../journal/index.ts'
import { namesOf, natsOptions } from './nats/options.ts'
import type { BrokerSettings } from './nats/options.ts'

/** How the server of a journal in JetStream is reached, besides its address. */
export type BrokerAccess = Partial<Omit<BrokerSettings, 'nats' | 'pool'>>

interface JournalInStream {
  readonly servers: string
  readonly pool: string
  readonly replica: string
}

/** Whether a place names a journal in JetStream. */
export const isInStream = (place: string): boolean => /^(nats|tls):\/\//.test(place)

/** What a replica's journal in JetStream is called: nats://host:port/POOL/REPLICA. @throws SignalboxError usage */
const inStream = (place: string): JournalInStream => {
  if (place.includes('@')) throw new SignalboxError('usage', 'a NATS URL bears no user and password: they would be seen in lists of processes; give --nats-user and --nats-password-file')
  const [, servers, pool, replica] = /^((?:nats|tls):\/\/[^/]+)\/([A-Za-z0-9_-]+)\/([A-Za-z0-9_-]+)$/.exec(place) ?? []
  if (servers === undefined || pool === undefined || replica === undefined) {
    throw new SignalboxError('usage', `\`${place}\` names no journal: write nats://host:port/POOL/REPLICA, as in nats://127.0.0.1:4222/epp/replica-0`)
  }
  return { servers, pool, replica }
}

/**
 * Opens a journal for reading, wherever it is: journal.sqlite, the folder it is in, an exported file, or a replica's
 * journal in JetStream. Throws as `openJournal`; `SignalboxError` nats-connect, journal-not-found and usage for JetStream.
 */
export const openJournalAt = (place: string, access: BrokerAccess = {}): JournalReader => {
  if (!isInStream(place)) return openJournal(place)
  const { servers, pool, replica } = inStream(place)
  const settings = { ...NO_ACCESS, ...access, nats: servers, pool }
  return NatsJournalStore.open({ nats: natsOptions(settings, 'signalbox journal reader'), prefix: namesOf(settings).prefix, pool, replica, streamReplicas: 1, readOnly: true })
}

const NO_ACCESS = {
  natsCredsFile: undefined, natsNkeyFile: undefined, natsUser: undefined, natsPasswordFile: undefined, natsTokenFile: undefined,
  natsTlsCaFile: undefined, natsTlsCertFile: undefined, natsTlsKeyFile: undefined, natsInboxPrefix: undefined, natsSubjectPrefix: 'signalbox.v1',
} as const
