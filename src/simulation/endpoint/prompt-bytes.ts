import { textKey } from './block-hash.ts'

/** Tokens that one image, audio or video item takes in a simulated prompt. */
export const MEDIA_TOKENS = 225

const BYTES_PER_TOKEN = 4
const ENCODER = new TextEncoder()

export interface MediaItem {
  /** What identifies the content: the URL, or the data of inline audio. */
  readonly source: string
  readonly key: number
}

/** Where an item's tokens begin in the prompt; it takes `MEDIA_TOKENS`. */
export interface MediaPlace {
  readonly item: MediaItem
  readonly offset: number
}

/** A prompt as bytes, four to a token. */
export interface Prompt {
  readonly bytes: Uint8Array
  readonly tokens: number
  readonly media: readonly MediaItem[]
  /** Each place of an item, in order. */
  readonly places: readonly MediaPlace[]
}

/**
 * Collects the pieces of a prompt in order. Text is taken as UTF-8 without separators; a media item starts at the
 * next token and takes `MEDIA_TOKENS` tokens that depend on its source alone.
 */
export class PromptBytes {
  readonly #pieces: (string | MediaItem)[] = []
  readonly #media = new Map<string, MediaItem>()

  text(piece: string): void {
    if (piece.length > 0) this.#pieces.push(piece)
  }

  media(source: string): void {
    const item = this.#media.get(source) ?? { source, key: textKey(source) }
    this.#media.set(source, item)
    this.#pieces.push(item)
  }

  /** Token ids that the client chose itself: each is one token. */
  tokenIds(ids: readonly number[]): void {
    let text = ''
    for (const id of ids) text += String.fromCharCode(id & 0x7f, (id >>> 7) & 0x7f, (id >>> 14) & 0x7f, (id >>> 21) & 0x7f)
    this.text(text)
  }

  build(): Prompt {
    const bytes = new Uint8Array(this.#sizeMax())
    const places: MediaPlace[] = []
    let end = 0
    for (const piece of this.#pieces) {
      if (typeof piece === 'string') {
        end += ENCODER.encodeInto(piece, bytes.subarray(end)).written
        continue
      }
      const start = Math.ceil(end / BYTES_PER_TOKEN)
      end = (start + MEDIA_TOKENS) * BYTES_PER_TOKEN
      places.push({ item: piece, offset: start })
      new Int32Array(bytes.buffer, start * BYTES_PER_TOKEN, MEDIA_TOKENS).fill(piece.key | 0)
    }
    const tokens = Math.ceil(end / BYTES_PER_TOKEN)
    return { bytes: bytes.subarray(0, tokens * BYTES_PER_TOKEN), tokens, media: [...this.#media.values()], places }
  }

  #sizeMax(): number {
    let size = BYTES_PER_TOKEN
    for (const piece of this.#pieces) {
      size += typeof piece === 'string' ? Buffer.byteLength(piece) : (MEDIA_TOKENS + 1) * BYTES_PER_TOKEN
    }
    return Math.ceil(size / BYTES_PER_TOKEN) * BYTES_PER_TOKEN
  }
}
