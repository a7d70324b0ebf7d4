import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NatsOptions } from '../../../src/adapters/nats/connection.ts'
import { blockNaming, startAgent } from '../../../src/app/nats/agent.ts'
import type { Agent } from '../../../src/app/nats/agent.ts'
import { load } from '../../../src/app/load.ts'
import { addressText, serve } from '../../../src/app/serve.ts'
import type { Serving } from '../../../src/app/serve.ts'
import { SchedulerClient } from '../../../src/client/index.ts'
import type { SchedulerClientOptions } from '../../../src/client/index.ts'
import { startEndpoint } from '../../../src/simulation/index.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import { flagsIn, temporaryFolder } from '../../story/server.ts'
import { NatsServer } from './nats-server.ts'

/** One profile that scores by load, own and peers'. */
export const CONFIGURATION: string = fileURLToPath(new URL('./shared-load.yaml', import.meta.url))

type Running = Serving & { readonly adminUrl: string; readonly lines: string[]; readonly folder: string }

/** A broker with engines, agents and simulated endpoints around it, all real; `close` ends them all. */
export class NatsWorld {
  readonly server: NatsServer
  /** What agents said. */
  readonly agentLines: string[] = []
  private readonly closers: (() => Promise<void> | void)[] = []

  private constructor(server: NatsServer) {
    this.server = server
  }

  static async start(configuration: string = '', environment: Readonly<Record<string, string>> = {}): Promise<NatsWorld> {
    return new NatsWorld(await NatsServer.start(configuration, environment))
  }

  /** An engine without any endpoints of its own; with `folder` one that goes on where another ended. */
  async engine(more: Readonly<Record<string, string>> = {}, folder?: string, configuration: string = CONFIGURATION): Promise<Running> {
    let path = folder
    if (path === undefined) {
      const own = temporaryFolder()
      path = own.path
      this.closers.unshift(() => own.remove())
    }
    const lines: string[] = []
    const flags = flagsIn(path, { nats: this.server.url, pool: 'default', 'log-level': 'debug', 'drain-timeout': '0s', ...more })
    const loaded = await load({ files: [configuration], flags, pluginModules: [], allowExperimental: false, endpoints: undefined })
    const serving = await serve({ ...loaded, log: (line) => lines.push(line) })
    let closed = false
    const close = async (): Promise<void> => {
      if (closed) return
      closed = true
      await serving.close()
    }
    this.closers.push(close)
    return { ...serving, close, lines, folder: path, adminUrl: `http://${addressText(serving.admin)}` }
  }

  async endpoint(options: Parameters<typeof startEndpoint>[0] = {}): Promise<SimulatedEndpoint> {
    const endpoint = await startEndpoint({ model: 'sim-model', speed: 50, ...options })
    this.closers.push(() => endpoint.close())
    return endpoint
  }

  /** An agent for an endpoint, or for an address where nothing is; it follows the KV events that the endpoint publishes. */
  async agent(name: string, at: Pick<SimulatedEndpoint, 'address' | 'port' | 'kvEvents'> = { address: '127.0.0.1', port: 9, kvEvents: undefined }, more: Readonly<Record<string, string>> = {}, intervalMs: number = 50): Promise<Agent> {
    const loaded = await load({ files: [], flags: new Map(Object.entries({ nats: this.server.url, pool: 'default', ...more })), pluginModules: [], allowExperimental: false, endpoints: undefined })
    const agent = await startAgent({
      broker: loaded.settings,
      endpoint: name,
      address: at.address,
      port: at.port,
      labels: new Map([['llm-d.ai/role', 'decode']]),
      engine: 'vllm',
      metricsUrl: `http://${at.address}:${at.port}/metrics`,
      intervalMs,
      kv: at.kvEvents === undefined ? undefined : {
        address: `tcp://127.0.0.1:${at.kvEvents.port}`,
        replayAddress: `tcp://127.0.0.1:${at.kvEvents.replayPort}`,
        topicFilter: 'kv@',
        naming: blockNaming('cbor-fnv', 16, '', loaded.settings),
      },
      log: (message) => this.agentLines.push(message),
    })
    this.closers.push(() => agent.close())
    return agent
  }

  async client(options: Partial<SchedulerClientOptions> = {}, as: Partial<NatsOptions> = {}): Promise<SchedulerClient> {
    const { connection } = await this.server.link(as)
    return new SchedulerClient(connection, { pool: 'default', ...options })
  }

  async close(): Promise<void> {
    for (let close = this.closers.pop(); close !== undefined; close = this.closers.pop()) await close()
    await this.server.stop()
  }
}

/** The endpoints of an engine: id and whether it is fresh. */
export const rowsOf = async ({ adminUrl }: { readonly adminUrl: string }): Promise<readonly { readonly id: string; readonly state: string; readonly requests: number; readonly ageMs: number | null }[]> =>
  ((await (await fetch(`${adminUrl}/endpoints`)).json()) as { endpoints: { id: string; state: string; requests: number; ageMs: number | null }[] }).endpoints

export const chatRequest = (content: string = randomUUID()): { readonly path: string; readonly body: Uint8Array } => ({
  path: '/v1/chat/completions',
  body: new TextEncoder().encode(JSON.stringify({ model: 'sim-model', messages: [{ role: 'user', content }] })),
})

export const journalIn = (folder: string): string => join(folder, 'journal.sqlite')
