import { asyncScheduler } from 'rxjs'
import type { EngineActor } from '../../actors/engine-actor.ts'
import { heldLoad, OwnLoad, Peers } from '../../actors/replicas/index.ts'
import { BucketWatch } from '../../adapters/nats/bucket-watch.ts'
import { LoadPublisher } from '../../adapters/nats/load-publisher.ts'
import { LoadReader } from '../../adapters/nats/load-reader.ts'
import type { LoadStreamOptions } from '../../adapters/nats/load-stream.ts'
import { nameOf } from '../../adapters/nats/names.ts'
import { readReplica, ReplicaClaim } from '../../adapters/nats/replica-claim.ts'
import { APPROX_KEYS } from '../../core/shape.ts'
import { InFlightLoadProducer } from '../../plugins/producer/inflight-load-producer/index.ts'
import { PrecisePrefixCacheProducer } from '../../plugins/producer/precise-prefix-cache-producer/index.ts'
import { decodeLoadMemory } from '../../plugins/producer/inflight-load-producer/load-memory.ts'
import { inboxRoom } from '../inbox-room.ts'

export interface ReplicasOptions extends LoadStreamOptions {
  readonly actor: EngineActor
  /** Another engine took this replica's name. */
  taken(): void
}

/** This engine among the replicas of its pool: tells its load, takes theirs, and holds its name. */
export class Replicas {
  readonly peers: Peers
  private readonly options: ReplicasOptions
  private readonly claim: ReplicaClaim
  private readonly own: OwnLoad
  private readonly publisher: LoadPublisher
  private readonly reader: LoadReader
  private readonly watch: BucketWatch

  constructor(options: ReplicasOptions) {
    this.options = options
    const { actor, link, names, replica, streamReplicas, failed } = options
    const producer = actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof InFlightLoadProducer)
    this.claim = new ReplicaClaim({ ...options, taken: options.taken })
    const kinds = guessedKinds(actor)
    this.own = new OwnLoad((request) => heldLoad(actor.engine.view, producer?.ledger, request, kinds))
    this.publisher = new LoadPublisher(options, () => this.own.open())
    this.peers = new Peers({
      replica,
      clock: asyncScheduler,
      known: producer === undefined ? [] : decodeLoadMemory(producer.save()).peers.map(([name]) => name),
      submit: (input) => actor.submit(input, undefined, failed),
      resync: () => void this.reader.restart(),
    })
    this.reader = new LoadReader({ ...options, room: () => inboxRoom(actor) }, (peer, runId) => this.peers.taken(peer, runId), (report) => this.peers.reported(report))
    this.watch = new BucketWatch({
      link, failed,
      bucket: names.replicasBucket,
      replicas: streamReplicas,
      entry: (key, value) => this.announced(key, value),
    })
  }

  /** Reports of peers that wait in the server. */
  get behind(): number {
    return this.reader.behind
  }

  /** Takes the name and begins. @throws SignalboxError replica-name-taken */
  async start(): Promise<void> {
    const { actor } = this.options
    await this.claim.take()
    for (const request of actor.engine.view.requests.keys()) this.own.adopt(request)
    actor.turns.subscribe(({ turn }) => {
      const change = { assigned: [], released: [] }
      this.own.taken(turn, change)
      if (change.assigned.length + change.released.length > 0) this.publisher.changed(change.assigned, change.released)
    })
    this.publisher.start()
    await this.reader.start()
    await this.watch.start()
  }

  down(): void {
    this.publisher.down()
  }

  async up(): Promise<void> {
    this.publisher.reopen()
    await this.reader.restart()
    await this.watch.restart()
  }

  async close(): Promise<void> {
    this.peers.close()
    await this.watch.close()
    await this.reader.close()
    await this.publisher.close()
    await this.claim.release()
  }

  private announced(key: string, value: Uint8Array | undefined): void {
    const name = nameOf(key)
    if (name === undefined) return
    if (value === undefined) return this.peers.withdrawn(name)
    const announcement = readReplica(value)
    if (announcement?.replica === name) this.peers.announced(announcement)
  }
}

/** Kinds of block keys about which some plugin guesses from what was sent where, so that peers' requests tell it more. */
const guessedKinds = (actor: EngineActor): ReadonlySet<string> => {
  const precise = actor.engine.view.pipeline.plugins.filter((plugin) => plugin instanceof PrecisePrefixCacheProducer)
  return new Set([APPROX_KEYS, ...precise.filter(({ parameters }) => parameters.speculates).map(({ parameters }) => parameters.hash)])
}
