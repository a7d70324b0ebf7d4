// Usage: node .tools/tests.ts faults|ui [FILTER...]: runs the tests of test/faults and the long ones of test/integration, or all of test/ui: they take too long for every run.
import { dirname } from 'node:path'
import { startVitest } from 'vitest/node'
import type { CliOptions } from 'vitest/node'

/** How many tests passed, failed and did not run; a file that does not load or an error outside of tests is one failed. */
export interface Tally {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const root = dirname(import.meta.dirname)

export const noTally: Tally = { passed: 0, failed: 0, skipped: 0 }

export function sumOf(a: Tally, b: Tally): Tally {
  return { passed: a.passed + b.passed, failed: a.failed + b.failed, skipped: a.skipped + b.skipped }
}

/** Runs the test files whose path contains one of the filters (all when there is none). That none ran is one failed. */
export async function runTests(filters: readonly string[], options: CliOptions = {}): Promise<Tally> {
  const vitest = await startVitest('test', [...filters], { root, config: '.config/vitest.config.ts', watch: false, ...options })
  const modules = vitest.state.getTestModules()
  const states = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.result().state))
  const errors = modules.reduce((sum, module) => sum + module.errors().length, vitest.state.getUnhandledErrors().length)
  const suiteErrors = modules.flatMap((module) => [...module.children.allSuites()]).reduce((sum, suite) => sum + suite.errors().length, 0)
  await vitest.close()
  const count = (state: string): number => states.filter((other) => other === state).length
  const passed = count('passed')
  const failed = count('failed') + count('pending') + errors + suiteErrors
  return { passed, failed: passed + failed === 0 ? 1 : failed, skipped: count('skipped') }
}

/** The closing line of a run; sets the exit code. */
export function close({ passed, failed, skipped }: Tally): void {
  process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}\n`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

if (import.meta.main) {
  const [name, ...filters] = process.argv.slice(2)
  if (name === 'faults') {
    const minutes = 60_000
    close(await runTests(filters, { include: ['test/faults/**/*.test.ts', 'test/integration/**/*.long.test.ts'], exclude: [], fileParallelism: false, testTimeout: 5 * minutes }))
  } else if (name === 'ui') {
    close(await runTests(filters, { include: ['test/ui/**/*.test.ts'], exclude: [], fileParallelism: false, testTimeout: 120_000, hookTimeout: 120_000 }))
  } else {
    process.stderr.write('usage: node .tools/tests.ts faults|ui [FILTER...]\n')
    process.exitCode = 2
  }
}
