import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { NatsConnection } from '@nats-io/transport-node'
import { openJournalAt } from '../../src/app/journal-place.ts'
import { SchedulerClient } from '../../src/client/index.ts'
import type { ScheduledRequest } from '../../src/client/index.ts'
import { verify } from '../../src/journal/index.ts'
import { InFlightLoadProducer } from '../../src/plugins/producer/inflight-load-producer/index.ts'
import { decodeLoadMemory } from '../../src/plugins/producer/inflight-load-producer/load-memory.ts'
import { engineOptions, finish, replayJournal } from '../../src/replay/index.ts'
import type { Serving } from '../../src/app/serve.ts'
import { chatRequest, CONFIGURATION, journalIn, NatsWorld, rowsOf } from '../integration/nats/engine-on-nats.ts'
import { TcpProxy } from '../integration/nats/tcp-proxy.ts'
import { flagsIn, MAIN, temporaryFolder } from '../story/server.ts'
import { runToEnd } from '../unit/journal/sealed-journal.ts'

export interface LoadOptions {
  /** After this a request whose answer or end was lost with the broker is given up by the engine. */
  readonly givenUpAfterMs: number
  readonly inFlight: number
  /** Between two requests of one client. */
  readonly paceMs: number
  /** How long there is load at least; the fault may take longer. */
  readonly loadMs: number
  /** Where the journals of the replicas besides the first are, whose is in JetStream. */
  readonly others: 'nats' | 'memory'
}

/** What came of the load while a fault was at work. */
export interface Outcome {
  readonly sent: number
  readonly answered: number
  /** Never answered, though asked for again and again. */
  readonly lost: number
  /** Answers beyond the first to one question. */
  readonly twice: number
  /** Requests that some replica still counts after settling, its own or a peer's. */
  readonly countedWrong: number
}

/** What the journals are at the end. */
export interface Journals {
  readonly divergences: number
  /** What is wrong with them. */
  readonly problems: readonly string[]
}

type Engine = Awaited<ReturnType<NatsWorld['engine']>>

const ASK_AGAIN_MS = 50
/** Whatever a replica missed of another is put right within a minute. */
const SETTLED_MS = 75_000
/** How long a client waits for its route before it asks again. */
const CLIENT_TIMEOUT_MS = 1000
const CLIENT_INBOX = '_INBOX_client'
export const THIRD = 'c'

/** Two replicas on a broker, four endpoints announced, and clients at work. */
export class PoolUnderLoad {
  readonly world: NatsWorld
  readonly proxy: TcpProxy
  readonly a: Engine
  readonly b: Engine
  /** Of the clients; for faults that send things themselves. */
  readonly connection: NatsConnection
  private readonly options: LoadOptions
  /** Journals of replicas that were killed. */
  private readonly killed: string[] = []
  private readonly answers = new Map<string, number>()
  private readonly closers: (() => void)[] = []
  private requests = 0
  private sent = 0
  private answered = 0
  private lost = 0

  private constructor(world: NatsWorld, proxy: TcpProxy, engines: readonly [Engine, Engine], connection: NatsConnection, options: LoadOptions) {
    this.world = world
    this.proxy = proxy
    this.a = engines[0]
    this.b = engines[1]
    this.connection = connection
    this.options = options
  }

  static async start(options: LoadOptions): Promise<PoolUnderLoad> {
    const world = await NatsWorld.start('max_pending: 4MB\nwrite_deadline: "1s"')
    const proxy = await TcpProxy.to(world.server.port)
    for (const name of ['w', 'x', 'y', 'z']) await world.agent(`default/${name}`, undefined, undefined, 1000)
    // Replica b comes over the proxy, which may be cut.
    const engines = await Promise.all([
      world.engine({ ...flagsFor(options), replica: 'a', journal: 'nats' }),
      world.engine({ ...flagsFor(options), replica: 'b', journal: options.others, nats: proxy.url }),
    ])
    const { connection } = await world.server.link({ inboxPrefix: CLIENT_INBOX })
    const pool = new PoolUnderLoad(world, proxy, engines, connection, options)
    const { connection: listening } = await world.server.link()
    listening.subscribe(`${CLIENT_INBOX}.>`, { callback: (error, { subject }) => (error === null ? void pool.answers.set(subject, (pool.answers.get(subject) ?? 0) + 1) : undefined) })
    for (const engine of engines) await until(async () => (await rowsOf(engine)).length === 4)
    return pool
  }

  /**
   * Asks for routes, and when these flow lets the fault do its work; goes on until they flow again and for the time given.
   * Then waits until nothing is in flight and both journals are live. Load of the replicas in `leaving` is not waited for.
   */
  async during(fault: (pool: PoolUnderLoad) => Promise<void>, leaving: readonly string[] = []): Promise<Outcome> {
    const { inFlight, paceMs, loadMs } = this.options
    const client = new SchedulerClient(this.connection, { pool: 'default', timeoutMs: CLIENT_TIMEOUT_MS, inboxPrefix: CLIENT_INBOX })
    const end = performance.now() + loadMs
    this.sent = this.answered = this.lost = 0
    const flowing = 2 * inFlight
    let enough = Infinity
    const worker = async (): Promise<void> => {
      while (performance.now() < end || this.answered < enough) {
        await this.one(client)
        if (paceMs > 0) await new Promise((resolve) => setTimeout(resolve, paceMs))
      }
    }
    const work = Array.from({ length: inFlight }, worker)
    await until(() => Promise.resolve(this.answered >= flowing))
    await fault(this).finally(() => (enough = this.answered + flowing))
    await Promise.all(work)
    const countedWrong = await this.settled(leaving)
    const twice = [...this.answers.values()].reduce((sum, answers) => sum + answers - 1, 0)
    return { sent: this.sent, answered: this.answered, lost: this.lost, twice, countedWrong }
  }

  /** Requests that are counted after all should be over. */
  async settled(leaving: readonly string[] = []): Promise<number> {
    const engines = [this.a, this.b]
    const counted = (): number => engines.reduce((sum, engine) => sum + engine.host.actor.engine.view.requests.size + peersOf(engine, leaving), 0)
    await until(() => Promise.resolve(counted() === 0 && engines.every(({ host }) => host.link.state === 'live')), SETTLED_MS).catch(() => undefined)
    return counted()
  }

  /** Ends the engines, and looks at their journals, on disk and in JetStream: along the chain, and decided again. */
  async end(): Promise<Journals> {
    let divergences = 0
    const problems: string[] = []
    const look = (place: string, replays: boolean): void => {
      const reader = openJournalAt(place)
      try {
        if (runToEnd(verify(reader)).records === 0) problems.push(`${place}: no records`)
        if (replays && finish(replayJournal(engineOptions(), reader)).divergence !== undefined) divergences += 1
      } catch (error) {
        problems.push(`${place}: ${String(error)}`)
      } finally {
        reader.close()
      }
    }
    for (const [replica, engine] of [['a', this.a], ['b', this.b]] as const) {
      await engine.close()
      divergences += engine.host.divergences
      if (replica !== 'a' && this.options.others === 'memory') continue
      look(journalIn(engine.folder), true)
      look(`${this.world.server.url}/default/${replica}`, false)
    }
    for (const folder of this.killed) look(journalIn(folder), true)
    return { divergences, problems }
  }

  async close(): Promise<void> {
    for (const close of this.closers) close()
    await this.world.close()
    await this.proxy.close()
  }

  /** A third replica in a process of its own; resolves when it serves. */
  async replicaProcess(): Promise<{ kill(): Promise<void> }> {
    const { others: journal } = this.options
    const folder = temporaryFolder()
    const flags = [...flagsIn(folder.path, { ...flagsFor(this.options), nats: this.world.server.url, pool: 'default', replica: THIRD, journal })].flatMap(([name, value]) => [`--${name}`, value])
    const child = this.spawn(['serve', '--config', CONFIGURATION, ...flags], 'pipe')
    this.closers.push(() => folder.remove())
    if (child.stdout !== null) for await (const line of createInterface({ input: child.stdout })) if (line.includes('serving on')) break
    return {
      kill: async () => {
        const ended = once(child, 'exit')
        child.kill('SIGKILL')
        await ended
        if (journal === 'nats') this.killed.push(folder.path)
      },
    }
  }

  /** A command in a process of its own, which ends with the pool at the latest. */
  spawn(args: readonly string[], stdout: 'pipe' | 'ignore', ...node: readonly string[]): ChildProcess {
    const child = spawn(process.execPath, [...node, '--disable-warning=ExperimentalWarning', MAIN, ...args], { stdio: ['ignore', stdout, 'ignore'] })
    this.closers.push(() => child.kill('SIGKILL'))
    return child
  }

  private async one(client: SchedulerClient): Promise<void> {
    this.sent += 1
    this.requests += 1
    const request = await this.ask(client, `request-${this.requests}`)
    if (request === undefined) {
      this.lost += 1
      return
    }
    this.answered += 1
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
}

const flagsFor = ({ givenUpAfterMs }: LoadOptions): Readonly<Record<string, string>> => {
  const timeout = `${givenUpAfterMs}ms`
  return { 'timeout-sent': timeout, 'timeout-first-token': timeout, 'timeout-silence': timeout, 'nats-endpoint-timeout': '60s' }
}

/** Requests of peers that an engine counts. */
const peersOf = ({ host }: Pick<Serving, 'host'>, leaving: readonly string[]): number => {
  const producer = host.actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof InFlightLoadProducer)
  const peers = producer === undefined ? [] : decodeLoadMemory(producer.save()).peers
  return peers.reduce((sum, [replica, held]) => sum + (leaving.includes(replica) ? 0 : held.length), 0)
}

/** Resolves when it is so; rejects when that takes longer. */
export const until = async (holds: () => Promise<boolean>, ms: number = 20_000): Promise<void> => {
  const end = performance.now() + ms
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`it did not come about within ${ms} ms: ${String(holds)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
