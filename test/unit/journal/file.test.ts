import { describe, expect, it } from 'vitest'
import { SignalboxError } from '../../../src/core/errors.ts'
import { fileParts, isJournalFile, JournalError, JournalFile, readRecords, sliceOf, verify } from '../../../src/journal/index.ts'
import type { JournalReader } from '../../../src/journal/index.ts'
import { requestIdOf, sampleRecords } from './sample-records.ts'
import { memoryJournal, runToEnd } from './sealed-journal.ts'

function exported(reader: JournalReader, from: number = 1, to: number = reader.lastPosition()): Uint8Array {
  return Buffer.concat([...fileParts(reader, sliceOf(reader, from, to))])
}

function open(bytes: Uint8Array): JournalFile {
  return new JournalFile({ size: bytes.length, read: (offset, length) => bytes.subarray(offset, offset + length) })
}

/** The last good position of a damaged file, with the error that names it; undefined when nothing is wrong. */
function faultOf(bytes: Uint8Array): { readonly error: SignalboxError; readonly good: number } | undefined {
  let good = 0
  try {
    const file = open(bytes)
    for (const record of readRecords(file, (file.segments()[0]?.basePosition ?? 0) + 1)) good = record.position
    runToEnd(verify(file))
    return undefined
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error
    return { error, good }
  }
}

const journal = memoryJournal().append(sampleRecords(1, 6), 2).roll().append(sampleRecords(7, 12), 3).lose(5).append(sampleRecords(18, 20)).store

describe('an exported journal', () => {
  it('given all of a journal, when read back, then it has the same records, missing range and all', () => {
    const file = open(exported(journal))
    expect([...readRecords(file, 1)]).toEqual([...readRecords(journal, 1)])
    expect(runToEnd(verify(file))).toMatchObject({ records: 15, lastPosition: 20, missing: [{ first: 13, last: 17, reason: 'the disk was full' }] })
  })

  it('given a slice, when exported, then it begins at the base before it and ends with the batch that holds its end', () => {
    const file = open(exported(journal, 8, 8))
    expect(file.segments().map(segment => segment.basePosition)).toEqual([6])
    expect([...readRecords(file, 7)]).toEqual(sampleRecords(7, 9))
  })

  it('given positions that are not there, when exported, then they are refused', () => {
    expect(() => sliceOf(journal, 22, 30)).toThrow(SignalboxError)
    expect(() => sliceOf(journal, 5, 4)).toThrow(SignalboxError)
  })

  it('finds the records of a request without an index', () => {
    const file = open(exported(journal))
    expect(file.arrivalsOf(requestIdOf(5))).toEqual([5])
    expect(file.recordsOf(5)).toEqual([5, 6, 7, 8])
  })

  it('is told from other files by its first bytes', () => {
    const bytes = exported(journal)
    expect(isJournalFile(bytes.subarray(0, 32))).toBe(true)
    expect(isJournalFile(new Uint8Array(32))).toBe(false)
    expect(isJournalFile(new Uint8Array(0))).toBe(false)
  })

  it('given it is cut at any byte, when read, then that is a named error and the batches before it are good', () => {
    const bytes = exported(journal, 1, 12)
    const lengths = [...fileParts(journal, sliceOf(journal, 1, 12))].map(part => part.length)
    const goodAt = (length: number): number => {
      let end = (lengths[0] ?? 0) + (lengths[1] ?? 0)
      let good = 0
      for (const [index, last] of [2, 4, 6, 9, 12].entries()) {
        end += lengths[index + 2] ?? 0
        if (end <= length) good = last
      }
      return good
    }
    for (let length = 0; length < bytes.length; length++) {
      const fault = faultOf(bytes.subarray(0, length))
      expect(fault?.good, `cut at ${length}`).toBe(goodAt(length))
      if (fault?.error instanceof JournalError) expect(fault.error.position, `cut at ${length}`).toBe(fault.good)
    }
    expect(faultOf(bytes)).toBeUndefined()
  })

  it('given one bit flipped anywhere, when read, then that is a named error and what was read before it is good', () => {
    const bytes = exported(journal, 1, 12)
    for (let at = 0; at < bytes.length; at++) {
      const damaged = bytes.slice()
      damaged[at] = (damaged[at] as number) ^ (1 << (at % 8))
      const fault = faultOf(damaged)
      expect(fault, `bit of byte ${at}`).toBeDefined()
      if (fault?.error instanceof JournalError) expect(fault.error.position).toBe(fault.good)
    }
  })
})
