import type { EngineActor } from '../actors/engine-actor.ts'
import { KvListener, KvSubscription } from '../adapters/kv-events/index.ts'
import type { BlockChange, BlockNaming, KvFault, SkippedEvent, SkipReason } from '../adapters/kv-events/index.ts'
import { joinHostPort } from '../core/address.ts'
import type { Observation, Plugin } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import { maskOf } from '../core/shape.ts'
import { KvInbox } from './kv-inbox.ts'
import { PrecisePrefixCacheProducer } from '../plugins/producer/precise-prefix-cache-producer/index.ts'
import type { Input } from '../wire/input.ts'

/** Labels that name an endpoint's ports of KV events and of their replay, in place of those that the configuration has for all. */
const KV_PORT_LABEL = 'signalbox/kv-events-port'
const KV_REPLAY_PORT_LABEL = 'signalbox/kv-replay-port'
/** A label of endpoints whose agents tell of their caches, so that nobody asks the engines themselves; its value is `nats`. */
export const KV_SOURCE_LABEL = 'signalbox/kv-events'
/** What the listener is called where each subscriber has the name of an endpoint. (llm-d) */
const LISTENER_POD = 'local-subscriber'

export interface KvFeedOptions {
  readonly actor: EngineActor
  readonly plugins: readonly Plugin[]
  readonly secret: Uint8Array | undefined
  /** Whether what agents tell on NATS is heard. */
  readonly hearsAgents: boolean
  fault(endpoint: string, fault: KvFault, count: number): void
  observe(observation: Observation): void
}

/** An engine that is followed, by the "address:port" of its endpoint, or the listener to which they connect; numbers only rise. */
export interface KvSubscriber {
  readonly pod: string
  readonly messages: number
  readonly reconnections: number
  /** By operation. */
  readonly errors: Readonly<Record<string, number>>
}

interface Followed {
  readonly life: number
  readonly pod: string
  readonly address: string
  readonly subscription: KvSubscription
}

/** Brings the KV events of the fleet's engines into the engine, as the precise prefix producer is configured; the first one, where there are several. */
export class KvFeed {
  private readonly options: KvFeedOptions
  readonly producer: PrecisePrefixCacheProducer
  readonly naming: BlockNaming
  readonly inbox: KvInbox
  private readonly followed = new Map<string, Followed>()
  private listener: KvListener | undefined
  private readonly closings = new Set<Promise<void>>()

  private constructor(options: KvFeedOptions, producer: PrecisePrefixCacheProducer) {
    this.options = options
    this.producer = producer
    this.inbox = new KvInbox(options.actor)
    this.naming = namingOf(producer, options.secret)
  }

  /**
   * Undefined where no plugin wants KV events.
   * @throws Error where the configured address cannot be had
   */
  static async open(options: KvFeedOptions): Promise<KvFeed | undefined> {
    const producer = options.plugins.find((plugin) => plugin instanceof PrecisePrefixCacheProducer)
    if (producer === undefined) return undefined
    producer.timeWith(() => performance.now() / 1000)
    const feed = new KvFeed(options, producer)
    const { zmqEndpoint, topicFilter } = producer.parameters.events
    if (zmqEndpoint !== '') {
      feed.listener = await KvListener.open({
        address: zmqEndpoint,
        topicFilter,
        naming: feed.naming,
        room: feed.inbox.room,
        endpointOf: (pod) => feed.named(pod)?.id,
        change: (endpoint, change) => feed.submit(endpoint, '', change),
        fault: (fault, count) => options.fault('', fault, count),
        skipped: feed.skipped,
      })
    }
    if (feed.listener !== undefined) for (const endpoint of feed.present()) feed.clear(endpoint)
    feed.follow()
    return feed
  }

  /** Where engines connect; undefined where they are asked. */
  get address(): string | undefined {
    return this.listener?.address
  }

  /** The engines that are followed now, or the listener to which they connect. */
  get subscribers(): readonly KvSubscriber[] {
    const { listener } = this
    const engines = [...this.followed.values()].map(({ pod, subscription: { counts, errors } }) => ({ pod, ...counts, errors }))
    return listener === undefined ? engines : [...engines, { pod: LISTENER_POD, ...listener.counts, reconnections: 0, errors: listener.errors }]
  }

  /** Counts an event of which nothing was taken. (llm-d: stores_skipped_total, removals_skipped_total) */
  readonly skipped = ({ of, cacheKind }: SkippedEvent, reason: SkipReason | 'other-naming'): void => {
    const labels = { cache_kind: cacheKind === '' ? 'unknown' : cacheKind, reason: SKIP_REASONS[reason] ?? reason.replaceAll('-', '_') }
    this.options.observe({ kind: 'counter', name: `kv_cache_events_${of === 'stored' ? 'stores' : 'removals'}_skipped_total`, labels, value: 1 })
  }

  /** Follows whoever is in the fleet now, and nobody else. To be called when it changed. */
  follow(): void {
    const { zmqEndpoint, discoverPods } = this.producer.parameters.events
    const present = new Map(this.present().map((endpoint) => [endpoint.id, endpoint]))
    for (const [id, { life, address }] of this.followed) {
      const endpoint = present.get(id)
      if (endpoint === undefined || endpoint.life !== life || this.addressOf(endpoint) !== address) this.leave(id)
    }
    if (zmqEndpoint !== '' || !discoverPods) return
    for (const endpoint of present.values()) if (!this.followed.has(endpoint.id)) this.join(endpoint)
  }

  async close(): Promise<void> {
    for (const id of [...this.followed.keys()]) this.leave(id)
    await this.listener?.close()
    await Promise.all(this.closings)
  }

  /** Endpoints whose engines tell of their caches themselves. */
  private present(): readonly Endpoint[] {
    const present = this.options.actor.engine.view.fleet.present()
    return this.options.hearsAgents ? present.filter((endpoint) => !isToldByAgent(endpoint)) : present
  }

  private join(endpoint: Endpoint): void {
    const { id, life, incarnation } = endpoint
    const { topicFilter } = this.producer.parameters.events
    const address = this.addressOf(endpoint)
    this.clear(endpoint)
    const subscription = new KvSubscription({
      address,
      replayAddress: this.replayAddressOf(endpoint),
      topicFilter,
      naming: this.naming,
      room: this.inbox.room,
      model: '',
      change: (change) => this.submit(id, incarnation, change),
      fault: (fault, count) => this.options.fault(id, fault, count),
      skipped: this.skipped,
    })
    this.followed.set(id, { life, address, subscription, pod: endpoint.hostPort })
  }

  /** What an earlier run knew may have changed since, and will be told again. */
  private clear({ id, slot, incarnation }: Endpoint): void {
    if (this.producer.index.shelf(slot)?.id === id) this.submit(id, incarnation, { kind: 'cleared' })
  }

  private leave(id: string): void {
    const closing = this.followed.get(id)?.subscription.close()
    this.followed.delete(id)
    this.listener?.forget(id)
    if (closing === undefined) return
    this.closings.add(closing)
    void closing.finally(() => this.closings.delete(closing))
  }

  private addressOf(endpoint: Endpoint): string {
    const own = Number(endpoint.labels.get(KV_PORT_LABEL) ?? NaN)
    return `tcp://${joinHostPort(endpoint.address, Number.isNaN(own) ? this.producer.parameters.events.podDiscoveryConfig.socketPort + rankOf(endpoint) : own)}`
  }

  private replayAddressOf(endpoint: Endpoint): string | undefined {
    const { replaySocketPort } = this.producer.parameters.events.podDiscoveryConfig
    const own = Number(endpoint.labels.get(KV_REPLAY_PORT_LABEL) ?? NaN)
    const port = Number.isNaN(own) ? (replaySocketPort === 0 ? 0 : replaySocketPort + rankOf(endpoint)) : own
    return port === 0 ? undefined : `tcp://${joinHostPort(endpoint.address, port)}`
  }

  /** The endpoint of a topic: "address:port", or its id. */
  private named(pod: string): Endpoint | undefined {
    return this.present().find(({ id, hostPort }) => hostPort === pod || id === pod)
  }

  private submit(endpoint: string, incarnation: string, change: BlockChange): void {
    this.inbox.submit({ input: inputOf(endpoint, incarnation, change, this.naming.blockTokens) })
  }
}

/** What llm-d calls some of our reasons; the others have none there. */
const SKIP_REASONS: Readonly<Partial<Record<string, string>>> = { 'cache-kind': 'unsupported_cache_kind', 'token-count': 'non_dense_block_span' }

/** Whether an agent tells on NATS what the endpoint's engine has in its cache. */
export const isToldByAgent = ({ labels }: Pick<Endpoint, 'labels'>): boolean => labels.get(KV_SOURCE_LABEL) === 'nats'

/** How a producer wants blocks to be named. */
const namingOf = ({ parameters: { hash, blockTokens, seed } }: PrecisePrefixCacheProducer, secret: Uint8Array | undefined): BlockNaming => ({
  hash, blockTokens, seed,
  mask: secret === undefined ? undefined : maskOf(secret),
})

/** Ranks of one pod are endpoints of their own, named "...-rank-<number>". (llm-d) */
const rankOf = ({ id }: Endpoint): number => Number(/-rank-(\d+)$/.exec(id)?.[1] ?? 0)

const inputOf = (endpoint: string, incarnation: string, change: BlockChange, blockTokens: number): NonNullable<Input['input']> => {
  switch (change.kind) {
    case 'stored':
      return { kind: 'kvBlocksStored', value: { endpoint, incarnation, keys: change.keys, tier: change.tier, blockTokens } }
    case 'removed':
      return { kind: 'kvBlocksRemoved', value: { endpoint, incarnation, keys: change.keys, tier: change.tier } }
    case 'cleared':
      return { kind: 'kvBlocksCleared', value: { endpoint, incarnation } }
  }
}
