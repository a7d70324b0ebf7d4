import type { Receipt } from '../wire/decision.ts'
import { isReadable, writeReceipt } from './receipt.ts'
import type { KeptReceipt } from './receipt.ts'

/** Receipts at most, whatever their size: some kB of objects each beside their numbers. */
const RECEIPTS_MAX = 16_384
/** Where there is less room for numbers, fewer are kept: one for each so many bytes. */
const BYTES_EACH = 4096

/** The newest receipts, by position of the record that decided. Older ones are recomputed by replay. */
export class ReceiptBook {
  private readonly kept: KeptReceipt[] = []
  private readonly most: number
  private next = 0

  /** @param bytes bound of the room for their numbers */
  constructor(bytes: number = Infinity) {
    this.most = Math.max(1, Math.min(RECEIPTS_MAX, Math.floor(bytes / BYTES_EACH)))
  }

  /** Receipts held. */
  get size(): number {
    return this.kept.length
  }

  keep(receipt: KeptReceipt): void {
    if (this.kept.length < this.most) this.kept.push(receipt)
    else this.kept[this.next] = receipt
    this.next = (this.next + 1) % this.most
  }

  /** The receipts of one record, in order; empty when they are no longer held. */
  at(position: number): Receipt[] {
    const found: Receipt[] = []
    // From the newest back: positions only grow.
    for (let back = 1; back <= this.kept.length; back += 1) {
      const receipt = this.kept[(this.next - back + this.kept.length) % this.kept.length] as KeptReceipt
      if (receipt.position < position) break
      if (receipt.position === position && isReadable(receipt)) found.push(writeReceipt(receipt))
    }
    return found.reverse()
  }
}
