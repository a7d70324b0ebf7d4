import { SignalboxError } from '../core/errors.ts'

/** Exit codes of every command. */
export const EXIT = { right: 0, found: 1, usage: 2 } as const

const WRONG_USAGE: ReadonlySet<string> = new Set(['usage', 'journal-not-found', 'journal-not-a-journal', 'request-not-found'])

/** What was called wrongly: by its code, or because what is wrong stands in no file and so in a flag. */
const isWrongUsage = (error: SignalboxError): boolean => WRONG_USAGE.has(error.code) || (error.code.startsWith('config-') && error.place === undefined)

/** Runs a command's work; an error that a user can act on is printed with its place and fix, and ends it with its code. */
export const outcome = async (work: () => number | Promise<number>): Promise<void> => {
  try {
    process.exitCode = await work()
  } catch (error) {
    if (!(error instanceof SignalboxError)) throw error
    process.stderr.write(`${error.toString()}\n`)
    process.exitCode = isWrongUsage(error) ? EXIT.usage : EXIT.found
  }
}

/** JSON with 64-bit numbers as text. */
export const json = (value: unknown): string => `${JSON.stringify(value, (_key, each: unknown) => (typeof each === 'bigint' ? each.toString() : each), 2)}\n`
