import { JetStreamApiError } from '@nats-io/jetstream'
import type { JetStreamManager, StreamConfig, StreamInfo } from '@nats-io/jetstream'
import { SignalboxError } from '../../core/errors.ts'

const STREAM_NOT_FOUND = 10_059
const NAME_IN_USE = 10_058
export const WRONG_LAST_SEQUENCE = 10_071

/** What is said of a stream that is to be there. Times in nanoseconds, as the server has them. */
export type WantedStream = Pick<StreamConfig, 'name' | 'subjects' | 'num_replicas'> & Partial<StreamConfig>

/**
 * The stream of this name, made when it is not there.
 * @throws SignalboxError nats-stream where one is there that carries other subjects, or none can be made
 */
export const ensureStream = async (manager: JetStreamManager, wanted: WantedStream): Promise<StreamInfo> => {
  try {
    const found = (await infoOf(manager, wanted.name)) ?? (await added(manager, wanted))
    const subjects = [...found.config.subjects].sort().join(' ')
    if (subjects === [...wanted.subjects].sort().join(' ')) return found
    throw new SignalboxError('nats-stream', `the stream ${wanted.name} carries ${subjects}, not ${wanted.subjects.join(' ')}`)
  } catch (error) {
    if (error instanceof SignalboxError) throw error
    throw new SignalboxError('nats-stream', `the stream ${wanted.name} cannot be had: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** What the server says of a stream; undefined where there is none. */
export const infoOf = async (manager: JetStreamManager, name: string): Promise<StreamInfo | undefined> => {
  try {
    return await manager.streams.info(name)
  } catch (error) {
    if (isApiError(error, STREAM_NOT_FOUND)) return undefined
    throw error
  }
}

/**
 * Whether the stream has this very message at this sequence: after it was deleted and made again another one may be there,
 * of the same subject too.
 */
export const isStored = async (manager: JetStreamManager, stream: string, sequence: number, subject: string, data: Uint8Array): Promise<boolean> => {
  try {
    const found = await manager.streams.getMessage(stream, { seq: sequence })
    return found?.subject === subject && Buffer.compare(found.data, data) === 0
  } catch (error) {
    if (error instanceof JetStreamApiError) return false
    throw error
  }
}

const added = async (manager: JetStreamManager, wanted: WantedStream): Promise<StreamInfo> => {
  try {
    return await manager.streams.add(wanted)
  } catch (error) {
    // Another replica was faster.
    if (isApiError(error, NAME_IN_USE)) return manager.streams.info(wanted.name)
    throw error
  }
}

export const isApiError = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code
