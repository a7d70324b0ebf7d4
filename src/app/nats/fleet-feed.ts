import { asyncScheduler } from 'rxjs'
import type { EngineActor } from '../../actors/engine-actor.ts'
import { Membership } from '../../actors/membership/index.ts'
import { reportOf } from '../../actors/telemetry/index.ts'
import { BucketWatch } from '../../adapters/nats/bucket-watch.ts'
import type { NatsLink } from '../../adapters/nats/connection.ts'
import { nameOf } from '../../adapters/nats/names.ts'
import type { Names } from '../../adapters/nats/names.ts'
import { subscribeTelemetry } from '../../adapters/nats/telemetry.ts'
import type { TelemetryFault } from '../../adapters/nats/telemetry.ts'
import type { TelemetryReport } from '../../wire/index.ts'
import { decodeEndpointAnnouncement, fromBytes, WireError } from '../../wire/index.ts'
import type { Scraping } from '../scraping.ts'

export interface FleetFeedOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly actor: EngineActor
  readonly scraping: Scraping
  readonly streamReplicas: number
  readonly timeoutMs: number
  /** Whether nothing else tells of endpoints, so that all that the journal knows were announced here. */
  readonly alone: boolean
  failed(error: unknown): void
}

/** Messages that were not taken, in numbers that only rise. */
export type FeedFaults = Record<TelemetryFault | 'unknown-endpoint' | 'malformed-announcement', number>

/** Brings the endpoints that agents announce on NATS into the engine, and their metrics into the telemetry slots. */
export class FleetFeed {
  readonly faults: FeedFaults = { 'subject': 0, 'malformed': 0, 'other-endpoint': 0, 'unknown-endpoint': 0, 'malformed-announcement': 0 }
  private readonly options: FleetFeedOptions
  private readonly membership: Membership
  private readonly watch: BucketWatch

  constructor(options: FleetFeedOptions) {
    this.options = options
    const { actor, link, names } = options
    this.membership = new Membership({
      submit: (input) => actor.submit(input, undefined, (error) => options.failed(error)),
      timeoutMs: options.timeoutMs,
      clock: asyncScheduler,
      known: options.alone ? actor.engine.view.fleet.present() : [],
    })
    this.watch = new BucketWatch({
      link,
      bucket: names.endpointsBucket,
      replicas: options.streamReplicas,
      entry: (key, value) => this.announced(key, value),
      failed: options.failed,
    })
  }

  /** Hears of the fleet from now on. */
  async start(): Promise<void> {
    const { link, names } = this.options
    await this.watch.start()
    subscribeTelemetry({
      link, names,
      report: (report) => this.report(report),
      refused: (fault) => (this.faults[fault] += 1),
    })
  }

  has(endpoint: string): boolean {
    return this.membership.has(endpoint)
  }

  down(): void {
    this.membership.pause()
  }

  async up(): Promise<void> {
    await this.watch.restart()
    this.membership.resume()
  }

  async close(): Promise<void> {
    this.membership.close()
    await this.watch.close()
  }

  private announced(key: string, value: Uint8Array | undefined): void {
    const id = nameOf(key)
    if (id === undefined) return this.malformed()
    if (value === undefined) return this.membership.withdrawn(id)
    try {
      const announcement = fromBytes(decodeEndpointAnnouncement, value)
      // What may be written is told by the key; the value must be of the same endpoint.
      if (announcement.endpoint?.id === id) this.membership.announced(announcement)
      else this.malformed()
    } catch (error) {
      if (!(error instanceof WireError)) throw error
      this.malformed()
    }
  }

  private malformed(): void {
    this.faults['malformed-announcement'] += 1
  }

  private report({ endpoint: id, incarnation, sequence, metrics }: TelemetryReport): void {
    const endpoint = this.options.actor.engine.view.fleet.get(id)?.endpoint
    if (endpoint === undefined || endpoint.incarnation !== incarnation || metrics === undefined) {
      this.faults['unknown-endpoint'] += 1
      return
    }
    this.options.scraping.feed({ slot: endpoint.slot, life: endpoint.life, report: reportOf(metrics, sequence) })
  }
}
