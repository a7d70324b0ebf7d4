import type { Usage } from '../../wire/index.ts'
import { withModelRenamed } from './response-model.ts'
import type { ResponseEdits, ResponseWatch } from './response-watch.ts'
import { EVENT_BYTES_MAX, SseScanner } from './sse-scanner.ts'
import { UsageMeter } from './usage.ts'

const NOTHING = Buffer.alloc(0)

/**
 * Sends whole events on: without the frame that carries nothing but the usage which the client did not ask for, and
 * with the model called as the client did. An event that is cut waits for its rest, as far as it is not larger than
 * what is looked into; all other bytes stay as they came.
 */
export class EditingWatch implements ResponseWatch {
  readonly edits = true
  readonly #edits: ResponseEdits
  readonly #meter = new UsageMeter()
  readonly #scanner: SseScanner
  /** Of the event that is not ended yet. */
  #held: Buffer[] = []
  #heldBytes = 0
  #chunk: Buffer = NOTHING
  /** Up to here the chunk is sent or replaced. */
  #cursor = 0
  #out: Buffer[] = []
  #isEnding = false
  /** A part of the event that is not ended yet has been sent. */
  #isCut = false

  constructor(edits: ResponseEdits) {
    this.#edits = edits
    this.#scanner = new SseScanner((bytes, start, end) => {
      this.#event(bytes, start, end)
    })
  }

  get usage(): Usage | undefined {
    return this.#meter.usage
  }

  get events(): number {
    return this.#scanner.events
  }

  get isDone(): boolean {
    return this.#scanner.isDone
  }

  /** What is held back is no part of what the client has. */
  get isAtBoundary(): boolean {
    return !this.#isCut
  }

  take(chunk: Buffer): readonly Buffer[] {
    this.#out = []
    this.#chunk = chunk
    this.#cursor = 0
    this.#scanner.push(chunk)
    const boundary = this.#scanner.boundary
    if (boundary >= 0) this.#send(boundary)
    if (this.#cursor < chunk.length) this.#hold(chunk.subarray(this.#cursor))
    return this.#out
  }

  end(): readonly Buffer[] {
    this.#out = []
    this.#isEnding = true
    this.#chunk = NOTHING
    this.#cursor = 0
    this.#scanner.end()
    this.#send(0)
    return this.#out
  }

  #event(bytes: Buffer, from: number, to: number): void {
    const isUsageOnly = this.#meter.takeEvent(bytes, from, to)
    const start = this.#isEnding ? -1 : this.#scanner.boundary
    const end = this.#isEnding ? 0 : this.#scanner.offset
    if (this.#isCut && start < 0) return
    if (isUsageOnly && this.#edits.hidesUsage) this.#replace(start, end, NOTHING)
    else if (this.#edits.names !== undefined) {
      const data = bytes.subarray(from, to)
      const renamed = withModelRenamed(data, this.#edits.names)
      if (renamed !== data) this.#rename(start, end, data, renamed)
    }
  }

  /** Puts new data in the place of an event's; data of several lines does not stand in one piece and stays as it is. */
  #rename(start: number, end: number, data: Buffer, renamed: Buffer): void {
    const event = start >= 0 ? this.#chunk.subarray(start, end) : Buffer.concat([...this.#held, this.#chunk.subarray(0, end)])
    const at = event.indexOf(data)
    if (at >= 0) this.#replace(start, end, Buffer.concat([event.subarray(0, at), renamed, event.subarray(at + data.length)]))
  }

  /** Sends `bytes` for the event from `start` to `end`; it began in an earlier chunk where `start` is -1. */
  #replace(start: number, end: number, bytes: Buffer): void {
    if (start >= 0) this.#send(start)
    else this.#dropHeld()
    if (bytes.length > 0) this.#out.push(bytes)
    this.#cursor = end
  }

  #hold(bytes: Buffer): void {
    this.#held.push(bytes)
    this.#heldBytes += bytes.length
    if (!this.#isCut && this.#heldBytes <= EVENT_BYTES_MAX) return
    this.#out.push(...this.#held)
    this.#dropHeld()
    this.#isCut = true
  }

  /** Sends what is held, and the chunk up to `end`, where an event ends. */
  #send(end: number): void {
    if (this.#held.length > 0) this.#out.push(...this.#held)
    this.#dropHeld()
    if (end > this.#cursor) this.#out.push(this.#chunk.subarray(this.#cursor, end))
    this.#cursor = Math.max(this.#cursor, end)
    this.#isCut = false
  }

  #dropHeld(): void {
    this.#held = []
    this.#heldBytes = 0
  }
}
