import { type OrderedRecords, UseOrder } from '../../../core/use-order.ts'

/** What one endpoint holds: its holdings in order of use. */
export class Shelf extends UseOrder {
  readonly id: string
  /** Blocks at most. */
  readonly capacity: number
  /** Blocks. */
  size = 0

  constructor(id: string, capacity: number, holdings: OrderedRecords) {
    super(holdings)
    this.id = id
    this.capacity = capacity
  }
}
