import type { PromptShape } from '../../../core/request.ts'
import { APPROX_KEYS } from '../../../core/shape.ts'

/** The block keys of one kind, of one prompt at a time, as pairs of words; the memory is used again for the next. */
export class PromptKeys {
  words = new Int32Array(2048)
  private bytes = new Uint8Array(this.words.buffer)
  private readonly wanted: string

  constructor(kind: string = APPROX_KEYS) {
    this.wanted = kind
  }

  /** Reads a prompt's keys for a block size; returns their number, at most `max`, 0 where the shape has none of that size. */
  read(prompt: Pick<PromptShape, 'blocks'>, blockTokens: number, max: number | undefined): number {
    let blocks = 0
    for (const { kind, blockTokens: size, keys } of prompt.blocks) {
      if (kind !== this.wanted || size !== blockTokens) continue
      const count = Math.min(Math.floor(keys.length / 8), max ?? Infinity)
      if (count <= blocks) continue
      blocks = count
      if (8 * count > this.bytes.length) {
        this.words = new Int32Array(4 * count)
        this.bytes = new Uint8Array(this.words.buffer)
      }
      // Keys may lie anywhere within a message, words only on their boundary; and copying them costs next to nothing.
      this.bytes.set(8 * count === keys.length ? keys : keys.subarray(0, 8 * count))
    }
    return blocks
  }
}
