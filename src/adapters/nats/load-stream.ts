import { DiscardPolicy } from '@nats-io/jetstream'
import type { StreamInfo } from '@nats-io/jetstream'
import type { NatsLink } from './connection.ts'
import type { Names } from './names.ts'
import { ensureStream } from './streams.ts'

/** Messages of one replica that the stream keeps; its newest open set is always among them. */
const KEPT_PER_REPLICA = 8192

export interface LoadStreamOptions {
  readonly link: NatsLink
  readonly names: Names
  readonly replica: string
  readonly runId: string
  readonly streamReplicas: number
  failed(error: unknown): void
  /** Undefined when more may be read, else resolves when it may. */
  room?(): Promise<void> | undefined
}

/** The stream in which replicas tell each other of their load. @throws SignalboxError nats-stream */
export const ensureLoadStream = async ({ link, names, streamReplicas }: LoadStreamOptions): Promise<StreamInfo> =>
  ensureStream(await link.manager(), {
    name: names.loadStream,
    subjects: [names.anyLoad],
    num_replicas: streamReplicas,
    max_msgs_per_subject: KEPT_PER_REPLICA,
    discard: DiscardPolicy.Old,
  })
