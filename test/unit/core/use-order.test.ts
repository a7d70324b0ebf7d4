import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { UseOrder } from '../../../src/core/use-order.ts'

const STRIDE = 5
/** The words of a record that are the order's come first. */
const LINKS = 2
const RECORDS = 40
/** What stands in the words that are not the order's. */
const OTHER = -7

const recordsOf = (count: number): { words: Int32Array; readonly stride: number } => ({ words: new Int32Array(STRIDE * (count + 1)).fill(OTHER), stride: STRIDE })

/** An order as it is walked, and its newest. */
const seen = (order: UseOrder): { readonly records: readonly number[]; readonly newest: number } => {
  const records: number[] = []
  for (let record = order.oldest; record !== 0; record = order.after(record)) records.push(record)
  return { records, newest: order.newest }
}

const ordered = (...records: number[]): UseOrder => {
  const order = new UseOrder(recordsOf(RECORDS))
  for (const record of records) order.add(record)
  return order
}

describe('UseOrder', () => {
  it('given nothing, then it has no ends', () => {
    expect(seen(ordered())).toEqual({ records: [], newest: 0 })
  })

  it('given records, when they are added, then the last is the newest', () => {
    expect(seen(ordered(3, 1, RECORDS))).toEqual({ records: [3, 1, RECORDS], newest: RECORDS })
  })

  it.each([[1, [2, 3, 1]], [2, [1, 3, 2]], [3, [1, 2, 3]]])('given 1, 2, 3, when %i is used again, then it is the newest', (used, records) => {
    const order = ordered(1, 2, 3)
    order.renew(used)
    expect(seen(order)).toEqual({ records, newest: used })
  })

  it.each([[1, [9, 1, 2, 3]], [2, [1, 9, 2, 3]], [3, [1, 2, 9, 3]]])('given 1, 2, 3, when 9 is added before %i, then it stands there and the newest is the same', (newer, records) => {
    const order = ordered(1, 2, 3)
    order.addBefore(newer, 9)
    expect(seen(order)).toEqual({ records, newest: 3 })
  })

  it.each([[1, [2, 3], 3], [2, [1, 3], 3], [3, [1, 2], 2]])('given 1, 2, 3, when %i is removed, then the others are in order', (removed, records, newest) => {
    const order = ordered(1, 2, 3)
    order.remove(removed)
    expect(seen(order)).toEqual({ records, newest })
  })

  it('given one record, when it is removed and added again, then it is both ends', () => {
    const order = ordered(5)
    order.remove(5)
    expect(seen(order)).toEqual({ records: [], newest: 0 })
    order.add(5)
    expect(seen(order)).toEqual({ records: [5], newest: 5 })
  })

  it('given an array that was replaced by a longer one, then the order goes on in that', () => {
    const records = recordsOf(2)
    const order = new UseOrder(records)
    order.add(2)
    order.add(1)
    const { words } = recordsOf(3)
    words.set(records.words)
    records.words = words
    order.add(3)
    order.renew(2)
    expect(seen(order)).toEqual({ records: [1, 3, 2], newest: 2 })
  })
})

const ORDERS = 3

const step = fc.record({
  order: fc.nat(ORDERS - 1),
  kind: fc.constantFrom('add', 'addBefore', 'renew', 'renew', 'remove'),
  record: fc.integer({ min: 1, max: RECORDS }),
  at: fc.nat(RECORDS),
})

describe('UseOrder, several of the same records', () => {
  it('is what a list of its records would be, whatever is done, and leaves the other words alone', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const records = recordsOf(RECORDS)
        const orders = Array.from({ length: ORDERS }, () => new UseOrder(records))
        const lists: number[][] = orders.map(() => [])
        for (const { order: number, kind, record, at } of steps) {
          const [order, list] = [orders[number] as UseOrder, lists[number] as number[]]
          const isFree = lists.every((one) => !one.includes(record))
          const stands = list[at % Math.max(1, list.length)]
          if (kind === 'add' && isFree) {
            order.add(record)
            list.push(record)
          } else if (stands !== undefined && kind === 'addBefore' && isFree) {
            order.addBefore(stands, record)
            list.splice(list.indexOf(stands), 0, record)
          } else if (stands !== undefined && kind === 'renew') {
            order.renew(stands)
            list.push(...list.splice(list.indexOf(stands), 1))
          } else if (stands !== undefined && kind === 'remove') {
            order.remove(stands)
            list.splice(list.indexOf(stands), 1)
          }
          expect(orders.map(seen)).toEqual(lists.map((one) => ({ records: one, newest: one.at(-1) ?? 0 })))
        }
        const others = records.words.filter((_, word) => word % STRIDE >= LINKS)
        expect(others.every((word) => word === OTHER)).toBe(true)
      }),
    )
  })
})
