import { Dealer } from 'zeromq'
import { messageOf, sequenceFrame } from './message.ts'
import type { EventMessage } from './message.ts'
import type { ReplayOperation } from './socket-errors.ts'

/** Without a message for so long, the publisher has none or is gone. (llm-d: KV events) */
const IDLE_MS = 2000
/** A replay takes no longer than this in all. (llm-d: KV events) */
const OVERALL_MS = 120_000
/** Messages at most: what a publisher keeps, ten times. */
const MESSAGES_MAX = 100_000

/** Asks a publisher for its messages from a sequence on; undefined where it does not answer to the end, and then `failed` is told of what went wrong, unless it is closing. */
export const fetchReplay = async (address: string, from: bigint, closing: AbortSignal, failed: (operation: ReplayOperation) => void): Promise<readonly EventMessage[] | undefined> => {
  const socket = new Dealer({ linger: 0, receiveTimeout: IDLE_MS, sendTimeout: IDLE_MS })
  const close = (): void => socket.close()
  closing.addEventListener('abort', close)
  let operation: ReplayOperation = 'replay-connect'
  try {
    socket.connect(address)
    operation = 'replay-send'
    await socket.send(['', sequenceFrame(from)])
    const messages: EventMessage[] = []
    const end = performance.now() + OVERALL_MS
    operation = 'replay-no-progress'
    while (performance.now() < end && messages.length < MESSAGES_MAX) {
      const frames = await socket.receive()
      // Some publishers answer with the empty frame of a request in front, or in place of the topic.
      const message = messageOf(frames.slice(-3))
      if (message === undefined) break
      if (message.payload.length === 0) return messages
      messages.push(message)
    }
    failed('replay-incomplete')
    return undefined
  } catch {
    if (!closing.aborted) failed(operation)
    return undefined
  } finally {
    closing.removeEventListener('abort', close)
    socket.close()
  }
}
