import { SignalboxError } from '../../../core/errors.ts'
import { byCodeUnit } from '../../../core/order.ts'
import type { BlockIndex } from './block-index.ts'
import type { Shelf } from './shelf.ts'

/**
 * The index as bytes. 32-bit little-endian words: version, number of runs, number of endpoints. Then for each run, those before it that it continues,
 * the number of the run that it continues (from 1, 0 for none), its length, and its keys, 8 bytes each. Then for each endpoint in order
 * of id its capacity, the number of its holdings and the length of its id in UTF-8, the id padded to a whole word, and its
 * holdings, least recently used first: a run's number and the first block that is held. Runs are numbered in the order in
 * which endpoints name them, so that equal indexes are equal bytes.
 */
const VERSION = 2
const HEAD_WORDS = 3
const RUN_WORDS = 2
const SHELF_WORDS = 3

interface Row {
  readonly shelf: Shelf
  readonly name: Uint8Array
  /** Run and first block, again and again. */
  readonly holdings: readonly number[]
}

export const saveIndex = (index: BlockIndex): Uint8Array => {
  const numbers = new Map<number, number>()
  const rows = shelvesOf(index).map((shelf): Row => ({ shelf, name: new TextEncoder().encode(shelf.id), holdings: holdingsOf(index, shelf, numbers) }))
  const { runs } = index
  let total = HEAD_WORDS
  for (const run of numbers.keys()) total += RUN_WORDS + 2 * runs.lengthOf(run)
  for (const { name, holdings } of rows) total += SHELF_WORDS + Math.ceil(name.length / 4) + holdings.length
  const words = new Int32Array(total)
  const bytes = new Uint8Array(words.buffer)
  words.set([VERSION, numbers.size, rows.length])
  let at = HEAD_WORDS
  for (const run of numbers.keys()) {
    const length = runs.lengthOf(run)
    words[at] = numbers.get(runs.parentOf(run)) ?? 0
    words[at + 1] = length
    runs.copy(run, words, at + RUN_WORDS)
    at += RUN_WORDS + 2 * length
  }
  for (const { shelf, name, holdings } of rows) {
    words.set([shelf.capacity, holdings.length / 2, name.length], at)
    bytes.set(name, 4 * (at + SHELF_WORDS))
    at += SHELF_WORDS + Math.ceil(name.length / 4)
    words.set(holdings, at)
    at += holdings.length
  }
  return bytes
}

const shelvesOf = (index: BlockIndex): Shelf[] => {
  const shelves: Shelf[] = []
  for (let slot = 0; slot < index.slots; slot++) {
    const shelf = index.shelf(slot)
    if (shelf !== undefined) shelves.push(shelf)
  }
  return shelves.sort((a, b) => byCodeUnit(a.id, b.id))
}

/** What a shelf holds; numbers the runs that have none yet, each after the one that it continues. */
const holdingsOf = ({ holdings, runs }: BlockIndex, shelf: Shelf, numbers: Map<number, number>): number[] => {
  const number = (run: number): number => {
    const path: number[] = []
    for (let one = run; one !== 0 && !numbers.has(one); one = runs.parentOf(one)) path.push(one)
    for (let step = path.pop(); step !== undefined; step = path.pop()) numbers.set(step, numbers.size + 1)
    return numbers.get(run) as number
  }
  const held: number[] = []
  for (let holding = shelf.oldest; holding !== 0; holding = shelf.after(holding)) held.push(number(holdings.runOf(holding)), holdings.fromOf(holding))
  return held
}

/** Fills an empty index. Endpoints that are not in `slots` are left out. */
export const loadIndex = (index: BlockIndex, state: Uint8Array, slots: ReadonlyMap<string, number>): void => {
  // A copy, since words must lie on a word's boundary.
  const words = new Int32Array(state.slice().buffer, 0, Math.floor(state.length / 4))
  if (state.length % 4 !== 0 || words[0] !== VERSION) throw damaged()
  const runs: number[] = [0]
  let at = HEAD_WORDS
  // No more than the bytes can hold, whatever they say.
  index.runs.reserve(Math.min(words[1] ?? 0, words.length), words.length / 2)
  for (let left = words[1] ?? 0; left > 0; left--) at = loadRun(index, words, at, runs)
  for (let left = words[2] ?? 0; left > 0; left--) at = loadShelf(index, words, at, runs, slots)
  if (at !== words.length) throw damaged()
  // What only endpoints held that are gone; those that continue others come after them.
  for (let number = runs.length - 1; number > 0; number--) {
    const run = runs[number] as number
    if (!index.holdings.isHeld(run) && !index.runs.isContinued(run)) index.runs.remove(run)
  }
}

const loadRun = (index: BlockIndex, words: Int32Array, at: number, runs: number[]): number => {
  const [number = 0, length = 0] = words.subarray(at, at + RUN_WORDS)
  const end = at + RUN_WORDS + 2 * length
  const parent = runs[number]
  if (length < 1 || parent === undefined || end > words.length) throw damaged()
  const keys = words.subarray(at + RUN_WORDS, end)
  if (index.runs.find(parent, keys[0] as number, keys[1] as number) !== 0) throw damaged()
  runs.push(index.graft(parent, keys, 0, length))
  return end
}

const loadShelf = (index: BlockIndex, words: Int32Array, at: number, runs: readonly number[], slots: ReadonlyMap<string, number>): number => {
  const [capacity = 0, holdings = 0, length = 0] = words.subarray(at, at + SHELF_WORDS)
  const from = at + SHELF_WORDS + Math.ceil(length / 4)
  const end = from + 2 * holdings
  if (capacity < 1 || holdings < 0 || length < 0 || end > words.length) throw damaged()
  const id = new TextDecoder().decode(new Uint8Array(words.buffer, 4 * (at + SHELF_WORDS), length))
  const slot = slots.get(id)
  const shelf = slot === undefined ? undefined : index.open(slot, id, capacity)
  for (let word = from; word < end; word += 2) {
    const run = runs[words[word] as number] ?? 0
    const first = words[word + 1] as number
    if (run === 0 || first < 0 || first >= index.runs.lengthOf(run)) throw damaged()
    if (slot === undefined || shelf === undefined) continue
    if (index.holdings.find(run, slot) !== 0) throw damaged()
    index.take(shelf, slot, run, first)
    if (shelf.size > capacity) throw damaged()
  }
  return end
}

const damaged = (): SignalboxError => new SignalboxError('state-invalid', 'the saved prefix index is damaged')
