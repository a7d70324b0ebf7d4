/** From where on those hold a run that do not hold it. */
const NOT_HELD = 0x7fffffff

/** The many holders of one run (a shared system prompt), by slot. */
export class Crowd {
  private holding = new Int32Array(0)
  private from = new Int32Array(0)

  /** The holding of a slot, 0 for none. */
  at(slot: number): number {
    return slot < this.holding.length ? (this.holding[slot] as number) : 0
  }

  set(slot: number, holding: number, from: number): void {
    if (slot >= this.holding.length) this.grow(slot + 1)
    this.holding[slot] = holding
    this.from[slot] = from
  }

  setFrom(slot: number, from: number): void {
    this.from[slot] = from
  }

  clear(slot: number): void {
    this.holding[slot] = 0
    this.from[slot] = NOT_HELD
  }

  /** In the order of slots. */
  holdings(): number[] {
    return Array.from(this.holding.filter((holding) => holding !== 0))
  }

  /** Adds to `counts[slot]` how many of the first `blocks` blocks each holds. */
  credit(blocks: number, counts: Int32Array): void {
    const { from } = this
    for (let slot = 0; slot < from.length; slot++) {
      const held = blocks - (from[slot] as number)
      if (held > 0) counts[slot]! += held
    }
  }

  private grow(slots: number): void {
    const room = 2 * slots
    const holding = new Int32Array(room)
    holding.set(this.holding)
    const from = new Int32Array(room).fill(NOT_HELD)
    from.set(this.from)
    this.holding = holding
    this.from = from
  }
}
