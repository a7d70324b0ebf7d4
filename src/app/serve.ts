import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { config as rxjs } from 'rxjs'
import type { Clock } from '../actors/clock.ts'
import { SystemClock } from '../adapters/clock/index.ts'
import { AdminServer } from '../adapters/http/admin.ts'
import { HttpDoor } from '../adapters/http/door.ts'
import type { ListenAddress } from '../adapters/http/listening.ts'
import type { Preparation } from '../adapters/http/preparation.ts'
import { createLogger } from '../adapters/log/index.ts'
import type { Logger } from '../adapters/log/index.ts'
import { createMetrics } from '../adapters/prometheus/index.ts'
import type { EngineMetrics } from '../adapters/prometheus/index.ts'
import { warningText } from '../config/problems.ts'
import type { Warning } from '../config/problems.ts'
import type { SignalboxSettings } from '../config/signalbox/settings.ts'
import type { CompletedConfiguration } from '../core/configuration.ts'
import type { PluginType } from '../core/contract.ts'
import { discoveryOf } from './discovery.ts'
import type { Discovery } from './discovery.ts'
import { EngineHost } from './host.ts'
import { KvFaults } from './kv-faults.ts'
import { KvFeed } from './kv-feed.ts'
import { Broker } from './nats/broker.ts'
import { secretOf } from './pool-secret.ts'
import { Prefills, tellPolicies } from './prefills.ts'
import { parsersOf, preparation, receivesOf, tokensOf } from './preparation.ts'
import { schedulerPort } from './scheduler-port.ts'
import { Scraping } from './scraping.ts'
import { TokenCounting } from './token-counting.ts'
import { mountLivePage } from './ui/live-page.ts'
import { VERSION } from './version.ts'
import { drain, endpointRows, feedReadings, liveSources, pluginStates } from './views.ts'

export interface ServeOptions {
  readonly settings: SignalboxSettings
  readonly completed: CompletedConfiguration
  readonly warnings?: readonly Warning[]
  /** The user's own plugin types, and the modules they are from. */
  readonly userTypes?: readonly PluginType[]
  readonly pluginModules?: readonly string[]
  /** Where log lines go; standard error when absent. */
  readonly log?: (line: string) => void
  /** A clock that begins no earlier than this, in microseconds since the Unix epoch; the system's when absent. */
  readonly clock?: (notBefore: number) => Clock
}

/** A serving engine. */
export interface Serving {
  readonly host: EngineHost
  /** Where requests come in. */
  readonly front: ListenAddress
  readonly admin: ListenAddress
  /** Takes no new requests, lets those in flight end for the drain time, then closes the journal. */
  close(): Promise<void>
}

/**
 * Starts everything: journal, engine, discovery, scraping, front door, admin server.
 * @throws SignalboxError where something cannot be started; what was started before is closed again
 */
export const serve = async (options: ServeOptions): Promise<Serving> => {
  const { settings } = options
  const log = createLogger({ level: settings.logLevel, format: settings.logFormat, ...(options.log === undefined ? {} : { write: options.log }) })
  for (const warning of options.warnings ?? []) log.warn({}, warningText(warning))
  const metrics = createMetrics({ version: { commit: VERSION, buildRef: VERSION }, ofProcess: true })
  const host = await startHost(options, log, metrics)
  const started = new Stack()
  started.push(async () => {
    const unwritten = await host.close()
    if (unwritten > 0) log.error({ records: unwritten }, 'closed with records that could not be written')
  })
  try {
    return await open(options, host, log, metrics, started)
  } catch (error) {
    await started.unwind()
    throw error
  }
}

const startHost = (options: ServeOptions, log: Logger, metrics: EngineMetrics): Promise<EngineHost> => {
  const { settings, completed, userTypes = [], pluginModules = [] } = options
  const fault = (error: unknown): void => log.error({ err: error }, 'a fault within')
  // RxJS throws what a listener throws out of a timer, which would end the process: one bad listener is not worth that.
  rxjs.onUnhandledError = fault
  return EngineHost.start({
    settings, completed, userTypes, pluginModules,
    contentHashes: hashes(userTypes, pluginModules),
    seed: settings.seed === undefined ? randomBytes(8).readBigUInt64LE() : BigInt(settings.seed),
    runId: randomUUID(),
    clock: options.clock ?? ((notBefore) => new SystemClock(notBefore)),
    events: {
      observe: (observation) => metrics.observe(observation),
      divergence: (position, message) => log.error({ position }, `the replay of the journal came to another answer: ${message}`),
      journal: (state, message) => (message === '' ? log.info({ state }, 'journal') : log.error({ state }, `journal: ${message}`)),
      fault,
    },
  })
}

/** Things to close again, the newest first. */
class Stack {
  private readonly closers: (() => Promise<void> | void)[] = []

  push(close: () => Promise<void> | void): void {
    this.closers.push(close)
  }

  async unwind(): Promise<void> {
    for (let close = this.closers.pop(); close !== undefined; close = this.closers.pop()) await close()
  }
}

const open = async (options: ServeOptions, host: EngineHost, log: Logger, metrics: EngineMetrics, started: Stack): Promise<Serving> => {
  const { settings, completed } = options
  const { actor, desk } = host
  let broker: Broker | undefined = undefined
  let door: HttpDoor | undefined = undefined
  const scraping = new Scraping({
    actor, configuration: completed,
    intervalMs: settings.refreshMetricsIntervalMs,
    pollsMax: settings.scrapeConcurrency,
    observe: (observation) => metrics.observe(observation),
    except: (endpoint) => broker?.announces(endpoint) === true,
    changed: (endpoint, problem, message) => (problem === undefined ? log.info({ endpoint }, 'metrics are read again') : log.warn({ endpoint, problem }, `metrics cannot be read: ${message}`)),
  })
  started.push(() => scraping.close())
  actor.turns.subscribe(({ turn, took }) => {
    metrics.turn(turn, took)
    if (MEMBERSHIP.has(turn.record.input?.input?.kind ?? '')) scraping.follow()
    logDecisions(log, turn.record.decisions)
  })
  const kvFaults = new KvFaults((endpoint, fault, count) => log.warn({ endpoint, fault, count }, 'KV events are not as they should be; told once of each kind'))
  const kvFeed = await startKvFeed(options, host, kvFaults, metrics, started)
  metrics.show({ ...liveSources(host, scraping, settings.pool), feeds: () => feedReadings(kvFaults, kvFeed, broker), door: () => door?.counts })
  const counting = countingOf(options, host)
  if (counting !== undefined) started.push(() => counting.close())
  const discovery = await startDiscovery(options, host, log)
  if (settings.nats !== undefined) {
    broker = await Broker.open({ settings, host, scraping, log, kvFeed, kvFaults, preparation: preparationOf(options, host, counting), alone: discovery === undefined })
    started.push(() => broker?.close())
    await broker.start()
  }
  if (discovery !== undefined) started.push(() => discovery.close())
  scraping.follow()
  const opened = doorOf(options, host, counting, log, metrics)
  door = opened
  desk.onExpired((request, denial) => opened.abort(request, denial))
  const front = await opened.listen()
  started.push(() => opened.close(settings.drainTimeoutMs))
  const admin = adminOf(settings, host, metrics, log)
  started.push(mountLivePage(admin, settings))
  const adminAddress = await admin.listen()
  started.push(() => admin.close())
  log.info({ front: addressText(front), admin: addressText(adminAddress), endpoints: actor.engine.view.fleet.present().length, version: VERSION }, 'serving')
  return {
    host, front,
    admin: adminAddress,
    close: async () => {
      log.info({ open: opened.open }, 'shutting down')
      await started.unwind()
      log.info({}, 'stopped')
    },
  }
}

const MEMBERSHIP: ReadonlySet<string> = new Set(['endpointJoined', 'endpointUpdated', 'endpointLeft'])

const startDiscovery = async ({ completed, settings }: ServeOptions, host: EngineHost, log: Logger): Promise<Discovery | undefined> => {
  const discovery = discoveryOf(host.actor, completed, (error) => log.error({ err: error }, 'the endpoints stay as they were'))
  if (discovery === undefined && settings.nats === undefined) log.warn({}, 'nothing tells of endpoints: give --endpoints FILE or --nats URL, or configure dataLayer.discovery')
  await discovery?.start()
  return discovery
}

const preparationOf = ({ settings, completed }: ServeOptions, { actor }: EngineHost, counting: TokenCounting | undefined, refuses: (body: Uint8Array) => string | undefined = () => undefined): Preparation => {
  const { plugins } = actor.engine.view.pipeline
  return preparation({
    parsers: parsersOf(plugins, completed.parsers),
    tokens: tokensOf(plugins),
    receives: receivesOf(plugins),
    wanted: () => actor.engine.wanted(),
    secret: secretOf(settings),
    refuses,
    counting,
  })
}

const startKvFeed = async ({ settings }: ServeOptions, { actor }: EngineHost, faults: KvFaults, metrics: EngineMetrics, started: Stack): Promise<KvFeed | undefined> => {
  const feed = await KvFeed.open({
    actor,
    plugins: actor.engine.view.pipeline.plugins,
    secret: secretOf(settings),
    hearsAgents: settings.nats !== undefined,
    fault: faults.take,
    observe: metrics.observe,
  })
  if (feed === undefined) return undefined
  started.push(() => feed.close())
  actor.turns.subscribe(({ turn }) => {
    if (MEMBERSHIP.has(turn.record.input?.input?.kind ?? '')) feed.follow()
  })
  return feed
}

const countingOf = ({ settings }: ServeOptions, { actor, desk }: EngineHost): TokenCounting | undefined =>
  TokenCounting.of({ tokens: tokensOf(actor.engine.view.pipeline.plugins), desk, wanted: () => actor.engine.wanted(), secret: secretOf(settings) })

const doorOf = (options: ServeOptions, host: EngineHost, counting: TokenCounting | undefined, log: Logger, metrics: EngineMetrics): HttpDoor => {
  const { settings } = options
  const { actor, desk, refusal } = host
  const prefills = new Prefills(actor.engine, settings)
  tellPolicies(actor.engine.view.pipeline.handler, (fields, message) => log.info(fields, message))
  return new HttpDoor({
    listen: settings.listen,
    bodyLimitBytes: settings.bodyLimitBytes,
    forcesUsage: settings.forceUsage === 'on',
    endpoints: () => actor.engine.view.fleet.candidates(),
    scheduler: schedulerPort(desk, () => {
      const why = refusal(settings)
      return why === undefined ? undefined : { kind: 'rejected', request: 0, status: 503, code: 'ServiceUnavailable', reason: '', message: why }
    }, prefills.legOf),
    prefills: prefills.observer((observation) => metrics.observe(observation), (fields, message) => log.warn(fields, message)),
    preparation: preparationOf(options, host, counting, prefills.refuses),
    failed: (error) => log.error({ err: error }, 'front door'),
  })
}

const adminOf = (settings: SignalboxSettings, host: EngineHost, metrics: EngineMetrics, log: Logger): AdminServer => {
  const { actor, link } = host
  return new AdminServer({
    listen: settings.adminListen,
    healthy: () => (actor.failure === undefined ? { ok: true, reasons: [] } : { ok: false, reasons: ['the engine stopped after a fault of its own'] }),
    ready: () => {
      const reasons: string[] = []
      if (actor.engine.view.fleet.candidates().length === 0) reasons.push('no endpoint is ready')
      if (link.state !== 'live') reasons.push(`the journal is ${link.state}`)
      return { ok: reasons.length === 0, reasons }
    },
    metrics: async () => ({ contentType: metrics.contentType, text: await metrics.text() }),
    pluginStates: () => pluginStates(actor.engine),
    endpoints: () => endpointRows(actor.engine),
    drain: drain(host),
    now: () => Math.floor(actor.engine.at / 1000),
    failed: (error) => log.error({ err: error }, 'admin'),
  })
}

const logDecisions = (log: Logger, decisions: readonly { readonly request: number; readonly attempt: number; readonly outcome: string; readonly rejection: { readonly status: number; readonly message: string } | undefined }[]): void => {
  for (const { request, attempt, outcome, rejection } of decisions) {
    if (outcome === 'routed') log.debug({ request, attempt }, 'routed')
    else log.warn({ request, attempt, status: rejection?.status }, `${outcome}: ${rejection?.message ?? ''}`)
  }
}

/** What the code of the user's types is, so that a journal tells when it changed: the hash of each module, for all of its types. */
const hashes = (types: readonly PluginType[], modules: readonly string[]): ReadonlyMap<string, string> => {
  const hash = createHash('sha256')
  for (const file of modules) hash.update(readFileSync(file))
  const digest = hash.digest('hex')
  return new Map(types.map(({ type }) => [type, digest]))
}

/** "host:port", as URLs have it. */
export const addressText = ({ host, port }: ListenAddress): string => (host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`)
