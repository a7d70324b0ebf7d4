import { describe, expect, it } from 'vitest'
import { run } from '../../story/server.ts'

describe('wrong usage', () => {
  it.each<[string, readonly string[], string]>([
    ['no command', [], 'Usage: signalbox'],
    ['a command misspelt', ['replya', 'x'], 'unknown command `replya`; did you mean `replay`?'],
    ['help for a command misspelt', ['help', 'replya'], 'unknown command `replya`; did you mean `replay`?'],
    ['a word that is no command', ['zzzzzz'], 'unknown command `zzzzzz`\n'],
    ['an unknown part of a command', ['journal', 'zzzzzz'], 'zzzzzz'],
    ['an unknown option', ['check-config', '--zzzzzz'], '--zzzzzz'],
    ['an option without its value', ['play', '--trace'], '--trace'],
  ])('given %s, then it says so and ends with 2', async (_what, args, told) => {
    const { code, out, errors } = await run(...args)
    expect(errors).toContain(told)
    expect(out).toBe('')
    expect(code).toBe(2)
  })

  it.each<[string, readonly string[], string]>([
    ['--help', ['--help'], 'Commands:'],
    ['help with a command', ['help', 'explain'], '--all'],
    ['a command with --help', ['explain', '--help'], '--all'],
  ])('given %s, then it is no fault', async (_what, args, told) => {
    const { code, out } = await run(...args)
    expect(out).toContain(told)
    expect(code).toBe(0)
  })
})
