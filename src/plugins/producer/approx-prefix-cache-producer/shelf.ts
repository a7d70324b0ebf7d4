/** What one endpoint holds, in order of use. */
export class Shelf {
  readonly id: string
  /** Blocks at most. */
  readonly capacity: number
  /** Blocks. */
  size = 0
  /** Holdings at the ends of its order, 0 for none. */
  oldest = 0
  newest = 0

  constructor(id: string, capacity: number) {
    this.id = id
    this.capacity = capacity
  }
}
