import { SignalboxError } from '../../../core/errors.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { BlockIndex } from './block-index.ts'

/**
 * The index as bytes. 32-bit little-endian words: version, number of endpoints; then for each endpoint in order of id its
 * capacity, the number of its blocks and the length of its id in UTF-8, the id padded to a whole word, and its keys, 8
 * bytes each, least recently used first. Nothing of how the index came to be is in it.
 */
const VERSION = 1
const HEAD_WORDS = 2
const SHELF_WORDS = 3

export const saveIndex = (index: BlockIndex): Uint8Array => {
  const encoder = new TextEncoder()
  const shelves: { slot: number; id: string; name: Uint8Array; capacity: number; size: number }[] = []
  for (let slot = 0; slot < index.slots; slot++) {
    const shelf = index.shelf(slot)
    if (shelf !== undefined) shelves.push({ slot, id: shelf.id, name: encoder.encode(shelf.id), capacity: shelf.capacity, size: shelf.size })
  }
  shelves.sort((a, b) => byCodeUnit(a.id, b.id))
  const total = shelves.reduce((sum, { name, size }) => sum + SHELF_WORDS + Math.ceil(name.length / 4) + 2 * size, HEAD_WORDS)
  const words = new Int32Array(total)
  const bytes = new Uint8Array(words.buffer)
  words[0] = VERSION
  words[1] = shelves.length
  let at = HEAD_WORDS
  for (const { slot, name, capacity, size } of shelves) {
    words[at] = capacity
    words[at + 1] = size
    words[at + 2] = name.length
    bytes.set(name, 4 * (at + SHELF_WORDS))
    at += SHELF_WORDS + Math.ceil(name.length / 4)
    index.copy(slot, words, at)
    at += 2 * size
  }
  return bytes
}

/** Fills an empty index. Endpoints that are not in `slots` are left out. */
export const loadIndex = (index: BlockIndex, state: Uint8Array, slots: ReadonlyMap<string, number>): void => {
  // A copy, since words must lie on a word's boundary.
  const words = new Int32Array(state.slice().buffer, 0, Math.floor(state.length / 4))
  const bytes = new Uint8Array(words.buffer)
  if (state.length % 4 !== 0 || words[0] !== VERSION) throw damaged()
  index.reserve(Math.floor(words.length / 2))
  let at = HEAD_WORDS
  for (let left = words[1] ?? 0; left > 0; left--) {
    const [capacity = 0, size = 0, length = 0] = words.subarray(at, at + SHELF_WORDS)
    const name = 4 * (at + SHELF_WORDS)
    at += SHELF_WORDS + Math.ceil(length / 4)
    if (capacity < 1 || size < 0 || size > capacity || length < 0 || at + 2 * size > words.length) throw damaged()
    const id = new TextDecoder().decode(bytes.subarray(name, name + length))
    const slot = slots.get(id)
    if (slot !== undefined) {
      index.open(slot, id, capacity)
      index.add(slot, words.subarray(at, at + 2 * size), size)
    }
    at += 2 * size
  }
  if (at !== words.length) throw damaged()
}

const damaged = (): SignalboxError => new SignalboxError('state-invalid', 'the saved prefix index is damaged')
