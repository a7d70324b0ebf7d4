import { Client } from 'undici'

/**
 * How long an idle connection to an endpoint is kept, in ms: below the 5 s after which uvicorn, under most endpoints,
 * closes its side. An endpoint that announces a shorter time is believed.
 */
export const IDLE_MS = 4000
/** From the first SYN until the connection stands, in ms. */
export const CONNECT_TIMEOUT_MS = 5000
/** Largest head of an endpoint's response, in bytes. */
const RESPONSE_HEAD_BYTES_MAX = 64 * 1024

export interface ConnectionOptions {
  readonly connectTimeoutMs: number
  readonly idleMs: number
}

/** One connection to an endpoint, for one request at a time. */
export class Connection {
  readonly hostPort: string
  readonly client: Client
  /** Whether this very socket has served a request before: the endpoint may be closing it just now. */
  isReused = false
  isIdle = false

  constructor(hostPort: string, client: Client) {
    this.hostPort = hostPort
    this.client = client
  }
}

/**
 * The connections to the endpoints: as many as there are requests at once, the latest used first. One undici client a
 * connection, so that it is known of each whether it is used again, and so that ending a request ends its connection,
 * also while it is still being made.
 */
export class Connections {
  readonly #options: ConnectionOptions
  readonly #idle = new Map<string, Connection[]>()
  readonly #all = new Set<Connection>()

  constructor(options: ConnectionOptions) {
    this.#options = options
  }

  /** How many there are, idle ones included. */
  get size(): number {
    return this.#all.size
  }

  /** An idle connection to "host:port" or a new one; `fresh` never gives a used one. */
  take(hostPort: string, fresh: boolean): Connection {
    const idle = fresh ? undefined : this.#idle.get(hostPort)?.pop()
    if (idle !== undefined) {
      idle.isIdle = false
      return idle
    }
    return this.#open(hostPort)
  }

  /** Gives a connection back after a whole response. */
  giveBack(connection: Connection): void {
    if (connection.client.destroyed) return
    connection.isReused = true
    connection.isIdle = true
    const idle = this.#idle.get(connection.hostPort)
    if (idle === undefined) this.#idle.set(connection.hostPort, [connection])
    else idle.push(connection)
  }

  /** Ends a connection and what runs on it. */
  drop(connection: Connection): void {
    this.#all.delete(connection)
    if (connection.isIdle) this.#forget(connection)
    connection.client.destroy().catch(ignore)
  }

  async close(): Promise<void> {
    const clients = [...this.#all].map(({ client }) => client)
    this.#all.clear()
    this.#idle.clear()
    await Promise.all(clients.map((client) => client.destroy()))
  }

  #open(hostPort: string): Connection {
    const client = new Client(`http://${hostPort}`, {
      connect: { timeout: this.#options.connectTimeoutMs },
      keepAliveTimeout: this.#options.idleMs,
      keepAliveMaxTimeout: this.#options.idleMs,
      maxHeaderSize: RESPONSE_HEAD_BYTES_MAX,
      // How long an endpoint may take is the scheduler's to say.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
    const connection = new Connection(hostPort, client)
    client.on('connect', () => {
      connection.isReused = false
    })
    client.on('disconnect', () => {
      if (connection.isIdle) this.drop(connection)
    })
    this.#all.add(connection)
    return connection
  }

  #forget(connection: Connection): void {
    connection.isIdle = false
    const idle = this.#idle.get(connection.hostPort) ?? []
    const at = idle.indexOf(connection)
    if (at >= 0) idle.splice(at, 1)
    if (idle.length === 0) this.#idle.delete(connection.hostPort)
  }
}

/** Destroying may tell again of the error for which it was destroyed. */
const ignore = (): void => undefined
