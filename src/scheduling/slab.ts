/** Numbers a slab holds: 512 KB, so that the largest run (4,096 endpoints, 14 scorers) fits with room. */
const SLAB_NUMBERS = 65_536

/** A piece of a slab; readable until the ring comes round. */
export interface Piece {
  readonly numbers: Float64Array
  readonly offset: number
  /** Which filling of the slab it belongs to. */
  readonly turn: number
  readonly slab: Slab
}

export interface Slab {
  readonly numbers: Float64Array
  turn: number
}

/**
 * A ring of slabs from which receipts take the room for their numbers: no allocation a decision, a bound in bytes, and
 * the oldest receipts are the ones overwritten.
 */
export class SlabRing {
  private readonly slabs: Slab[] = []
  private readonly count: number
  private current = 0
  private used = 0

  /** @param bytes bound of all slabs together, at least one slab */
  constructor(bytes: number) {
    this.count = Math.max(1, Math.floor(bytes / (SLAB_NUMBERS * 8)))
  }

  /** Room for `length` numbers, all 0; at most SLAB_NUMBERS from the ring, more from memory of its own. */
  take(length: number): Piece {
    if (length > SLAB_NUMBERS) {
      const slab = { numbers: new Float64Array(length), turn: 0 }
      return { numbers: slab.numbers, offset: 0, turn: 0, slab }
    }
    if (this.used + length > SLAB_NUMBERS || this.slabs.length === 0) this.advance()
    const slab = this.slabs[this.current] as Slab
    const offset = this.used
    this.used += length
    slab.numbers.fill(0, offset, offset + length)
    return { numbers: slab.numbers, offset, turn: slab.turn, slab }
  }

  private advance(): void {
    if (this.slabs.length < this.count) {
      this.slabs.push({ numbers: new Float64Array(SLAB_NUMBERS), turn: 0 })
      this.current = this.slabs.length - 1
    } else {
      this.current = (this.current + 1) % this.count
      const slab = this.slabs[this.current] as Slab
      slab.turn += 1
    }
    this.used = 0
  }
}

/** Whether the numbers of a piece are still its own. */
export const isWhole = (piece: Piece): boolean => piece.slab.turn === piece.turn
