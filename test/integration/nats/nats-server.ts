import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { NatsLink } from '../../../src/adapters/nats/connection.ts'
import type { NatsEvents, NatsOptions } from '../../../src/adapters/nats/connection.ts'
import { freePort } from '../../story/listening.ts'

/** A real nats-server with a folder of its own, on a port that it keeps over restarts. */
export class NatsServer {
  readonly folder: string
  readonly port: number
  private readonly configuration: string
  private readonly environment: Readonly<Record<string, string>>
  private process: ChildProcess | undefined
  private readonly links: NatsLink[] = []
  output = ''

  private constructor(folder: string, port: number, configuration: string, environment: Readonly<Record<string, string>>) {
    this.environment = environment
    this.folder = folder
    this.port = port
    this.configuration = configuration
  }

  /** `configuration` is added to the file: users, TLS, limits. */
  static async start(configuration: string = '', environment: Readonly<Record<string, string>> = {}): Promise<NatsServer> {
    const server = new NatsServer(mkdtempSync(join(tmpdir(), 'signalbox-nats-')), await freePort(), configuration, environment)
    await server.begin()
    return server
  }

  get url(): string {
    return `nats://127.0.0.1:${this.port}`
  }

  /** Starts the process and waits until it takes connections. */
  async begin(): Promise<void> {
    const file = join(this.folder, 'server.conf')
    mkdirSync(join(this.folder, 'store'), { recursive: true })
    writeFileSync(file, `host: 127.0.0.1\nport: ${this.port}\njetstream { store_dir: "${join(this.folder, 'store')}" }\n${this.configuration}\n`)
    const child = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...this.environment } })
    this.process = child
    await new Promise<void>((resolve, reject) => {
      child.stderr?.on('data', (chunk: Buffer) => {
        this.output += chunk.toString('utf8')
        if (this.output.includes('Server is ready')) resolve()
      })
      child.once('error', reject)
      child.once('exit', (code) => reject(new Error(`nats-server ended with ${String(code)}: ${this.output}`)))
    })
    this.output = ''
  }

  async link(options: Partial<NatsOptions> = {}, events: NatsEvents = {}): Promise<NatsLink> {
    const link = await NatsLink.open({ servers: this.url, name: 'test', ...options }, events)
    this.links.push(link)
    return link
  }

  /** Ends the process at once. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }

  /** Removes all that the server stored; to be called while it does not run. */
  forget(): void {
    rmSync(join(this.folder, 'store'), { recursive: true, force: true })
  }

  async stop(): Promise<void> {
    for (const link of this.links) await link.connection.close()
    await this.kill()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
