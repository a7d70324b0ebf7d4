import { UseOrder } from '../core/use-order.ts'

/** No place. */
export const NONE = -1

const FIRST_PLACES = 1024
const MIX = 0x9e3779b1

/**
 * Block hashes with the time of their last writing, at most so many; the one written longest ago gives way to a new one.
 * Kept in columns, one place a block, since a prompt of the traces has hundreds of blocks of 128 bytes and thousands of
 * AIBrix's own 4. Hashes are told as halves of 32 bits. (AIBrix: prefix store, by hash)
 */
export class PrefixColumns {
  readonly capacity: number
  size = 0
  low: Uint32Array
  high: Uint32Array
  writtenAt: Float64Array
  /** The order of writing. Its records count from 1, places from 0: so its 0, no record, is NONE here. */
  private readonly order: UseOrder
  private readonly neighbours: { words: Int32Array; readonly stride: number }
  /** First place of each bucket, and the next place of the same bucket; of empty places the next empty one. */
  private bucket: Int32Array
  private next: Int32Array
  private empty = 0
  /** Told of each place whose block goes. */
  private readonly left: (place: number) => void

  constructor(capacity: number, left: (place: number) => void) {
    this.capacity = capacity
    this.left = left
    const places = Math.min(capacity, FIRST_PLACES)
    this.low = new Uint32Array(places)
    this.high = new Uint32Array(places)
    this.writtenAt = new Float64Array(places)
    this.neighbours = { words: new Int32Array(2 * (places + 1)), stride: 2 }
    this.order = new UseOrder(this.neighbours)
    this.next = chained(new Int32Array(places), 0)
    this.bucket = new Int32Array(bucketsFor(places)).fill(NONE)
  }

  get places(): number {
    return this.low.length
  }

  /** The place written longest ago; NONE where there is none. */
  get oldest(): number {
    return this.order.oldest - 1
  }

  find(low: number, high: number): number {
    let place = this.bucket[this.bucketOf(low, high)] as number
    while (place !== NONE && (this.low[place] !== low || this.high[place] !== high)) place = this.next[place] as number
    return place
  }

  /** The place of a block, written now; a new block may cost the oldest one its place. */
  write(low: number, high: number, now: number): number {
    const known = this.find(low, high)
    if (known !== NONE) {
      this.writtenAt[known] = now
      this.order.renew(known + 1)
      return known
    }
    if (this.size === this.capacity) this.remove(this.oldest)
    else if (this.empty === NONE) this.grow()
    const place = this.empty
    this.empty = this.next[place] as number
    this.low[place] = low
    this.high[place] = high
    this.writtenAt[place] = now
    this.chain(place)
    this.size += 1
    this.order.add(place + 1)
    return place
  }

  remove(place: number): void {
    this.left(place)
    this.order.remove(place + 1)
    this.unchain(place)
    this.next[place] = this.empty
    this.empty = place
    this.size -= 1
  }

  /** The one written next after it; NONE after the newest. */
  after(place: number): number {
    return this.order.after(place + 1) - 1
  }

  private bucketOf(low: number, high: number): number {
    return (Math.imul(low ^ high, MIX) >>> 8) & (this.bucket.length - 1)
  }

  private chain(place: number): void {
    const bucket = this.bucketOf(this.low[place] as number, this.high[place] as number)
    this.next[place] = this.bucket[bucket] as number
    this.bucket[bucket] = place
  }

  private unchain(place: number): void {
    const bucket = this.bucketOf(this.low[place] as number, this.high[place] as number)
    if (this.bucket[bucket] === place) {
      this.bucket[bucket] = this.next[place] as number
      return
    }
    let before = this.bucket[bucket] as number
    while (this.next[before] !== place) before = this.next[before] as number
    this.next[before] = this.next[place] as number
  }

  /** Twice the places, or as many as there may be. */
  private grow(): void {
    const before = this.places
    const places = Math.min(this.capacity, 2 * before)
    this.low = copied(this.low, new Uint32Array(places))
    this.high = copied(this.high, new Uint32Array(places))
    this.writtenAt = copied(this.writtenAt, new Float64Array(places))
    this.neighbours.words = copied(this.neighbours.words, new Int32Array(2 * (places + 1)))
    this.next = chained(new Int32Array(places), before)
    this.bucket = new Int32Array(bucketsFor(places)).fill(NONE)
    for (let place = 0; place < before; place++) this.chain(place)
    this.empty = before
  }
}

/** Each place from `first` on leads to the one behind it. */
const chained = (next: Int32Array, first: number): Int32Array => {
  for (let place = first; place < next.length; place++) next[place] = place + 1 < next.length ? place + 1 : NONE
  return next
}

export const copied = <A extends Uint32Array | Int32Array | Float64Array>(from: A, to: A): A => {
  to.set(from)
  return to
}

/** A power of two, at least twice as many buckets as places. */
const bucketsFor = (places: number): number => {
  let buckets = 2
  while (buckets < 2 * places) buckets *= 2
  return buckets
}
