import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { NatsConnection } from '@nats-io/transport-node'
import { SchedulerClient } from '../../src/client/index.ts'
import type { ScheduledRequest } from '../../src/client/index.ts'
import { InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { decodeLoadMemory } from '../../src/plugins/producer/inflight-load-producer/load-memory.ts'
import type { Serving } from '../../src/app/serve.ts'
import { chatRequest, CONFIGURATION, journalIn, NatsWorld, rowsOf } from '../integration/nats/engine-on-nats.ts'
import { TcpProxy } from '../integration/nats/tcp-proxy.ts'
import { flagsIn, MAIN, run, temporaryFolder } from '../story/server.ts'

/** So that a request whose answer or end was lost with the broker is given up soon. */
const TIMEOUTS = { 'timeout-sent': '4s', 'timeout-first-token': '4s', 'timeout-silence': '4s', 'nats-endpoint-timeout': '60s', journal: 'nats' }
const ASK_AGAIN_MS = 50

/** What came of the load while a fault was at work. */
export interface Outcome {
  readonly sent: number
  readonly answered: number
  /** Never answered, though asked for again and again. */
  readonly lost: number
  /** Answers beyond one a request. */
  readonly twice: number
  /** Requests that some replica still counts after settling, its own or a peer's. */
  readonly countedWrong: number
  readonly divergences: number
  readonly journalsWhole: boolean
}

type Engine = Awaited<ReturnType<NatsWorld['engine']>>

/** Two replicas on a broker, four endpoints announced, and clients at work. */
export class PoolUnderLoad {
  readonly world: NatsWorld
  readonly proxy: TcpProxy
  readonly a: Engine
  readonly b: Engine
  /** Of the clients; for faults that send things themselves. */
  readonly connection: NatsConnection
  private readonly keys = new Map<string, number>()
  private sent = 0
  private answered = 0
  private lost = 0

  private constructor(world: NatsWorld, proxy: TcpProxy, a: Engine, b: Engine, connection: NatsConnection) {
    this.world = world
    this.proxy = proxy
    this.a = a
    this.b = b
    this.connection = connection
  }

  static async start(): Promise<PoolUnderLoad> {
    const world = await NatsWorld.start('max_pending: 4MB\nwrite_deadline: "1s"')
    const proxy = await TcpProxy.to(world.server.port)
    for (const name of ['w', 'x', 'y', 'z']) await world.agent(`default/${name}`)
    const a = await world.engine({ ...TIMEOUTS, replica: 'a' })
    // Replica b comes over the proxy, which may be cut.
    const b = await world.engine({ ...TIMEOUTS, replica: 'b', nats: proxy.url })
    const { connection } = await world.server.link()
    const pool = new PoolUnderLoad(world, proxy, a, b, connection)
    for (const engine of [a, b]) await until(async () => (await rowsOf(engine)).length === 4)
    return pool
  }

  /** Asks for routes, `inFlight` at once, while the fault does its work and for `ms` in all; then settles and looks. */
  async under(fault: (pool: PoolUnderLoad) => Promise<void>, ms: number, inFlight: number = 16): Promise<Outcome> {
    const client = new SchedulerClient(this.connection, { pool: 'default', timeoutMs: 1000 })
    const end = performance.now() + ms
    let faulted = false
    const worker = async (): Promise<void> => {
      while (performance.now() < end || !faulted) await this.one(client)
    }
    const work = Array.from({ length: inFlight }, worker)
    await fault(this).finally(() => (faulted = true))
    await Promise.all(work)
    return this.settled()
  }

  async close(): Promise<void> {
    await this.world.close()
    await this.proxy.close()
  }

  private async one(client: SchedulerClient): Promise<void> {
    this.sent += 1
    const requestId = `request-${this.sent}`
    const request = await this.ask(client, requestId)
    if (request === undefined) {
      this.lost += 1
      return
    }
    this.answered += 1
    this.keys.set(requestId, (this.keys.get(requestId) ?? 0) + 1)
    void request.sent()
    void request.started(200, true)
    await request.ended({ cause: 'natural', status: 200 })
  }

  /** A request that got no answer is asked for again, as a data plane does. */
  private async ask(client: SchedulerClient, requestId: string): Promise<ScheduledRequest | undefined> {
    const until = performance.now() + 60_000
    for (;;) {
      try {
        return await client.schedule({ ...chatRequest(requestId), requestId })
      } catch {
        // Refused, or the connection broke: both pass.
        if (performance.now() > until || this.connection.isClosed()) return undefined
        await new Promise((resolve) => setTimeout(resolve, ASK_AGAIN_MS))
      }
    }
  }

  private async settled(): Promise<Outcome> {
    const engines = [this.a, this.b]
    const counted = (): number => engines.reduce((sum, engine) => sum + engine.host.actor.engine.view.requests.size + peersOf(engine), 0)
    await until(() => Promise.resolve(counted() === 0), 30_000).catch(() => undefined)
    const countedWrong = counted()
    await until(() => Promise.resolve(engines.every(({ host }) => host.link.state === 'live')), 20_000).catch(() => undefined)
    let divergences = 0
    let journalsWhole = true
    for (const engine of engines) {
      await engine.close()
      divergences += engine.host.divergences
      const { out, code } = await run('replay', journalIn(engine.folder))
      if (code !== 0 || !out.includes('0 divergences')) divergences += 1
      journalsWhole &&= (await run('journal', 'verify', journalIn(engine.folder))).code === 0
    }
    const twice = [...this.keys.values()].reduce((sum, answers) => sum + answers - 1, 0)
    return { sent: this.sent, answered: this.answered, lost: this.lost, twice, countedWrong, divergences, journalsWhole }
  }

  /** A third replica in a process of its own; resolves when it serves. */
  async replicaProcess(replica: string): Promise<{ kill(): Promise<void> }> {
    const folder = temporaryFolder()
    const flags = [...flagsIn(folder.path, { ...TIMEOUTS, nats: this.world.server.url, pool: 'default', replica })].flatMap(([name, value]) => [`--${name}`, value])
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'serve', '--config', CONFIGURATION, ...flags], { stdio: ['ignore', 'pipe', 'ignore'] })
    for await (const line of createInterface({ input: child.stdout })) if (line.includes('serving on')) break
    return {
      kill: async () => {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
        folder.remove()
      },
    }
  }
}

/** Requests of peers that an engine counts. */
const peersOf = ({ host }: Pick<Serving, 'host'>): number => {
  const producer = host.actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof InFlightLoadProducer)
  return producer === undefined ? 0 : decodeLoadMemory(producer.save()).peers.reduce((sum, [, held]) => sum + held.length, 0)
}

/** Resolves when it is so; rejects when that takes longer. */
export const until = async (holds: () => Promise<boolean>, ms: number = 20_000): Promise<void> => {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it did not come about within ${ms} ms: ${String(holds)}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
