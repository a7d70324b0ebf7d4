import type { MessagePort } from 'node:worker_threads'
import type { MissingRange } from '../../wire/index.ts'
import type { FromFollower, RecordsMessage, ToFollower } from './follower-protocol.ts'

/** Bytes sent to the follower that it has not followed yet: beyond it the follower reads from the journal instead. */
const AHEAD_BYTES_MAX = 33_554_432

/** The writer's end of the line to the follower. */
export class FollowerLink {
  private readonly port: MessagePort
  private position: number
  private ahead = 0
  private readonly sent: { readonly position: number; readonly bytes: number }[] = []

  constructor(port: MessagePort, receive: (message: FromFollower) => void) {
    this.port = port
    this.position = 0
    port.on('message', (message: FromFollower) => {
      if (message.type === 'followed') this.note(message.position)
      receive(message)
    })
  }

  /** Position of the last record sent. */
  get sentPosition(): number {
    return this.position
  }

  /** Whether so much is under way that more should wait in the journal. */
  get isFull(): boolean {
    return this.ahead >= AHEAD_BYTES_MAX
  }

  start(path: string, lastPosition: number): void {
    this.position = lastPosition
    this.post({ type: 'start', path, lastPosition })
  }

  /** Sends records; their memory goes with them. */
  sendRecords(message: Omit<RecordsMessage, 'type'>): void {
    const bytes = message.pieces.reduce((sum, piece) => sum + piece.length, 0)
    this.position = message.firstPosition + message.count - 1
    this.ahead += bytes
    this.sent.push({ position: this.position, bytes })
    this.post({ type: 'records', ...message }, message.pieces.map(piece => piece.buffer as ArrayBuffer))
  }

  wantBase(previousHash: bigint, missing: MissingRange | undefined): void {
    this.post({ type: 'base-wanted', previousHash, missing })
  }

  finish(): void {
    this.post({ type: 'finish' })
  }

  close(): void {
    this.port.close()
  }

  private note(position: number): void {
    while (this.sent.length > 0 && (this.sent[0]?.position ?? Infinity) <= position) this.ahead -= this.sent.shift()?.bytes ?? 0
  }

  private post(message: ToFollower, transfer: readonly ArrayBuffer[] = []): void {
    this.port.postMessage(message, transfer)
  }
}
