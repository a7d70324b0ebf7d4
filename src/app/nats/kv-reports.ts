import { asyncScheduler } from 'rxjs'
import type { EngineActor } from '../../actors/engine-actor.ts'
import { KvFollowers } from '../../actors/kv-followers.ts'
import type { NatsLink } from '../../adapters/nats/connection.ts'
import { KvReader } from '../../adapters/nats/kv-reader.ts'
import type { Names } from '../../adapters/nats/names.ts'
import type { KvFaults } from '../kv-faults.ts'
import { isToldByAgent } from '../kv-feed.ts'
import type { KvFeed } from '../kv-feed.ts'
import { namingOf } from './kv-naming.ts'

export interface KvReportsOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly actor: EngineActor
  readonly feed: KvFeed
  readonly streamReplicas: number
  readonly faults: KvFaults
  failed(error: unknown): void
}

/** Brings what agents tell of their engines' caches into the engine. */
export class KvReports {
  private readonly options: KvReportsOptions
  private readonly followers: KvFollowers
  private readonly reader: KvReader

  constructor(options: KvReportsOptions) {
    this.options = options
    const { link, names, actor, feed, streamReplicas, faults, failed } = options
    const { index } = feed.producer
    this.followers = new KvFollowers({
      naming: namingOf(feed.naming),
      clock: asyncScheduler,
      submit: (input) => feed.inbox.submit(input, failed),
      holds: (id) => {
        const slot = actor.engine.view.fleet.get(id)?.endpoint.slot
        return slot !== undefined && index.shelf(slot)?.id === id
      },
      want: (id, incarnation, sequence) => this.reader.want(id, incarnation, sequence),
      // An agent may tell of its cache before its announcement is here; it will be asked.
      fault: (id, kind) => (kind === 'unknown-endpoint' ? faults.count(kind, 1) : faults.take(id, kind, 1)),
      skipped: (kind) => feed.skipped({ of: kind, cacheKind: '' }, 'other-naming'),
    })
    this.reader = new KvReader({
      link, names, streamReplicas, failed,
      report: (report) => this.followers.reported(report),
      refused: (kind) => faults.take('', kind, 1),
      room: feed.inbox.room,
      began: () => this.followers.doubt(),
    })
  }

  /** Reports that the server holds and that were not read. */
  get behind(): number {
    return this.reader.behind
  }

  /** Endpoints of whose cache not all is known. */
  get waiting(): number {
    return this.followers.waiting
  }

  /** Hears of the caches from now on. @throws SignalboxError where the stream cannot be had */
  async start(): Promise<void> {
    await this.reader.start()
    this.follow()
    this.options.actor.turns.subscribe(({ turn }) => {
      if (MEMBERSHIP.has(turn.record.input?.input?.kind ?? '')) this.follow()
    })
  }

  up(): Promise<void> {
    return this.reader.restart()
  }

  async close(): Promise<void> {
    this.followers.close()
    await this.reader.close()
  }

  private follow(): void {
    this.followers.follow(this.options.actor.engine.view.fleet.present().filter(isToldByAgent))
  }
}

const MEMBERSHIP: ReadonlySet<string> = new Set(['endpointJoined', 'endpointUpdated', 'endpointLeft'])
