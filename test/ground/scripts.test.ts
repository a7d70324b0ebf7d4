import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = join(root, '.tools', 'run.mjs')

let folder: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-scripts-'))
})

afterAll(() => {
  rmSync(folder, { recursive: true })
})

function script(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, `${text}\n`)
  return path
}

describe('a script on a ready clone', () => {
  it('passes arguments on, adds nothing to the output and ends as its target ends', () => {
    const target = script('arguments.ts', 'const seen: string[] = process.argv.slice(2); console.log(JSON.stringify(seen)); process.exitCode = 7')
    const { stdout, stderr, status } = spawnSync(process.execPath, [run, target, 'start', '--speed', '10', '--', '-x', ''], { encoding: 'utf8' })
    expect({ stdout, stderr, status }).toEqual({ stdout: '["start","--speed","10","--","-x",""]\n', stderr: '', status: 7 })
  })

  it('gives its target, and what that starts, Node.js 24 or newer', () => {
    const target = script('version.mjs', "import { execFileSync } from 'node:child_process'; console.log(process.version, String(execFileSync('node', ['-v'])).trim())")
    const versions = spawnSync(process.execPath, [run, target], { encoding: 'utf8' }).stdout.trim().split(' ')
    expect(versions).toHaveLength(2)
    for (const version of versions) expect(Number(/^v(\d+)\./.exec(version)?.[1])).toBeGreaterThanOrEqual(24)
  })

  it.each([
    ['SIGTERM', 42],
    ['SIGINT', 42],
  ] as const)('hands %s to its target and waits for its end', async (signal, code) => {
    const target = script(`${signal}.mjs`, `process.on('${signal}', () => process.exit(${code})); setInterval(() => {}, 1000); console.log('ready')`)
    const child = spawn(process.execPath, [run, target], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill(signal)
    expect(await once(child, 'exit')).toEqual([code, null])
  })

  it('tells its usage when there is nothing to run', () => {
    const { stderr, status } = spawnSync(process.execPath, [run], { encoding: 'utf8' })
    expect(stderr).toContain('usage:')
    expect(status).toBe(2)
  })
})

describe('a script for the tests', () => {
  interface Program {
    readonly binary: string
    readonly debianPackage: string
  }

  const programs = (): readonly Program[] => {
    const target = script('programs.mjs', `import { programs } from '${pathToFileURL(join(root, '.tools', 'setup.mjs')).href}'; console.log(JSON.stringify(programs))`)
    return JSON.parse(spawnSync(process.execPath, [target], { encoding: 'utf8' }).stdout) as readonly Program[]
  }
  const runWith = (binaries: readonly string[]): ReturnType<typeof spawnSync> => {
    const bin = mkdtempSync(join(folder, 'bin-'))
    for (const binary of binaries) {
      writeFileSync(join(bin, binary), '#!/bin/sh\n')
      chmodSync(join(bin, binary), 0o755)
    }
    const target = script('reached.mjs', "console.log('reached')")
    return spawnSync(process.execPath, [run, '--tests', target], { encoding: 'utf8', env: { ...process.env, PATH: bin } })
  }

  it('goes on when each program is there', () => {
    const { stdout, status } = runWith(programs().map(({ binary }) => binary))
    expect({ stdout, status }).toEqual({ stdout: 'reached\n', status: 0 })
  })

  it('names what is missing and ends with 1, where it cannot install it', () => {
    expect(programs()).not.toHaveLength(0)
    const { stdout, stderr, status } = runWith([])
    expect({ stdout, status }).toEqual({ stdout: '', status: 1 })
    for (const { binary, debianPackage } of programs()) expect(stderr).toContain(`${binary} (Debian: ${debianPackage})`)
  })
})

describe('the run of tests', () => {
  const closing = (stdout: string): string | undefined => stdout.trimEnd().split('\n').at(-1)

  /** Runs one test file of a project elsewhere the way the scripts do. */
  const runOf = (testFile: string): { last: string | undefined; status: number | null } => {
    const project = mkdtempSync(join(folder, 'project-'))
    symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))
    writeFileSync(join(project, 'one.test.ts'), testFile)
    const tests = pathToFileURL(join(root, '.tools', 'tests.ts')).href
    const options = JSON.stringify({ root: project, config: false, include: ['one.test.ts'], project: [], reporters: ['dot'] })
    const target = script('run.ts', `import { close, runTests } from '${tests}'; close(await runTests([], ${options}))`)
    const { stdout, status } = spawnSync(process.execPath, [target], { encoding: 'utf8' })
    return { last: closing(stdout), status }
  }

  it.each([
    ['passing tests', "it('a', () => {}); it('b', () => {})", '2 passed, 0 failed', 0],
    ['a failing test', "it('a', () => {}); it('b', () => { throw new Error('b') })", '1 passed, 1 failed', 1],
    ['a test left out', "it('a', () => {}); it.skip('b', () => {})", '1 passed, 0 failed, 1 skipped', 0],
    ['a file that does not load', "throw new Error('unloadable')", '0 passed, 1 failed', 1],
    ['an error outside of tests', "it('a', () => {}); setTimeout(() => { throw new Error('late') }); it('b', () => new Promise((r) => setTimeout(r, 50)))", '2 passed, 1 failed', 1],
  ])('with %s closes with its counts', (_, tests, last, status) => {
    expect(runOf(`import { it } from 'vitest'\n${tests}\n`)).toEqual({ last, status })
  })

  it('fails when no test ran', () => {
    const { stdout, status } = spawnSync(process.execPath, [join(root, '.tools', 'tests.ts'), 'faults', 'no-such-file'], { encoding: 'utf8' })
    expect({ last: closing(stdout), status }).toEqual({ last: '0 passed, 1 failed', status: 1 })
  })
})
