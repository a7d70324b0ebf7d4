import type { MessagePort } from 'node:worker_threads'
import { openBatch } from '../../journal/batch.ts'
import type { MissingRange } from '../../wire/index.ts'
import type { FromFollower, RecordsMessage, ToFollower } from './follower-protocol.ts'
import type { TimedBatch } from './journal-reader.ts'

/** The writer's end of the line to the follower. */
export class FollowerLink {
  private readonly port: MessagePort
  private readonly aheadMax: number
  private position: number
  private ahead = 0
  private readonly sent: { readonly position: number; readonly bytes: number }[] = []

  /** Beyond `aheadMax` bytes under way it is full, until the follower has followed some of them. */
  constructor(port: MessagePort, aheadMax: number, receive: (message: FromFollower) => void) {
    this.port = port
    this.aheadMax = aheadMax
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
    return this.ahead > 0 && this.ahead >= this.aheadMax
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

  /** Sends stored batches until it is full; false when one is damaged or not the next, so that nothing can follow. */
  feed(batches: Iterable<TimedBatch>): boolean {
    for (const { bytes, atUs } of batches) {
      const batch = openBatch(bytes)
      if (batch === undefined || batch.firstPosition !== this.position + 1) return false
      const { firstPosition, count, records } = batch
      this.sendRecords({ firstPosition, count, atUs, pieces: [records.slice()], written: true })
      if (this.isFull) break
    }
    return true
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
