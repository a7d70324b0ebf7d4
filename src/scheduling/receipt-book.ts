import type { Receipt } from '../wire/decision.ts'
import { isReadable, writeReceipt } from './receipt.ts'
import type { KeptReceipt } from './receipt.ts'

/** Receipts at most, whatever their size: about 1 kB of objects each beside their numbers. */
const RECEIPTS_MAX = 16_384

/** The newest receipts, by position of the record that decided. Older ones are recomputed by replay. */
export class ReceiptBook {
  private readonly kept: (KeptReceipt | undefined)[] = []
  private next = 0

  keep(receipt: KeptReceipt): void {
    if (this.kept.length < RECEIPTS_MAX) this.kept.push(receipt)
    else this.kept[this.next] = receipt
    this.next = (this.next + 1) % RECEIPTS_MAX
  }

  /** The receipts of one record, in order; empty when they are no longer held. */
  at(position: number): Receipt[] {
    return this.kept
      .filter((receipt) => receipt !== undefined && receipt.position === position && isReadable(receipt))
      .map((receipt) => writeReceipt(receipt as KeptReceipt))
  }
}
