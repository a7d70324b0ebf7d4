import { Pool } from './pool.ts'

/** Blocks of a chunk: two cache lines of keys, so that little is lost on short runs and little is followed on long ones. */
const CHUNK_BLOCKS = 16
const NEXT = 0
const KEYS = 1

/**
 * The keys of runs after their first, as pairs of 32-bit words in chained chunks: reading them in order is reading memory in
 * order. A list is known by its first chunk, 0 for none.
 */
export class RunKeys {
  private readonly chunks = new Pool(KEYS + 2 * CHUNK_BLOCKS, 64)

  /** Makes room for so many more keys in so many lists, so that nothing grows until there are more. */
  reserve(blocks: number, lists: number): void {
    this.chunks.reserve(this.chunks.live + Math.ceil(blocks / CHUNK_BLOCKS) + lists)
  }

  /** Keeps `blocks` keys from the pair `at` on. */
  write(keys: Int32Array, at: number, blocks: number): number {
    const { chunks } = this
    let first = 0
    let last = 0
    for (let done = 0; done < blocks; done += CHUNK_BLOCKS) {
      const chunk = chunks.take()
      const to = chunks.stride * chunk
      const { words } = chunks
      words[to + NEXT] = 0
      const end = 2 * Math.min(CHUNK_BLOCKS, blocks - done)
      const from = 2 * (at + done)
      for (let word = 0; word < end; word++) words[to + KEYS + word] = keys[from + word] as number
      if (last === 0) first = chunk
      else words[chunks.stride * last + NEXT] = chunk
      last = chunk
    }
    return first
  }

  /** How many of these keys, up to `most`, are the list's in order; the list has at least as many. */
  matched(first: number, keys: Int32Array, at: number, most: number): number {
    const { words, stride } = this.chunks
    let chunk = first
    for (let done = 0; done < most; done += CHUNK_BLOCKS) {
      const base = stride * chunk + KEYS
      const end = 2 * Math.min(CHUNK_BLOCKS, most - done)
      const from = 2 * (at + done)
      for (let word = 0; word < end; word++) {
        if (words[base + word] !== keys[from + word]) return done + (word >> 1)
      }
      chunk = words[stride * chunk + NEXT] as number
    }
    return most
  }

  /** Copies the first `blocks` keys of a list to the word `at` of `out`. */
  copy(first: number, blocks: number, out: Int32Array, at: number): void {
    const { words, stride } = this.chunks
    let chunk = first
    for (let done = 0; done < blocks; done += CHUNK_BLOCKS) {
      const base = stride * chunk + KEYS
      out.set(words.subarray(base, base + 2 * Math.min(CHUNK_BLOCKS, blocks - done)), at + 2 * done)
      chunk = words[stride * chunk + NEXT] as number
    }
  }

  free(first: number): void {
    for (let chunk = first; chunk !== 0; ) {
      const next = this.chunks.words[this.chunks.stride * chunk + NEXT] as number
      this.chunks.give(chunk)
      chunk = next
    }
  }
}
