import type { Record as JournalRecord } from '../../wire/journal.ts'
import { outcomeText } from '../fork/fork.ts'

/**
 * A test for vitest that decides a slice again and holds the code to the decisions it holds now: the slice is in it, so
 * that the file needs nothing else.
 */
export const sliceTest = (file: Uint8Array, records: readonly JournalRecord[]): string => {
  const first = records[0]?.position ?? 0
  const last = records.at(-1)?.position ?? 0
  const golden = records.flatMap(({ position, decisions }) => decisions.map((decision) => ({ position, request: decision.request, attempt: decision.attempt, outcome: outcomeText(decision) })))
  const lines = chunks(base64(file)).map((line) => `  '${line}',`)
  return `import { expect, it } from 'vitest'
import { JournalFile } from 'signalbox/journal'
import { engineOptions, finish, replayJournal } from 'signalbox/replay'

/** Positions ${first} to ${last}, with the state before them. */
const slice = Buffer.from([
${lines.join('\n')}
].join(''), 'base64')

/** What was decided; the journal holds scores and draws beside it. */
const golden = ${JSON.stringify(golden, null, 2)}

it('decides positions ${first} to ${last} as they were decided', () => {
  const journal = new JournalFile({ size: slice.length, read: (offset, length) => slice.subarray(offset, offset + length) })

  const replayed = finish(replayJournal(engineOptions(), journal))

  expect(replayed.divergence).toBeUndefined()
  expect(replayed.records).toBe(${records.length})
  expect(replayed.decisions).toBe(golden.length)
})
`
}

const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

/** RFC 4648, with padding. */
export const base64 = (bytes: Uint8Array): string => {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a = 0, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const word = (a << 16) | (b << 8) | c
    const left = bytes.length - at
    text += (LETTERS[word >> 18] as string) + (LETTERS[(word >> 12) & 63] as string)
      + (left > 1 ? (LETTERS[(word >> 6) & 63] as string) : '=') + (left > 2 ? (LETTERS[word & 63] as string) : '=')
  }
  return text
}

const LINE = 120

const chunks = (text: string): string[] => {
  const lines: string[] = []
  for (let at = 0; at < text.length; at += LINE) lines.push(text.slice(at, at + LINE))
  return lines
}
