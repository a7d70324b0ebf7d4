import type { NatsOptions } from '../../adapters/nats/connection.ts'
import { Names } from '../../adapters/nats/names.ts'
import type { SignalboxSettings } from '../../config/signalbox/settings.ts'
import { SignalboxError } from '../../core/errors.ts'

/** The settings that say how the broker is reached. */
export type BrokerSettings = Pick<
  SignalboxSettings,
  | 'nats' | 'natsCredsFile' | 'natsNkeyFile' | 'natsUser' | 'natsPasswordFile' | 'natsTokenFile' | 'natsTlsCaFile'
  | 'natsTlsCertFile' | 'natsTlsKeyFile' | 'natsInboxPrefix' | 'natsSubjectPrefix' | 'pool'
>

/** How a process called `name` reaches the broker that the settings name. */
export const natsOptions = (settings: BrokerSettings, name: string): NatsOptions => {
  if (settings.nats === undefined) throw new SignalboxError('usage', 'no NATS server is named: give --nats URL')
  return {
    servers: settings.nats,
    name,
    credsFile: settings.natsCredsFile,
    nkeyFile: settings.natsNkeyFile,
    user: settings.natsUser,
    passwordFile: settings.natsPasswordFile,
    tokenFile: settings.natsTokenFile,
    tlsCaFile: settings.natsTlsCaFile,
    tlsCertFile: settings.natsTlsCertFile,
    tlsKeyFile: settings.natsTlsKeyFile,
    ...(settings.natsInboxPrefix === undefined ? {} : { inboxPrefix: settings.natsInboxPrefix }),
  }
}

export const namesOf = (settings: BrokerSettings): Names => new Names(settings.natsSubjectPrefix, settings.pool)
