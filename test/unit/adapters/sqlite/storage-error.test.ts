import { describe, expect, it } from 'vitest'
import { readError, writeError } from '../../../../src/adapters/sqlite/storage-error.ts'
import { JournalError } from '../../../../src/journal/index.ts'

/** An error as node:sqlite throws it. */
function sqliteError(errcode: number): Error {
  return Object.assign(new Error('what SQLite says'), { code: 'ERR_SQLITE_ERROR', errcode })
}

describe('an error of SQLite', () => {
  it.each([
    [11, 'journal-broken-chain'],
    [11 | (1 << 8), 'journal-broken-chain'],
    [10, 'journal-broken-chain'],
    [5, 'journal-locked'],
    [14, 'journal-not-found'],
    [26, 'journal-not-a-journal'],
    [1, 'journal-not-a-journal'],
  ])('given result code %d while reading, then it is %s at the file', (errcode, code) => {
    expect(readError(sqliteError(errcode), 'a.sqlite', 7)).toMatchObject({ code, place: { file: 'a.sqlite' } })
  })

  it('given the file is damaged, then the last good position is in the error', () => {
    expect(readError(sqliteError(11), 'a.sqlite', 7)).toBeInstanceOf(JournalError)
    expect(readError(sqliteError(11), 'a.sqlite', 7)).toMatchObject({ position: 7 })
  })

  it('given a number that no journal writes, then the file is damaged', () => {
    expect(readError(Object.assign(new Error('too large'), { code: 'ERR_OUT_OF_RANGE' }), 'a.sqlite', 3)).toMatchObject({ code: 'journal-broken-chain', position: 3 })
  })

  it.each([
    [13, 'journal-write', /full/],
    [8, 'journal-write', /cannot be written/],
    [10, 'journal-write', /what SQLite says/],
    [5, 'journal-locked', /what SQLite says/],
  ])('given result code %d while writing, then it is %s and says %s', (errcode, code, message) => {
    expect(writeError(sqliteError(errcode), 'a.sqlite')).toMatchObject({ code, message: expect.stringMatching(message) as string })
  })

  it('given another error, then it is passed on', () => {
    const error = new TypeError('a mistake in the code')
    expect(readError(error, 'a.sqlite', 0)).toBe(error)
    expect(writeError(error, 'a.sqlite')).toBe(error)
  })
})
