import { Objm } from '@nats-io/obj'
import type { ObjectStore } from '@nats-io/obj'
import { SignalboxError } from '../../../core/errors.ts'
import type { SealedState } from '../../../journal/index.ts'
import type { NatsLink } from '../connection.ts'

/** A base or a snapshot that is stored, or a batch that is too large for a message: then the position is its first record's. */
export interface StoredState {
  readonly kind: 'base' | 'snapshot' | 'batch'
  readonly position: number
  readonly atUs: number
  readonly declaresMissing: boolean
  readonly bytes: number
}

const NAME = /^(base|snapshot|batch)-(\d+)-(\d+)-(missing|whole)$/

/** The bases, snapshots and largest batches of a journal, in an object store; what is known of each stands in its name. */
export class StateObjects {
  private readonly objects: ObjectStore

  private constructor(objects: ObjectStore) {
    this.objects = objects
  }

  /** Makes the bucket when it is not there. */
  static async open(link: NatsLink, bucket: string, replicas: number): Promise<StateObjects> {
    return new StateObjects(await new Objm(link.jetstream()).create(bucket, { replicas }))
  }

  /** Opens a bucket that is there. @throws SignalboxError journal-not-found */
  static async look(link: NatsLink, bucket: string): Promise<StateObjects> {
    try {
      return new StateObjects(await new Objm(link.jetstream()).open(bucket))
    } catch (error) {
      throw new SignalboxError('journal-not-found', `the object store ${bucket} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
    }
  }

  /** Oldest first. */
  async list(kind: StoredState['kind']): Promise<StoredState[]> {
    const states: StoredState[] = []
    for (const { name, size, deleted } of await this.objects.list()) {
      const [, found, position, atUs, missing] = NAME.exec(name) ?? []
      if (found === kind && !deleted) states.push({ kind, position: Number(position), atUs: Number(atUs), declaresMissing: missing === 'missing', bytes: size })
    }
    return states.sort((a, b) => a.position - b.position)
  }

  async put(kind: StoredState['kind'], { position, atUs, bytes }: Omit<SealedState, 'seal'>, declaresMissing: boolean): Promise<void> {
    const before = (await this.list(kind)).filter((state) => state.position === position)
    if (kind === 'base' && before.length > 0) return
    const state = { kind, position, atUs, declaresMissing, bytes: bytes.length }
    await this.objects.putBlob({ name: nameOf(state) }, bytes)
    for (const old of before) if (nameOf(old) !== nameOf(state)) await this.drop(old)
  }

  async get(kind: StoredState['kind'], position: number): Promise<Uint8Array | undefined> {
    const state = (await this.list(kind)).find((each) => each.position === position)
    return state === undefined ? undefined : ((await this.objects.getBlob(nameOf(state))) ?? undefined)
  }

  async drop(state: StoredState): Promise<void> {
    await this.objects.delete(nameOf(state))
  }

  /** Deletes the bucket and all that is in it. */
  async destroy(): Promise<void> {
    await this.objects.destroy()
  }
}

const nameOf = ({ kind, position, atUs, declaresMissing }: StoredState): string => `${kind}-${position}-${atUs}-${declaresMissing ? 'missing' : 'whole'}`
