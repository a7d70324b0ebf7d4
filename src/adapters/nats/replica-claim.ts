import { Kvm } from '@nats-io/kv'
import type { KV, KvEntry } from '@nats-io/kv'
import { TimeoutError } from '@nats-io/nats-core'
import { SignalboxError } from '../../core/errors.ts'
import { decodeReplicaAnnouncement, encodeReplicaAnnouncement, fromBytes, toBytes, WireError } from '../../wire/index.ts'
import type { ReplicaAnnouncement } from '../../wire/index.ts'
import { HEARTBEAT_MS } from './announcer.ts'
import type { NatsLink } from './connection.ts'
import type { Names } from './names.ts'
import { isApiError, WRONG_LAST_SEQUENCE } from './streams.ts'

/** A name whose heartbeat does not move for so long is free: its owner died. */
const VACANT_AFTER_MS = 2 * HEARTBEAT_MS + 500

/** How often the name's entry is asked for while the server does not answer; each waits for 5 s. */
const ASKED_MAX = 3

export interface ReplicaClaimOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly runId: string
  readonly streamReplicas: number
  /** Another engine took the name. */
  taken(): void
  failed(error: unknown): void
}

/**
 * The right to a replica's name, by an entry that each write must follow: of two engines with one name, one is refused.
 * Each write is a heartbeat.
 */
export class ReplicaClaim {
  private readonly options: ReplicaClaimOptions
  private kv: KV | undefined
  private revision = 0
  private heartbeat = 0
  private timer: NodeJS.Timeout | undefined
  private writing: Promise<void> = Promise.resolve()
  private lost = false

  constructor(options: ReplicaClaimOptions) {
    this.options = options
  }

  /**
   * Throws where an engine that lives has the name; takes nothing. To be asked before anything is written in its name.
   * @throws SignalboxError replica-name-taken
   */
  async check(): Promise<void> {
    const kv = await this.open()
    const before = await this.entry(kv)
    if (before?.operation === 'PUT' && (await this.moves(kv, before.revision))) throw this.refusal()
  }

  /** Takes the name. @throws SignalboxError replica-name-taken where an engine that lives has it */
  async take(): Promise<void> {
    await this.check()
    this.revision = (await this.entry(this.kv as KV))?.revision ?? 0
    try {
      await this.write()
    } catch (error) {
      if (isApiError(error, WRONG_LAST_SEQUENCE)) throw this.refusal()
      throw error
    }
    this.timer = setInterval(() => this.beat(), HEARTBEAT_MS)
  }

  /** Gives the name back. */
  async release(): Promise<void> {
    clearInterval(this.timer)
    await this.writing
    if (this.lost || !this.options.link.connected || this.heartbeat === 0) return
    await this.kv?.delete(this.options.replica, { previousSeq: this.revision }).catch(this.options.failed)
  }

  private async open(): Promise<KV> {
    const { link, names, streamReplicas } = this.options
    this.kv = await new Kvm(link.jetstream()).create(names.replicasBucket, { history: 1, replicas: streamReplicas, allow_direct: true })
    return this.kv
  }

  /** The entry of the name. A bucket made a moment ago may leave the first question unanswered: it is asked again. */
  private async entry(kv: KV): Promise<KvEntry | null> {
    for (let asked = 1; ; asked += 1) {
      try {
        return await kv.get(this.options.replica)
      } catch (error) {
        if (!(error instanceof TimeoutError)) throw error
        if (asked === ASKED_MAX) throw new SignalboxError('nats-stream', `the bucket ${this.options.names.replicasBucket} did not answer in ${ASKED_MAX} attempts`)
      }
    }
  }

  private async moves(kv: KV, revision: number): Promise<boolean> {
    await new Promise((resolve) => setTimeout(resolve, VACANT_AFTER_MS))
    return ((await this.entry(kv))?.revision ?? revision) !== revision
  }

  private beat(): void {
    this.writing = this.writing.then(() => this.beatOnce())
  }

  private async beatOnce(): Promise<void> {
    if (this.lost || !this.options.link.connected) return
    try {
      await this.write()
    } catch (error) {
      if (isApiError(error, WRONG_LAST_SEQUENCE)) await this.conflict().catch(this.options.failed)
      // The bucket may be gone with the server's data.
      else await this.open().then(() => undefined, this.options.failed)
    }
  }

  /** Our own write whose answer was lost, an entry that is gone, or another engine. */
  private async conflict(): Promise<void> {
    const entry = await this.entry(await this.open())
    const owner = entry?.operation === 'PUT' ? readReplica(entry.value)?.runId : this.options.runId
    if (owner === this.options.runId) {
      this.revision = entry?.revision ?? 0
      return
    }
    this.lost = true
    clearInterval(this.timer)
    this.options.taken()
  }

  private async write(): Promise<void> {
    const { replica, runId } = this.options
    this.heartbeat += 1
    const value = toBytes(encodeReplicaAnnouncement, { replica, runId, heartbeat: this.heartbeat })
    const kv = this.kv as KV
    this.revision = this.revision === 0 ? await kv.create(replica, value) : await kv.update(replica, value, this.revision)
  }

  private refusal(): SignalboxError {
    return new SignalboxError('replica-name-taken', `an engine that lives has the name ${this.options.replica} in the pool ${this.options.names.pool}`)
  }
}

export const readReplica = (value: Uint8Array): ReplicaAnnouncement | undefined => {
  try {
    return fromBytes(decodeReplicaAnnouncement, value)
  } catch (error) {
    if (error instanceof WireError) return undefined
    throw error
  }
}
