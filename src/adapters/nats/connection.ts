import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { checkServerIdentity } from 'node:tls'
import type { PeerCertificate } from 'node:tls'
import { jetstream, jetstreamManager } from '@nats-io/jetstream'
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import { TimeoutError } from '@nats-io/nats-core'
import { connect, createInbox, credsAuthenticator, nkeyAuthenticator } from '@nats-io/transport-node'
import type { NatsConnection, NodeConnectionOptions } from '@nats-io/transport-node'
import { SignalboxError } from '../../core/errors.ts'
import { ServerFeatures } from './server-features.ts'

/** How a broker is reached. Secrets come from files only, so that they stand in no command line, log or journal. */
export interface NatsOptions {
  /** One or several URLs with commas between: nats://host:port or tls://host:port. */
  readonly servers: string
  readonly credsFile?: string | undefined
  readonly nkeyFile?: string | undefined
  readonly user?: string | undefined
  readonly passwordFile?: string | undefined
  readonly tokenFile?: string | undefined
  readonly tlsCaFile?: string | undefined
  readonly tlsCertFile?: string | undefined
  readonly tlsKeyFile?: string | undefined
  /** What the server calls this connection in its lists. */
  readonly name: string
  readonly inboxPrefix?: string
  /** How long one try to connect may take, in milliseconds. */
  readonly timeoutMs?: number
}

export interface NatsEvents {
  /** The connection broke; the library tries again for ever. */
  down?(): void
  /** There is a connection again, maybe to another server. */
  up?(): void
  /** The server refused something, such as a subject that the user may not use. */
  error?(message: string): void
}

/** Between two tries to reach the broker again. */
const RECONNECT_MS = 250
const CONNECT_TIMEOUT_MS = 5000
/** A broker that says nothing for two of these is gone: noticed within 10 s. */
const PING_MS = 5000
/** How long one answer of JetStream may take. */
const API_TIMEOUT_MS = 5000

/** A connection to a broker that comes back by itself. */
export class NatsLink {
  readonly connection: NatsConnection
  readonly features: ServerFeatures
  private readonly inboxPrefix: string | undefined
  private readonly events: NatsEvents
  private isUp = true

  private constructor(connection: NatsConnection, inboxPrefix: string | undefined, events: NatsEvents) {
    this.connection = connection
    this.inboxPrefix = inboxPrefix
    this.events = events
    this.features = new ServerFeatures(connection.info?.version ?? '')
  }

  /** @throws SignalboxError nats-connect where no server can be reached or it refuses, nats-server-version, usage */
  static async open(options: NatsOptions, events: NatsEvents = {}): Promise<NatsLink> {
    const wanted = connectionOptions(options)
    let connection: NatsConnection
    try {
      connection = await connect(wanted)
    } catch (error) {
      throw new SignalboxError('nats-connect', `${options.servers}: ${refusalOf(error, wanted)}`)
    }
    try {
      const link = new NatsLink(connection, options.inboxPrefix, events)
      void link.watch()
      return link
    } catch (error) {
      await connection.close()
      throw error
    }
  }

  get connected(): boolean {
    return this.isUp && !this.connection.isClosed()
  }

  /** A subject of its own for answers, under the prefix that the user may use. */
  inbox(): string {
    return createInbox(this.inboxPrefix)
  }

  jetstream(): JetStreamClient {
    return jetstream(this.connection, { timeout: API_TIMEOUT_MS })
  }

  manager(): Promise<JetStreamManager> {
    return jetstreamManager(this.connection, { checkAPI: false, timeout: API_TIMEOUT_MS })
  }

  /** Sends what waits and closes; at once where there is no connection. */
  async close(): Promise<void> {
    if (this.connection.isClosed()) return
    if (this.isUp) await this.connection.drain().catch(() => undefined)
    await this.connection.close()
  }

  private async watch(): Promise<void> {
    for await (const status of this.connection.status()) {
      if (status.type === 'disconnect') {
        this.isUp = false
        this.events.down?.()
      } else if (status.type === 'reconnect') {
        this.isUp = true
        this.events.up?.()
      } else if (status.type === 'error') this.events.error?.(messageOf(status.error))
    }
  }
}

const connectionOptions = (options: NatsOptions): NodeConnectionOptions => {
  const servers = options.servers.split(',').map((server) => server.trim()).filter((server) => server !== '')
  for (const server of servers) {
    if (server.includes('@')) throw new SignalboxError('usage', 'a NATS URL bears no user and password: they would be seen in lists of processes; give them as files')
  }
  const { tlsCaFile, tlsCertFile, tlsKeyFile } = options
  const tls = tlsCaFile !== undefined || tlsCertFile !== undefined || tlsKeyFile !== undefined || servers.some((server) => server.startsWith('tls://'))
  return {
    servers: servers.map((server) => server.replace(/^(nats|tls):\/\//, '')),
    name: options.name,
    maxReconnectAttempts: -1,
    reconnectTimeWait: RECONNECT_MS,
    reconnectJitter: RECONNECT_MS,
    pingInterval: PING_MS,
    timeout: options.timeoutMs ?? CONNECT_TIMEOUT_MS,
    ignoreAuthErrorAbort: true,
    ...(options.inboxPrefix === undefined ? {} : { inboxPrefix: options.inboxPrefix }),
    ...authentication(options),
    ...(tls ? { tls: { ...checkedFor(servers), ...file('caFile', tlsCaFile), ...file('certFile', tlsCertFile), ...file('keyFile', tlsKeyFile) } } : {}),
  }
}

/**
 * The library gives TLS no name for a server that is named by its address, so that its certificate would have to be that
 * of "localhost": then one of the addresses must be in it.
 */
const checkedFor = (servers: readonly string[]): object => {
  const hosts = servers.map((server) => server.replace(/^\w+:\/\//, '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1'))
  const unnamed = hosts.filter((host) => isIP(host) !== 0 || host === 'localhost')
  return {
    checkServerIdentity: (name: string, certificate: PeerCertificate): Error | undefined => {
      if (name !== 'localhost') return checkServerIdentity(name, certificate)
      const problems = unnamed.map((host) => checkServerIdentity(host, certificate))
      return problems.includes(undefined) ? undefined : (problems[0] ?? checkServerIdentity(name, certificate))
    },
  }
}

const authentication = ({ credsFile, nkeyFile, user, passwordFile, tokenFile }: NatsOptions): Partial<NodeConnectionOptions> => {
  const ways = [credsFile, nkeyFile, user, tokenFile].filter((way) => way !== undefined)
  if (ways.length > 1) throw new SignalboxError('usage', 'give one of a credentials file, an nkey file, a user and a token file')
  if (credsFile !== undefined) return { authenticator: credsAuthenticator(secretBytes(credsFile)) }
  if (nkeyFile !== undefined) return { authenticator: nkeyAuthenticator(new TextEncoder().encode(secretText(nkeyFile))) }
  if (user !== undefined) return { user, ...(passwordFile === undefined ? {} : { pass: secretText(passwordFile) }) }
  return tokenFile === undefined ? {} : { token: secretText(tokenFile) }
}

const file = (key: 'caFile' | 'certFile' | 'keyFile', path: string | undefined): object => (path === undefined ? {} : { [key]: path })

const secretBytes = (path: string): Uint8Array => {
  try {
    return readFileSync(path)
  } catch (error) {
    throw new SignalboxError('usage', `the secret cannot be read: ${messageOf(error)}`, { file: path })
  }
}

const secretText = (path: string): string => Buffer.from(secretBytes(path)).toString('utf8').trim()

/** A server that wants a certificate and gets none that it trusts closes without a word, after TLS is there. */
const refusalOf = (error: unknown, { tls, timeout }: NodeConnectionOptions): string =>
  error instanceof TimeoutError ? `no answer within ${timeout ?? 0} ms${tls === undefined ? '' : '; the server may want a certificate that it trusts (--nats-tls-cert-file)'}` : messageOf(error)

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
