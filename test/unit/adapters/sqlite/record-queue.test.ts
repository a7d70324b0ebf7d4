import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { batchesOf, RecordQueue } from '../../../../src/adapters/sqlite/record-queue.ts'
import type { RecordsChunk } from '../../../../src/adapters/sqlite/writer-protocol.ts'
import { appendRecord, BATCH_BYTES_MAX, BATCH_RECORDS_MAX, Chain, emptyJournalBase, RequestIndexSection } from '../../../../src/journal/index.ts'
import { Writer } from '../../../../src/wire/index.ts'
import { sampleRecord, sampleRecords } from '../../journal/sample-records.ts'

function chunkOf(from: number, count: number, keyBytes: number = 0): RecordsChunk {
  const records = new Writer()
  const index = new RequestIndexSection()
  for (let position = from; position < from + count; position++) {
    appendRecord(sampleRecord(position, keyBytes), records)
    index.add(sampleRecord(position))
  }
  return { firstPosition: from, count, atUs: sampleRecord(from + count - 1).atUs, records: records.finish(), index: index.take() }
}

function chunksOf(sizes: readonly number[], keyBytes: number = 0): RecordsChunk[] {
  let next = 1
  return sizes.map(size => {
    const chunk = chunkOf(next, size, keyBytes)
    next += size
    return chunk
  })
}

describe('chunks sealed as batches', () => {
  it('given chunks of any size, then the batches chain and hold every record', () => {
    fc.assert(fc.property(fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 12 }), sizes => {
      const base = emptyJournalBase()
      const chain = new Chain()
      chain.base(base.bytes)
      const records = batchesOf(chunksOf(sizes), base.seal).flatMap(batch => [...chain.records(batch.bytes)])
      expect(records).toEqual(sampleRecords(1, sizes.reduce((sum, size) => sum + size, 0)))
    }))
  })

  it('given more records or bytes than a batch may hold, then there are several', () => {
    const many = batchesOf(chunksOf([4000, 4000]), 0n)
    expect(many.map(batch => batch.count)).toEqual([4000, 4000])
    expect(Math.max(...many.map(batch => batch.count))).toBeLessThanOrEqual(BATCH_RECORDS_MAX)
    const large = batchesOf(chunksOf([1, 4, 1], BATCH_BYTES_MAX / 2), 0n)
    expect(large.map(batch => batch.count)).toEqual([1, 5])
  })

  it('given one record larger than a batch, then it is a batch of its own', () => {
    expect(batchesOf(chunksOf([1], BATCH_BYTES_MAX + 1), 0n).map(batch => batch.count)).toEqual([1])
  })
})

describe('the queue', () => {
  it('given chunks, when some are written, then the rest waits and is counted', () => {
    const queue = new RecordQueue()
    const chunks = chunksOf([2, 3, 4])
    for (const chunk of chunks) queue.push(chunk)
    expect(queue.next()).toEqual(chunks)
    queue.shift(chunks.slice(0, 1))
    expect({ first: queue.firstPosition, records: queue.records }).toEqual({ first: 3, records: 7 })
    expect(queue.bytes).toBe(chunks.slice(1).reduce((sum, chunk) => sum + chunk.records.length, 0))
    expect(queue.above(5)).toEqual(chunks.slice(2))
    queue.clear()
    expect({ empty: queue.isEmpty, bytes: queue.bytes }).toEqual({ empty: true, bytes: 0 })
  })

  it('given more than one transaction may hold, then the next takes what fits, and at least one chunk', () => {
    const queue = new RecordQueue()
    for (const chunk of chunksOf([1, 4, 1], 9_000_000)) queue.push(chunk)
    const next = (): number[] => queue.next().map(chunk => chunk.firstPosition)
    expect(next()).toEqual([1])
    queue.shift(queue.next())
    expect(next()).toEqual([2, 6])
  })
})
