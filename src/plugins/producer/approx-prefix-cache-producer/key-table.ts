const EMPTY = 0
const SLOTS_FIRST = 1024
/** Share of slots in use, as a fraction of 8, from which the table doubles: probes stay near one and a half. */
const FULL_EIGHTHS = 5

/**
 * From the low half of a key to the numbers of entries that have it: open addressing, linear probes, and no tombstones,
 * since in a full cache every insertion comes with a removal. Keys should be hashes, but whoever sends them may send
 * anything: their place is spread once more, or a row of like keys would make one long run of slots.
 */
export class KeyTable {
  /** Two words a slot: the entry's number (0 is empty) and the low half of its key. */
  private slots = new Int32Array(2 * SLOTS_FIRST)
  private mask = SLOTS_FIRST - 1
  private used = 0

  /** The first slot to look at. */
  home(low: number): number {
    return spread(low) & this.mask
  }

  next(slot: number): number {
    return (slot + 1) & this.mask
  }

  /** The entry at a slot, 0 where the search ends. */
  entryAt(slot: number): number {
    return this.slots[2 * slot] as number
  }

  lowAt(slot: number): number {
    return this.slots[2 * slot + 1] as number
  }

  insert(low: number, entry: number): void {
    this.reserve(this.used + 1)
    this.place(low, entry)
    this.used += 1
  }

  /** Removes the entry and closes the gap, so that no search ends before its goal. */
  remove(low: number, entry: number): void {
    const { slots, mask } = this
    let gap = spread(low) & mask
    while (slots[2 * gap] !== entry) {
      if (slots[2 * gap] === EMPTY) return
      gap = (gap + 1) & mask
    }
    this.used -= 1
    let slot = gap
    for (;;) {
      slot = (slot + 1) & mask
      const moved = slots[2 * slot] as number
      if (moved === EMPTY) break
      const movedLow = slots[2 * slot + 1] as number
      // It may fill the gap when the gap lies between its home and where it is.
      if (((slot - (spread(movedLow) & mask)) & mask) >= ((slot - gap) & mask)) {
        slots[2 * gap] = moved
        slots[2 * gap + 1] = movedLow
        gap = slot
      }
    }
    slots[2 * gap] = EMPTY
  }

  private place(low: number, entry: number): void {
    let slot = spread(low) & this.mask
    while (this.slots[2 * slot] !== EMPTY) slot = (slot + 1) & this.mask
    this.slots[2 * slot] = entry
    this.slots[2 * slot + 1] = low
  }

  /** Makes room for so many entries in all. */
  reserve(entries: number): void {
    let room = this.mask + 1
    while (8 * entries > FULL_EIGHTHS * room) room *= 2
    if (room === this.mask + 1) return
    const old = this.slots
    this.slots = new Int32Array(2 * room)
    this.mask = room - 1
    for (let at = 0; at < old.length; at += 2) {
      if (old[at] !== EMPTY) this.place(old[at + 1] as number, old[at] as number)
    }
  }
}

/** Multiplied by the golden ratio of 2^32 and folded, so that near keys land far apart. */
const spread = (low: number): number => {
  const product = Math.imul(low, 0x9e3779b1)
  return product ^ (product >>> 15)
}
