import { expect } from 'vitest'
import { chooseFinal, finalScores, PrefixTable } from '../../src/aibrix/index.ts'
import { die, expectAsFile, numberOf } from './aibrix-cases.ts'
import { forEachCase, messageOf, type Case } from './runner.ts'

interface Pick {
  readonly pod: string
  readonly score: number | string
}
interface Input {
  readonly prefillByRoleset: Readonly<Record<string, Pick>> | null
  readonly decodeByRoleset: Readonly<Record<string, Pick>>
  readonly decodeError: string | null
  readonly maxPrefillScore: number
  readonly maxDecodeScore: number | string
  readonly prefixHashes: readonly string[]
}
interface Outcome {
  readonly error?: string
  readonly prefill?: string
  readonly decode?: string
  readonly anyOf?: readonly Outcome[]
}

const picksOf = (given: Readonly<Record<string, Pick>>): ReadonlyMap<string, { pod: string; score: number }> =>
  new Map(Object.entries(given).map(([roleset, { pod, score }]) => [roleset, { pod, score: numberOf(score) }]))

const final = ({ input, expected }: Case<unknown, Input, { combinedByRoleset: unknown; outcome: Outcome }>): void => {
  const prefill = { perRoleset: input.prefillByRoleset === null ? null : picksOf(input.prefillByRoleset), maxScore: input.maxPrefillScore }
  const decode = { perRoleset: picksOf(input.decodeByRoleset), maxScore: numberOf(input.maxDecodeScore), err: input.decodeError === null ? undefined : new Error(input.decodeError) }
  expectAsFile(Object.fromEntries(finalScores(prefill, decode).map(({ roleset, finalScore }) => [roleset, finalScore])), expected.combinedByRoleset)
  const { outcome } = expected
  if (outcome.error !== undefined) {
    expect(messageOf(() => chooseFinal(prefill, decode, die()))).toBe(outcome.error)
    return
  }
  const { chosen } = chooseFinal(prefill, decode, die())
  const pairs = (outcome.anyOf ?? [outcome]).map((each) => ({ prefill: each.prefill, decode: each.decode }))
  expectAsFile({ prefill: chosen.prefill, decode: chosen.decode }, { anyOf: pairs })
}

forEachCase('aibrix-final-score.json', { final }, {
  'prefix update queue holds 1024 jobs and drops the rest': {
    because: 'the table is updated in the turn that chose, so there is no queue and nothing is dropped',
    instead: ({ input }: Case<unknown, { enqueued: number }>): void => {
      const table = new PrefixTable({ blocks: 10_000, timeToLiveUs: 1, sweepIntervalUs: 1 })
      for (let i = 0; i < input.enqueued; i++) table.addPrefix([BigInt(i)], 'm', 'p', 0)
      expect(table.size).toBe(input.enqueued)
    },
  },
})
