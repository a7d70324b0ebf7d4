import type { Pool } from './pool.ts'

/**
 * Who holds a block: pairs of an endpoint's slot and the block's node in that endpoint's order of use. Up to four stand in
 * the entry itself, ordered by slot, so that equal sets are equal words; a block that more hold (a shared system prompt)
 * has a crowd: one node a slot, and a set of bits.
 *
 * Words of an entry: low and high half of the key, four nodes, four slots of 16 bits.
 */
export const ENTRY_WORDS = 8
export const LOW = 0
export const HIGH = 1
const NODES = 2
export const SLOTS_A = 6
export const SLOTS_B = 7

const INLINE_MAX = 4
/** A crowd shrinks back only well below where it began: a block on the edge must not go to and fro. */
const CROWD_MIN = 2
const NO_SLOT = 0xffff
/** In place of the first two slots: nobody holds it, or a crowd does whose number is in place of the others. */
export const NOBODY = -1
export const CROWD = -2
/** Slots are 16 bits, and two values are taken. */
export const SLOT_MAX = 0xfffd

export class Crowd {
  nodes: Int32Array
  bits: Int32Array
  count = 0

  constructor(slots: number) {
    this.nodes = new Int32Array(slots)
    this.bits = new Int32Array(Math.ceil(slots / 32))
  }

  set(slot: number, node: number): void {
    if (slot >= this.nodes.length) this.grow(slot + 1)
    this.nodes[slot] = node
    const word = slot >>> 5
    this.bits[word] = (this.bits[word] as number) | (1 << (slot & 31))
    this.count += 1
  }

  clear(slot: number): void {
    this.nodes[slot] = 0
    const word = slot >>> 5
    this.bits[word] = (this.bits[word] as number) & ~(1 << (slot & 31))
    this.count -= 1
  }

  private grow(slots: number): void {
    const room = 32 * Math.ceil((2 * slots) / 32)
    const nodes = new Int32Array(room)
    nodes.set(this.nodes)
    const bits = new Int32Array(room / 32)
    bits.set(this.bits)
    this.nodes = nodes
    this.bits = bits
  }
}

/** The holders of all blocks. */
export class Holders {
  private readonly entries: Pool
  private readonly crowds: (Crowd | undefined)[] = []
  private readonly freeCrowds: number[] = []

  constructor(entries: Pool) {
    this.entries = entries
  }

  crowd(number: number): Crowd {
    return this.crowds[number] as Crowd
  }

  clear(entry: number): void {
    this.entries.words[ENTRY_WORDS * entry + SLOTS_A] = NOBODY
    this.entries.words[ENTRY_WORDS * entry + SLOTS_B] = NOBODY
  }

  /** The endpoint's node for the block, 0 where it does not hold it. */
  nodeOf(entry: number, slot: number): number {
    const { words } = this.entries
    const at = ENTRY_WORDS * entry
    const a = words[at + SLOTS_A] as number
    const b = words[at + SLOTS_B] as number
    if (a === CROWD) return this.crowd(b).nodes[slot] ?? 0
    if ((a & NO_SLOT) === slot) return words[at + NODES] as number
    if (a >>> 16 === slot) return words[at + NODES + 1] as number
    if ((b & NO_SLOT) === slot) return words[at + NODES + 2] as number
    return b >>> 16 === slot ? (words[at + NODES + 3] as number) : 0
  }

  /** Adds a holder that is not one yet. */
  add(entry: number, slot: number, node: number): void {
    const { words } = this.entries
    const at = ENTRY_WORDS * entry
    if (words[at + SLOTS_A] === CROWD) return this.crowd(words[at + SLOTS_B] as number).set(slot, node)
    let place = 0
    while (place < INLINE_MAX && slotAt(words, at, place) < slot) place++
    if (slotAt(words, at, INLINE_MAX - 1) !== NO_SLOT) return this.gather(at, slot, node)
    for (let to = INLINE_MAX - 1; to > place; to--) {
      putSlot(words, at, to, slotAt(words, at, to - 1))
      words[at + NODES + to] = words[at + NODES + to - 1] as number
    }
    putSlot(words, at, place, slot)
    words[at + NODES + place] = node
  }

  /** Removes a holder; true when nobody holds the block any more. */
  remove(entry: number, slot: number): boolean {
    const { words } = this.entries
    const at = ENTRY_WORDS * entry
    if (words[at + SLOTS_A] === CROWD) {
      const crowd = this.crowd(words[at + SLOTS_B] as number)
      crowd.clear(slot)
      if (crowd.count <= CROWD_MIN) this.disperse(at, crowd)
      return false
    }
    let place = 0
    while (place < INLINE_MAX && slotAt(words, at, place) !== slot) place++
    for (; place < INLINE_MAX - 1; place++) {
      putSlot(words, at, place, slotAt(words, at, place + 1))
      words[at + NODES + place] = words[at + NODES + place + 1] as number
    }
    putSlot(words, at, INLINE_MAX - 1, NO_SLOT)
    return words[at + SLOTS_A] === NOBODY
  }

  /** Slots of the holders, in order. */
  slotsOf(entry: number): number[] {
    const { words } = this.entries
    const at = ENTRY_WORDS * entry
    if (words[at + SLOTS_A] !== CROWD) return [0, 1, 2, 3].map((place) => slotAt(words, at, place)).filter((slot) => slot !== NO_SLOT)
    return [...this.crowd(words[at + SLOTS_B] as number).nodes.keys()].filter((slot) => this.nodeOf(entry, slot) !== 0)
  }

  /** Four holders and one more become a crowd. */
  private gather(at: number, slot: number, node: number): void {
    const { words } = this.entries
    const crowd = new Crowd(32 * Math.ceil((Math.max(slot, slotAt(words, at, INLINE_MAX - 1)) + 1) / 32))
    for (let place = 0; place < INLINE_MAX; place++) crowd.set(slotAt(words, at, place), words[at + NODES + place] as number)
    crowd.set(slot, node)
    const number = this.freeCrowds.pop() ?? this.crowds.length
    this.crowds[number] = crowd
    words[at + SLOTS_A] = CROWD
    words[at + SLOTS_B] = number
  }

  private disperse(at: number, crowd: Crowd): void {
    const { words } = this.entries
    const number = words[at + SLOTS_B] as number
    this.crowds[number] = undefined
    this.freeCrowds.push(number)
    words[at + SLOTS_A] = NOBODY
    words[at + SLOTS_B] = NOBODY
    for (let slot = 0, place = 0; place < crowd.count; slot++) {
      const node = crowd.nodes[slot] as number
      if (node === 0) continue
      putSlot(words, at, place, slot)
      words[at + NODES + place] = node
      place += 1
    }
  }
}

const slotAt = (words: Int32Array, at: number, place: number): number =>
  ((words[at + SLOTS_A + (place >> 1)] as number) >>> (16 * (place & 1))) & NO_SLOT

const putSlot = (words: Int32Array, at: number, place: number, slot: number): void => {
  const word = at + SLOTS_A + (place >> 1)
  const shift = 16 * (place & 1)
  words[word] = ((words[word] as number) & ~(NO_SLOT << shift)) | (slot << shift)
}
