import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Chain, emptyJournalBase, JournalError, sealBase, SCHEMA_VERSION } from '../../../src/journal/index.ts'
import type { JournalFault } from '../../../src/journal/index.ts'
import { sealed } from '../../../src/journal/seal.ts'
import { emptyBase, encodeBase, toBytes } from '../../../src/wire/index.ts'
import type { Record } from '../../../src/wire/index.ts'
import { sampleRecord, sampleRecords } from './sample-records.ts'
import { batchOf } from './sealed-journal.ts'

type Item = { readonly kind: 'base' | 'batch'; readonly bytes: Uint8Array }

/** A journal of batches of these sizes. */
function journal(sizes: readonly number[]): Item[] {
  const base = emptyJournalBase()
  const items: Item[] = [{ kind: 'base', bytes: base.bytes }]
  let seal = base.seal
  let position = 1
  for (const size of sizes) {
    const batch = batchOf(sampleRecords(position, position + size - 1), seal)
    items.push({ kind: 'batch', bytes: batch.bytes })
    seal = batch.seal
    position += size
  }
  return items
}

/** What of it can be read, and where it stops. */
function read(items: readonly Item[]): { readonly records: Record[]; readonly error: JournalError | undefined } {
  const chain = new Chain()
  const records: Record[] = []
  try {
    for (const item of items) {
      if (item.kind === 'base') chain.base(item.bytes)
      else for (const record of chain.records(item.bytes)) records.push(record)
    }
    return { records, error: undefined }
  } catch (error) {
    if (!(error instanceof JournalError)) throw error
    return { records, error }
  }
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 8 })
const total = (of: readonly number[]): number => of.reduce((sum, size) => sum + size, 0)

/** Expects the fault, and that all before it is as it was. */
function expectFault(items: readonly Item[], faults: readonly JournalFault[], good: number): void {
  const { records, error } = read(items)
  expect(error).toBeDefined()
  expect(faults).toContain(error?.fault)
  expect(error?.position).toBe(good)
  expect(error?.message).toContain(`position ${good}`)
  expect(records).toEqual(sampleRecords(1, good))
}

describe('a whole chain', () => {
  it('gives every record as it was', () => {
    fc.assert(fc.property(sizes, given => {
      const { records, error } = read(journal(given))
      expect(error).toBeUndefined()
      expect(records).toEqual(sampleRecords(1, total(given)))
    }))
  })
})

describe('a chain with a fault', () => {
  it('given one bit flipped anywhere, then it is a named error and all before it is good', () => {
    fc.assert(fc.property(sizes, fc.nat(), fc.nat(), fc.nat(7), (given, which, where, bit) => {
      const items = journal(given)
      const index = which % items.length
      const bytes = (items[index] as Item).bytes.slice()
      const at = where % bytes.length
      bytes[at] = (bytes[at] as number) ^ (1 << bit)
      items[index] = { ...(items[index] as Item), bytes }
      expectFault(items, ['journal-broken-chain'], index === 0 ? 0 : total(given.slice(0, index - 1)))
    }), { numRuns: 300 })
  })

  it('given a batch cut at any byte, then it is a named error', () => {
    const items = journal([2, 2])
    const last = items[2] as Item
    for (let length = 0; length < last.bytes.length; length++) {
      expectFault([...items.slice(0, 2), { kind: 'batch', bytes: last.bytes.subarray(0, length) }], ['journal-broken-chain'], 2)
    }
  })

  it('given a batch left out, then the gap is named', () => {
    fc.assert(fc.property(sizes, fc.nat(), (given, which) => {
      if (given.length < 2) return
      const lost = which % (given.length - 1)
      const items = journal(given).filter((_, index) => index !== lost + 1)
      expectFault(items, ['journal-gap'], total(given.slice(0, lost)))
    }))
  })

  it('given two batches in the wrong order, or one twice, then it is named', () => {
    const [base, first, second, third] = journal([2, 3, 4]) as [Item, Item, Item, Item]
    expectFault([base, first, third, second], ['journal-gap'], 2)
    expectFault([base, first, first, second], ['journal-broken-chain'], 2)
  })

  it('given a batch of another journal at the right position, then it does not follow', () => {
    const mine = journal([2, 3])
    const stranger = batchOf(sampleRecords(3, 5), 12345n)
    expectFault([...mine.slice(0, 2), { kind: 'batch', bytes: stranger.bytes }], ['journal-broken-chain'], 2)
  })

  it('given records that are not the ones the batch names, then the first wrong one is named', () => {
    const base = emptyJournalBase()
    const opening: Item = { kind: 'base', bytes: base.bytes }
    const batch = (records: readonly Record[]): Item[] => [opening, { kind: 'batch', bytes: batchOf(records, base.seal).bytes }]
    expectFault(batch([sampleRecord(1), sampleRecord(2), sampleRecord(4)]), ['journal-broken-chain'], 2)
    expectFault(batch([sampleRecord(1), { ...sampleRecord(2), atUs: 5 }]), ['journal-broken-chain'], 1)
  })
})

describe('bases along a chain', () => {
  const opening = emptyJournalBase()
  const first = batchOf(sampleRecords(1, 4), opening.seal)
  const start: Item[] = [{ kind: 'base', bytes: opening.bytes }, { kind: 'batch', bytes: first.bytes }]
  const at = { atUs: 0, stateHash: 1n, state: new Uint8Array([1]) }
  const missing = { first: 5, last: 9, reason: 'the disk was full' }

  it('given a base at the end of a batch, then the chain goes on past it, and also begins at it', () => {
    const base: Item = { kind: 'base', bytes: sealBase({ ...at, position: 4 }, first.seal).bytes }
    const next: Item = { kind: 'batch', bytes: batchOf(sampleRecords(5, 6), first.seal).bytes }
    expect(read([...start, base, next]).records).toHaveLength(6)
    expect(read([base, next])).toEqual({ records: sampleRecords(5, 6), error: undefined })
  })

  it('given a base that declares what is missing, then the chain goes on after it', () => {
    const base = sealBase({ ...at, position: 9 }, first.seal, missing)
    const next: Item = { kind: 'batch', bytes: batchOf(sampleRecords(10, 11), base.seal).bytes }
    const { records, error } = read([...start, { kind: 'base', bytes: base.bytes }, next])
    expect(error).toBeUndefined()
    expect(records.map(record => record.position)).toEqual([1, 2, 3, 4, 10, 11])
  })

  it.each([
    ['it is beyond the last batch and declares nothing', sealBase({ ...at, position: 9 }, first.seal), 'journal-gap'],
    ['it stands before the last batch', sealBase({ ...at, position: 3 }, first.seal), 'journal-broken-chain'],
    ['it follows another batch', sealBase({ ...at, position: 4 }, 1n), 'journal-broken-chain'],
    ['it declares too little as missing', sealBase({ ...at, position: 9 }, first.seal, { ...missing, first: 6 }), 'journal-gap'],
    ['its state is not at the end of what it declares', sealBase({ ...at, position: 8 }, first.seal, missing), 'journal-gap'],
  ] as const)('given a base and %s, then that is named', (_, base, fault) => {
    expectFault([...start, { kind: 'base', bytes: base.bytes }], [fault], 4)
  })

  it('given a base of a newer schema, then it is refused by name', () => {
    const newer = sealed(toBytes(encodeBase, { ...emptyBase(), schemaVersion: SCHEMA_VERSION + 1 }))
    expectFault([{ kind: 'base', bytes: newer.bytes }], ['journal-newer-schema'], 0)
  })
})
