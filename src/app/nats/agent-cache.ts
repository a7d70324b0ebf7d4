import { KvSubscription } from '../../adapters/kv-events/index.ts'
import type { BlockChange, BlockNaming } from '../../adapters/kv-events/index.ts'
import type { NatsLink } from '../../adapters/nats/connection.ts'
import { KvPublisher } from '../../adapters/nats/kv-publisher.ts'
import type { Names } from '../../adapters/nats/names.ts'
import type { KvChange } from '../../wire/index.ts'
import { namingOf } from './kv-naming.ts'

/** Where an engine publishes its KV events, and how its blocks are named towards schedulers. */
export interface AgentCacheOptions {
  /** Such as "tcp://127.0.0.1:5557". */
  readonly address: string
  /** Undefined where the engine replays nothing. */
  readonly replayAddress: string | undefined
  readonly topicFilter: string
  readonly naming: BlockNaming
}

export interface AgentCacheParts extends AgentCacheOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly endpoint: string
  readonly incarnation: string
  fault(endpoint: string, fault: string, count: number): void
  failed(error: unknown): void
}

/** Follows the KV events of the engine beside it and tells schedulers what is in its cache: keys of blocks, never tokens. */
export class AgentCache {
  private readonly subscription: KvSubscription
  private readonly publisher: KvPublisher

  constructor({ address, replayAddress, topicFilter, naming, link, names, endpoint, incarnation, fault, failed }: AgentCacheParts) {
    this.publisher = new KvPublisher({
      link, names, endpoint, incarnation, failed,
      naming: namingOf(naming),
      held: () => this.subscription.held().map(changeOf),
    })
    this.subscription = new KvSubscription({
      address, replayAddress, topicFilter, naming,
      model: '',
      change: (change) => this.publisher.changed(changeOf(change)),
      fault: (kind, count) => fault(endpoint, kind, count),
    })
  }

  down(): void {
    this.publisher.down()
  }

  up(): void {
    this.publisher.up()
  }

  async close(): Promise<void> {
    await this.subscription.close()
    await this.publisher.close()
  }
}

const changeOf = (change: BlockChange): KvChange => (change.kind === 'cleared' ? { kind: 'cleared', keys: NO_KEYS, tier: '' } : change)

const NO_KEYS = new Uint8Array(0)
