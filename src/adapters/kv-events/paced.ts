/** After so long without a pause others have their turn: requests never wait behind KV events. */
const TURN_MS = 4

/** How much more may come: undefined while there is room, else resolves when there is. */
export type Room = () => Promise<void> | undefined

/**
 * Takes a socket's messages until it is closed, and no more of them than there is room for: the rest waits in the socket.
 * From `closing` on nothing more is taken.
 */
export const takePaced = async (socket: AsyncIterable<readonly Buffer[]>, closing: AbortSignal, take: (frames: readonly Buffer[]) => void, room: Room = alwaysRoom): Promise<void> => {
  const closed = new Promise<void>((resolve) => closing.addEventListener('abort', () => resolve(), { once: true }))
  let since = performance.now()
  for await (const frames of socket) {
    if (closing.aborted) continue
    take(frames)
    const full = room()
    if (full !== undefined) await Promise.race([full, closed])
    if (performance.now() - since < TURN_MS) continue
    await new Promise(setImmediate)
    since = performance.now()
  }
}

const alwaysRoom: Room = () => undefined
