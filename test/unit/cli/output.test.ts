import { afterEach, describe, expect, it, vi } from 'vitest'
import { json, outcome } from '../../../src/cli/outcome.ts'
import { Progress } from '../../../src/cli/progress.ts'
import { table } from '../../../src/cli/table.ts'
import { SignalboxError } from '../../../src/core/errors.ts'

afterEach(() => {
  vi.restoreAllMocks()
  process.exitCode = undefined
})

describe('a table', () => {
  it('pads columns, sets numbers to the right, and ends no line with spaces', () => {
    expect(table(['name', 'n'], [['a', '1'], ['longer', '1,000'], ['b', '']])).toBe('name    n\na           1\nlonger  1,000\nb')
    expect(table([], [])).toBe('')
  })
})

describe('the outcome of a command', () => {
  const codeOf = async (work: () => number): Promise<unknown> => {
    await outcome(work)
    return process.exitCode
  }

  it('is its code; 2 for wrong usage, 1 for what was found, with message, place and fix', async () => {
    const said: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => { said.push(String(text)); return true })
    const fails = (error: Error) => () => { throw error }
    expect(await codeOf(() => 0)).toBe(0)
    expect(await codeOf(fails(new SignalboxError('usage', 'no')))).toBe(2)
    expect(await codeOf(fails(new SignalboxError('journal-broken-chain', 'the batch was changed', { file: 'j.sqlite' })))).toBe(1)
    expect(said.at(-1)).toMatch(/^the batch was changed \(j\.sqlite\)\n {2}.*\[journal-broken-chain\]\n$/)
    await expect(outcome(fails(new TypeError('a fault')))).rejects.toThrow('a fault')
  })

  it('as JSON keeps 64-bit numbers whole', () => {
    expect(json({ a: 2n ** 63n, b: [1] })).toBe('{\n  "a": "9223372036854775808",\n  "b": [\n    1\n  ]\n}\n')
  })
})

describe('progress', () => {
  it('is drawn for a terminal only, and taken away at the end', () => {
    const drawn: string[] = []
    vi.spyOn(process.stderr, 'write').mockImplementation((text) => { drawn.push(String(text)); return true })
    const isTerminal = process.stderr.isTTY
    try {
      process.stderr.isTTY = false
      new Progress('replaying', 10).at(5)
      expect(drawn).toEqual([])
      process.stderr.isTTY = true
      const progress = new Progress('replaying', 0)
      progress.at(0)
      expect(progress.end()).toBeGreaterThanOrEqual(0)
      expect(drawn.join('')).toContain('replaying [##############################] 100 %')
      expect(drawn.at(-1)).toBe('\r\u001b[K')
    } finally {
      process.stderr.isTTY = isTerminal
    }
  })
})
