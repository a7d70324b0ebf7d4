import type { Socket } from 'zeromq'

/** What of a socket's work went wrong. (llm-d: the operations of zmq_errors_total; `handshake` and `accept` are ours) */
export type SocketOperation = 'connect' | 'handshake' | 'recv' | 'accept' | ReplayOperation

/** What of asking for past messages went wrong. (llm-d) */
export type ReplayOperation = 'replay-connect' | 'replay-send' | 'replay-no-progress' | 'replay-incomplete'

/** Counts what goes wrong with a socket and its connections, by operation, in numbers that only rise. */
export class SocketErrors {
  readonly counts: Partial<Record<SocketOperation, number>> = {}

  readonly count = (operation: SocketOperation): void => {
    this.counts[operation] = (this.counts[operation] ?? 0) + 1
  }

  /** Of a socket that connects to one publisher: attempts that failed, and connections that broke. */
  watchConnection({ events }: Pick<Socket, 'events'>, closing: AbortSignal): void {
    let isOpen = false
    let wasLost = false
    events.on('handshake', () => {
      isOpen = true
      wasLost = false
    })
    events.on('disconnect', () => {
      if (isOpen && !closing.aborted) this.count('recv')
      isOpen = false
      wasLost = true
    })
    events.on('connect:retry', () => {
      // The first after a loss says only that there will be an attempt.
      if (!wasLost) this.count('connect')
      wasLost = false
    })
    this.watchHandshakes(events)
  }

  /** Of a socket to which publishers connect. One that leaves is no error. */
  watchListening({ events }: Pick<Socket, 'events'>): void {
    events.on('accept:error', () => this.count('accept'))
    this.watchHandshakes(events)
  }

  private watchHandshakes(events: Socket['events']): void {
    for (const why of ['protocol', 'auth', 'other'] as const) events.on(`handshake:error:${why}`, () => this.count('handshake'))
  }
}
