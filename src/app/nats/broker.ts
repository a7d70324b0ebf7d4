import type { Preparation } from '../../adapters/http/preparation.ts'
import type { Logger } from '../../adapters/log/index.ts'
import { NatsLink } from '../../adapters/nats/connection.ts'
import { LifecycleConsumer } from '../../adapters/nats/lifecycle.ts'
import type { MicroService } from '../../adapters/nats/micro-service.ts'
import type { Names } from '../../adapters/nats/names.ts'
import { encoded, startScheduleService } from '../../adapters/nats/schedule-service.ts'
import type { PeerReading } from '../../adapters/prometheus/live-gauges.ts'
import type { SignalboxSettings } from '../../config/signalbox/settings.ts'
import type { EngineHost } from '../host.ts'
import type { KvFaults } from '../kv-faults.ts'
import type { KvFeed } from '../kv-feed.ts'
import type { Scraping } from '../scraping.ts'
import { VERSION } from '../version.ts'
import { FleetFeed } from './fleet-feed.ts'
import { KvReports } from './kv-reports.ts'
import { JournaledAcks } from './journaled-acks.ts'
import { namesOf, natsOptions } from './options.ts'
import { Replicas } from './replicas.ts'
import { NatsScheduling } from './scheduling.ts'

export interface BrokerOptions {
  readonly settings: SignalboxSettings
  readonly host: EngineHost
  readonly scraping: Scraping
  readonly preparation: Preparation
  /** Undefined where no plugin wants KV events. */
  readonly kvFeed: KvFeed | undefined
  readonly kvFaults: KvFaults
  /** Whether nothing else tells of endpoints. */
  readonly alone: boolean
  readonly log: Logger
}

/** Counts that only rise, and how far things are. */
export interface BrokerReadings {
  readonly refused: Readonly<Record<string, number>>
  /** KV reports that wait in the server, and endpoints of whose cache not all is known. */
  readonly kv: { readonly behind: number; readonly waiting: number } | undefined
  readonly peers: PeerReading
}

/** All that the engine has to do with NATS but its journal. */
export class Broker {
  readonly link: NatsLink
  readonly names: Names
  private readonly options: BrokerOptions
  private readonly acks: JournaledAcks
  private fleet: FleetFeed | undefined
  private kv: KvReports | undefined
  private lifecycle: LifecycleConsumer | undefined
  private replicas: Replicas | undefined
  private service: MicroService | undefined
  private malformedReports = 0

  private constructor(link: NatsLink, names: Names, options: BrokerOptions) {
    this.link = link
    this.names = names
    this.options = options
    this.acks = new JournaledAcks(options.host.journal.link, () => options.host.actor.depth)
  }

  /** Connects. @throws SignalboxError where the broker cannot be reached or refuses */
  static async open(options: BrokerOptions): Promise<Broker> {
    const { settings, log } = options
    let broker: Broker | undefined = undefined
    const link = await NatsLink.open(natsOptions(settings, `signalbox ${settings.pool} ${settings.replica}`), {
      down: () => broker?.down(),
      up: () => void broker?.up(),
      error: (message) => log.warn({}, `NATS: ${message}`),
    })
    broker = new Broker(link, namesOf(settings), options)
    return broker
  }

  /** Whether the endpoint is announced on NATS, so that its metrics come from there. */
  announces(endpoint: string): boolean {
    return this.fleet?.has(endpoint) === true
  }

  /** What was not taken, by what it was, and how far the caches of endpoints are known. */
  get readings(): BrokerReadings {
    const { kv, fleet, malformedReports, replicas, lifecycle } = this
    return {
      refused: { ...fleet?.faults, 'malformed-lifecycle': malformedReports },
      kv: kv === undefined ? undefined : { behind: kv.behind, waiting: kv.waiting },
      peers: {
        held: replicas?.peers.open.length ?? 0,
        dropped: { ...replicas?.peers.counts },
        behind: { load: replicas?.behind ?? 0, requests: lifecycle?.behind ?? 0 },
      },
    }
  }

  async close(): Promise<void> {
    await this.service?.stop()
    await this.replicas?.close()
    await this.lifecycle?.close()
    await this.kv?.close()
    this.acks.close()
    await this.fleet?.close()
    await this.link.close()
  }

  /** Takes the fleet, lifecycle reports and requests in. @throws SignalboxError where streams cannot be had */
  async start(): Promise<void> {
    const { settings, host, scraping, alone, log } = this.options
    const { link, names } = this
    const failed = (error: unknown): void => log.warn({ err: error }, 'NATS')
    const streamReplicas = settings.natsStreamReplicas
    this.fleet = new FleetFeed({
      link, names, scraping, alone, failed, streamReplicas,
      actor: host.actor,
      timeoutMs: settings.natsEndpointTimeoutMs,
    })
    await this.fleet.start()
    await this.startKv(failed)
    this.replicas = new Replicas({
      link, names, failed, streamReplicas,
      actor: host.actor,
      replica: settings.replica,
      runId: host.actor.engine.view.started?.runId ?? '',
      taken: () => this.taken(),
    })
    await this.replicas.start()
    const scheduling = this.scheduling()
    this.lifecycle = new LifecycleConsumer({
      link, names, failed, streamReplicas,
      replica: settings.replica,
      report: (report, acknowledge) => scheduling.report(report, () => this.acks.add(acknowledge)),
      malformed: () => this.malformed(),
    })
    await this.lifecycle.start()
    this.service = startScheduleService({ link, names, replica: settings.replica, version: VERSION, scheduling })
    // The server has the subscriptions when it answers: what is asked after this is heard.
    await link.connection.flush()
    log.info({ server: link.features.version, schedule: names.schedule }, 'NATS is connected')
  }

  private async startKv(failed: (error: unknown) => void): Promise<void> {
    const { host: { actor }, kvFeed: feed, kvFaults: faults, settings } = this.options
    if (feed === undefined) return
    this.kv = new KvReports({ link: this.link, names: this.names, actor, feed, faults, failed, streamReplicas: settings.natsStreamReplicas })
    await this.kv.start()
  }

  /** Two engines with one name would tell peers two stories under it: this one takes no more requests from NATS. */
  private taken(): void {
    const { replica, pool } = this.options.settings
    this.options.log.error({ replica, pool }, 'NATS: another engine took the name of this replica; give this one its own with --replica')
    void this.service?.stop()
  }

  /** A flood of rubbish must not become a flood of lines: told at the 1st, 2nd, 4th, 8th, ... */
  private malformed(): void {
    this.malformedReports += 1
    const count = this.malformedReports
    if (Number.isInteger(Math.log2(count))) this.options.log.warn({ count }, 'NATS: lifecycle reports are malformed')
  }

  private scheduling(): NatsScheduling {
    const { settings, host, preparation } = this.options
    return new NatsScheduling({
      desk: host.desk,
      names: this.names,
      replica: settings.replica,
      preparation,
      refusal: () => host.refusal(settings),
      labelOf: (request) => host.actor.engine.view.requests.get(request)?.id,
      reply: (subject, reply) => this.link.connection.publish(subject, encoded(reply, false)),
    })
  }

  private down(): void {
    this.options.log.warn({}, 'NATS is away')
    this.fleet?.down()
    this.replicas?.down()
  }

  private async up(): Promise<void> {
    this.options.log.info({}, 'NATS is back')
    await this.fleet?.up()
    await this.kv?.up()
    await this.replicas?.up()
  }
}
