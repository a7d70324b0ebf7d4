// Usage: node .tools/check.ts [FILTER...]: every static check, then the tests (those whose path contains a filter, else all but the long ones).
// Goes through everything even when something fails, so that one run tells all; ends with the line `N passed, N failed`.
import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { close, noTally, runTests, sumOf } from './tests.ts'
import type { Tally } from './tests.ts'

/** Scripts of package.json; the longest first. */
const checks = ['lint', 'typecheck', 'unused', 'layers', 'wire:check'] as const

async function runChecks(): Promise<Tally> {
  const waiting: string[] = [...checks]
  let tally = noTally
  const lane = async (): Promise<void> => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      tally = sumOf(tally, await runCheck(name))
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  return tally
}

async function runCheck(name: string): Promise<Tally> {
  const startedAt = performance.now()
  const { status, output } = await outputOf('npm', ['run', '--silent', name])
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const passed = status === 0
  process.stdout.write(`${passed ? 'ok  ' : 'FAIL'} npm run ${name} (${seconds} s)\n`)
  if (output.trim() !== '') process.stdout.write(`${output.trimEnd().replace(/^/gm, '     ')}\n`)
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1, skipped: 0 }
}

function outputOf(command: string, args: readonly string[]): Promise<{ status: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', reject)
    child.on('close', (status) => resolve({ status, output: Buffer.concat(chunks).toString('utf8') }))
  })
}

const checked = await runChecks()
const tested = await runTests(process.argv.slice(2))
close(sumOf(checked, tested))
