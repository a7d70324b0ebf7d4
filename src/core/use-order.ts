/**
 * Records of `stride` 32-bit words each in one array, numbered from 1. The first two words of each are for the order that it
 * stands in: its neighbours there. The array may be replaced by a longer one.
 */
export interface OrderedRecords {
  readonly words: Int32Array
  readonly stride: number
}

const OLDER = 0
const NEWER = 1

/**
 * Records in the order of their last use. What is done costs the same however many there are. Records of one array may stand in
 * several orders, each in one at most, and that is for the caller to see to: a record that is added must stand in none, one
 * that is used again or removed must stand in this one. 0 is no record.
 */
export class UseOrder {
  /** The records at its ends; 0 while it is empty. */
  oldest = 0
  newest = 0
  private readonly records: OrderedRecords

  constructor(records: OrderedRecords) {
    this.records = records
  }

  /** The one used next after it; 0 after the newest. */
  after(record: number): number {
    const { words, stride } = this.records
    return words[stride * record + NEWER] as number
  }

  /** Adds a record: used just now. */
  add(record: number): void {
    const { words, stride } = this.records
    const { newest } = this
    const at = stride * record
    words[at + OLDER] = newest
    words[at + NEWER] = 0
    if (newest === 0) this.oldest = record
    else words[stride * newest + NEWER] = record
    this.newest = record
  }

  /** Adds a record as used just before another. */
  addBefore(newer: number, record: number): void {
    const { words, stride } = this.records
    const at = stride * record
    const older = words[stride * newer + OLDER] as number
    words[at + OLDER] = older
    words[at + NEWER] = newer
    words[stride * newer + OLDER] = record
    if (older === 0) this.oldest = record
    else words[stride * older + NEWER] = record
  }

  /** A record is used again. */
  renew(record: number): void {
    if (this.newest === record) return
    this.remove(record)
    this.add(record)
  }

  remove(record: number): void {
    const { words, stride } = this.records
    const at = stride * record
    const older = words[at + OLDER] as number
    const newer = words[at + NEWER] as number
    if (older === 0) this.oldest = newer
    else words[stride * older + NEWER] = newer
    if (newer === 0) this.newest = older
    else words[stride * newer + OLDER] = older
  }
}
