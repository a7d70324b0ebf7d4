import type { Usage } from '../../wire/index.ts'
import { EditingWatch } from './editing-watch.ts'
import { withModelRenamed } from './response-model.ts'
import type { ModelNames } from './response-model.ts'
import { SseScanner } from './sse-scanner.ts'
import { UsageMeter } from './usage.ts'

/** Largest body that is not a stream and is still read for its usage, in bytes; of a larger one the usage is unknown. */
const USAGE_BODY_BYTES_MAX = 16 * 1024 * 1024

const NO_BYTES: readonly Buffer[] = []

/** What is to be changed in a response; as a rule nothing. */
export interface ResponseEdits {
  /** Keep the frame that carries nothing but usage from the client. */
  readonly hidesUsage: boolean
  readonly names: ModelNames | undefined
}

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
  /** Whether the client's bytes may differ from the endpoint's. */
  readonly edits: boolean
  /** Whether an event can be added here. */
  readonly isAtBoundary: boolean
}

/**
 * The watch for a response by its headers: of a coded body nothing can be read. `isSglang` is a response of SGLang's
 * own API.
 */
export const watchFor = (contentType: string, contentEncoding: string, edits: ResponseEdits, isSglang = false): ResponseWatch => {
  if (contentEncoding !== '' && contentEncoding !== 'identity') return new BlindWatch()
  const type = contentType.toLowerCase()
  if (type.includes('text/event-stream')) {
    return edits.hidesUsage || edits.names !== undefined ? new EditingWatch(edits) : new StreamWatch(isSglang)
  }
  if (!type.includes('json')) return new BlindWatch()
  return edits.names === undefined ? new BodyWatch(isSglang) : new RenamingWatch(edits.names, isSglang)
}

class BlindWatch implements ResponseWatch {
  readonly usage = undefined
  readonly events = 0
  readonly isDone = false
  readonly edits = false
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
  readonly edits = false
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

/** Holds a JSON body until its end, to rename its model; one larger than is looked into passes as it is. */
class RenamingWatch implements ResponseWatch {
  readonly events = 0
  readonly isDone = false
  readonly edits = true
  readonly isAtBoundary = false
  readonly #meter: UsageMeter
  readonly #names: ModelNames
  #held: Buffer[] = []
  #bytes = 0

  constructor(names: ModelNames, isSglang: boolean) {
    this.#names = names
    this.#meter = new UsageMeter(isSglang)
  }

  get usage(): Usage | undefined {
    return this.#meter.usage
  }

  take(chunk: Buffer): Buffer | readonly Buffer[] {
    this.#bytes += chunk.length
    if (this.#bytes > USAGE_BODY_BYTES_MAX) {
      const held = this.#held
      this.#held = []
      return [...held, chunk]
    }
    this.#held.push(chunk)
    return NO_BYTES
  }

  end(): readonly Buffer[] {
    if (this.#held.length === 0) return NO_BYTES
    const body = Buffer.concat(this.#held)
    this.#held = []
    this.#meter.takeBody(body)
    return [withModelRenamed(body, this.#names)]
  }
}

class StreamWatch implements ResponseWatch {
  readonly edits = false
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
