// Usage: node .tools/tests.ts faults|ui [FILTER...]: runs the tests of test/faults and the long ones of test/integration, or all of test/ui: they take too long for every run.
//        node .tools/tests.ts properties [ROUNDS]: runs the tests that draw values at random, with other values in each round (5), and names the seed of a round that fails.
import { randomInt } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
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

/** Runs the test files whose path contains one of the filters (all of every run when there is none). That none ran is one failed. */
export async function runTests(filters: readonly string[], options: CliOptions = {}): Promise<Tally> {
  const vitest = await startVitest('test', [...filters], { root, config: '.config/vitest.config.ts', watch: false, project: ['code', 'world'], ...options })
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

/** The test files that draw values with fast-check, themselves or through a file beside them. */
async function propertyTests(): Promise<string[]> {
  const files: string[] = []
  for await (const file of glob('test/**/*.ts', { cwd: root })) {
    if (readFileSync(join(root, file), 'utf8').includes("from 'fast-check'")) files.push(file)
  }
  return files.map((file) => (file.endsWith('.test.ts') ? file : dirname(file) + sep))
}

async function runProperties(rounds: number): Promise<Tally> {
  const files = await propertyTests()
  let tally = noTally
  for (let round = 1; round <= rounds; round++) {
    const seed = randomInt(2 ** 31)
    process.env['SIGNALBOX_SEED'] = String(seed)
    const result = await runTests(files)
    process.stdout.write(`round ${round} of ${rounds}, SIGNALBOX_SEED=${seed}: ${result.failed === 0 ? 'ok' : `${result.failed} failed`}\n`)
    tally = sumOf(tally, result)
  }
  return tally
}

if (import.meta.main) {
  const [name, ...filters] = process.argv.slice(2)
  if (name === 'faults') {
    close(await runTests(filters, { project: ['faults'], fileParallelism: false }))
  } else if (name === 'ui') {
    close(await runTests((filters.length > 0 ? filters : ['']).map((filter) => `test/ui/${filter}`), { project: ['ui', 'world'], fileParallelism: false }))
  } else if (name === 'properties') {
    close(await runProperties(Number(filters[0] ?? 5)))
  } else {
    process.stderr.write('usage: node .tools/tests.ts faults|ui [FILTER...] | properties [ROUNDS]\n')
    process.exitCode = 2
  }
}
