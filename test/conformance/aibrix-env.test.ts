import { expect } from 'vitest'
import { positiveInteger, positiveNumber, textOr, truth, wrapped32 } from '../../src/aibrix/index.ts'
import { expectAsFile } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

interface Raw {
  readonly raw: string
}

forEachCase('aibrix-env.json', {
  int: ({ config, input, expected }: Case<{ default: number }, Raw, number | string>): void =>
    expect(positiveInteger(input.raw, BigInt(config.default))).toBe(BigInt(expected)),
  float: ({ config, input, expected }: Case<{ default: number }, Raw>): void => expectAsFile(positiveNumber(input.raw, config.default), expected),
  bool: ({ config, input, expected }: Case<{ default: boolean }, Raw>): void => expectAsFile(truth(input.raw, config.default), expected),
  string: ({ config, input, expected }: Case<{ default: string }, Raw>): void => expectAsFile(textOr(input.raw, config.default), expected),
  int32wrap: ({ input, expected }: Case<unknown, { value: number }>): void => expectAsFile(wrapped32(BigInt(input.value)), expected),
})
