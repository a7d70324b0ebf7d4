import type { Usage } from '../../wire/index.ts'
import { SseScanner } from './sse-scanner.ts'
import { UsageMeter } from './usage.ts'

/** Largest body that is not a stream and is still read for its usage, in bytes; of a larger one the usage is unknown. */
export const USAGE_BODY_BYTES_MAX = 16 * 1024 * 1024

const NO_BYTES: readonly Buffer[] = []

/** Looks at a response's bytes on their way and says which of them the client gets: as a rule all, as they came. */
export interface ResponseWatch {
  /** What to send on now: one piece, or any number of them. */
  take(chunk: Buffer): Buffer | readonly Buffer[]
  /** What to send on at the end. */
  end(): readonly Buffer[]
  readonly usage: Usage | undefined
  /** Events so far, which stand for tokens; 0 for what is not a stream. */
  readonly events: number
  /** Whether the response says itself that it is whole, though its connection may have broken. */
  readonly isDone: boolean
  /** Whether an event can be added here. */
  readonly isAtBoundary: boolean
}

/**
 * The watch for a response by its headers: of a coded body nothing can be read. `isSglang` is a response of SGLang's
 * own API.
 */
export const watchFor = (contentType: string, contentEncoding: string, hidesUsage: boolean, isSglang = false): ResponseWatch => {
  if (contentEncoding !== '' && contentEncoding !== 'identity') return new BlindWatch()
  const type = contentType.toLowerCase()
  if (type.includes('text/event-stream')) return hidesUsage ? new HidingWatch() : new StreamWatch(isSglang)
  return type.includes('json') ? new BodyWatch(isSglang) : new BlindWatch()
}

class BlindWatch implements ResponseWatch {
  readonly usage = undefined
  readonly events = 0
  readonly isDone = false
  readonly isAtBoundary = false

  take(chunk: Buffer): Buffer {
    return chunk
  }

  end(): readonly Buffer[] {
    return NO_BYTES
  }
}

class BodyWatch implements ResponseWatch {
  readonly events = 0
  readonly isDone = false
  readonly isAtBoundary = false
  readonly #meter: UsageMeter
  #chunks: Buffer[] = []
  #bytes = 0

  constructor(isSglang: boolean) {
    this.#meter = new UsageMeter(isSglang)
  }

  get usage(): Usage | undefined {
    return this.#meter.usage
  }

  take(chunk: Buffer): Buffer {
    this.#bytes += chunk.length
    if (this.#bytes <= USAGE_BODY_BYTES_MAX) this.#chunks.push(chunk)
    else this.#chunks = []
    return chunk
  }

  end(): readonly Buffer[] {
    const [first] = this.#chunks
    if (first !== undefined) this.#meter.takeBody(this.#chunks.length === 1 ? first : Buffer.concat(this.#chunks))
    this.#chunks = []
    return NO_BYTES
  }
}

class StreamWatch implements ResponseWatch {
  readonly #meter: UsageMeter
  readonly #scanner: SseScanner

  constructor(isSglang: boolean) {
    const meter = new UsageMeter(isSglang)
    this.#meter = meter
    this.#scanner = new SseScanner((bytes, start, end) => {
      meter.takeEvent(bytes, start, end)
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

  get isAtBoundary(): boolean {
    return this.#scanner.isAtBoundary
  }

  take(chunk: Buffer): Buffer {
    this.#scanner.push(chunk)
    return chunk
  }

  end(): readonly Buffer[] {
    this.#scanner.end()
    return NO_BYTES
  }
}

/**
 * Sends whole events on, without the frame that carries nothing but the usage which the client did not ask for. An
 * event that is cut waits for its rest; all other bytes stay as they came.
 */
class HidingWatch implements ResponseWatch {
  readonly #meter = new UsageMeter()
  readonly #scanner = new SseScanner((bytes, start, end) => {
    this.#event(bytes, start, end)
  })
  /** Of the event that is not ended yet. */
  #held: Buffer[] = []
  #chunk: Buffer = Buffer.alloc(0)
  /** Up to here the chunk is sent or hidden. */
  #cursor = 0
  #out: Buffer[] = []
  #isEnding = false

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
    return true
  }

  take(chunk: Buffer): readonly Buffer[] {
    this.#out = []
    this.#chunk = chunk
    this.#cursor = 0
    this.#scanner.push(chunk)
    const boundary = this.#scanner.boundary
    if (boundary >= 0) this.#send(boundary)
    if (this.#cursor < chunk.length) this.#held.push(chunk.subarray(this.#cursor))
    return this.#out
  }

  end(): readonly Buffer[] {
    this.#out = []
    this.#isEnding = true
    this.#cursor = 0
    this.#scanner.end()
    this.#send(0)
    return this.#out
  }

  #event(bytes: Buffer, from: number, to: number): void {
    if (!this.#meter.takeEvent(bytes, from, to)) return
    const start = this.#isEnding ? -1 : this.#scanner.boundary
    if (start >= 0) this.#send(start)
    else this.#held = []
    this.#cursor = this.#scanner.offset
  }

  /** Sends what is held, and the chunk up to `end`. */
  #send(end: number): void {
    if (this.#held.length > 0) this.#out.push(...this.#held)
    this.#held = []
    if (end > this.#cursor) this.#out.push(this.#chunk.subarray(this.#cursor, end))
    this.#cursor = Math.max(this.#cursor, end)
  }
}
