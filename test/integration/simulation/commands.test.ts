import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { findPool, launchPool, stopPool } from '../../../src/simulation/pool/pool-process.ts'
import { started, stateOf } from './started.ts'

const MOONCAKE = new URL('../../data/traces/mooncake-conversation.jsonl', import.meta.url).pathname
const ROOT = new URL('../../../', import.meta.url).href
let folder = ''
const children: ChildProcess[] = []

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'commands-'))
  // The two commands alone, as the whole command line would run them.
  await writeFile(join(folder, 'main.mjs'), `
    import { Command } from '${ROOT}node_modules/commander/index.js'
    const { playCommand } = await import('${ROOT}src/cli/play.ts')
    const { simulateCommand } = await import('${ROOT}src/cli/simulate.ts')
    await new Command().addCommand(playCommand()).addCommand(simulateCommand()).parseAsync()
  `)
})
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
  await rm(folder, { recursive: true })
})

interface Run {
  readonly child: ChildProcess
  readonly ended: Promise<{ code: number | null; stdout: string; stderr: string }>
  readonly firstLine: Promise<string>
}

function run(...args: string[]): Run {
  const child = spawn(process.execPath, [join(folder, 'main.mjs'), ...args])
  children.push(child)
  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (piece: Buffer) => (stderr += String(piece)))
  const firstLine = new Promise<string>((resolve) => {
    child.stdout.on('data', (piece: Buffer) => {
      stdout += String(piece)
      if (stdout.includes('\n')) resolve(stdout.slice(0, stdout.indexOf('\n')))
    })
  })
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, stdout, stderr }))
  return { child, ended, firstLine }
}

describe('signalbox play', () => {
  it('prints the report and exits 0 when every request completed', async () => {
    const endpoint = await started({ speed: 1000 })
    const { code, stdout, stderr } = await run('play', '--trace', MOONCAKE, '--url', endpoint.url, '--speed', '100', '--limit', '20', '--max-output', '3', '--json').ended
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toMatchObject({ sent: 20, completed: 20, failed: 0 })
    expect(code).toBe(0)
  })

  it('asks for the model that the front door lists, and prints a table', async () => {
    const endpoint = await started({ speed: 1000, model: 'listed-model' })
    const { code, stdout } = await run('play', '--trace', MOONCAKE, '--url', endpoint.url, '--limit', '2').ended
    expect(stdout).toContain('2 sent, 2 completed, 0 failed')
    expect(code).toBe(0)
  })

  it('exits 1 when a request failed', async () => {
    const endpoint = await started({ speed: 1000 })
    await endpoint.setFaults({ failStatus: 500, count: 1 })
    const { code, stdout } = await run('play', '--trace', MOONCAKE, '--url', endpoint.url, '--limit', '2').ended
    expect(stdout).toContain('1 x status 500')
    expect(code).toBe(1)
  })

  it('exits 1 and says where to look when there is no front door', async () => {
    const endpoint = await started()
    await endpoint.setFaults({ refuse: true })
    const { code, stderr } = await run('play', '--trace', MOONCAKE, '--url', endpoint.url).ended
    expect(stderr).toContain(`no front door at ${endpoint.url} (connection refused)`)
    expect(code).toBe(1)
  })

  it('stops at SIGINT, reports and exits 1', async () => {
    const endpoint = await started({ speed: 0.001 })
    const playing = run('play', '--trace', MOONCAKE, '--url', endpoint.url, '--json')
    await stateOf(endpoint, ({ running }) => running === 1)
    playing.child.kill('SIGINT')
    const { code, stdout } = await playing.ended
    expect(JSON.parse(stdout)).toMatchObject({ interrupted: true, completed: 0 })
    expect(code).toBe(1)
  })

  it.each([
    [['play'], '--trace'],
    [['play', '--trace', 'x', '--speed', '0'], '--speed'],
    [['play', '--trace', 'x', '--sped', '1'], '--sped'],
    [['simulate', '--timing', 'maxRunning=0'], 'maxRunning'],
  ])('exits 2 for %j', async (args, named) => {
    const { code, stderr } = await run(...args).ended
    expect(stderr).toContain(named)
    expect(code).toBe(2)
  })

  it('exits 2 and names file and line for a malformed trace', async () => {
    const endpoint = await started()
    const file = join(folder, 'broken.jsonl')
    await writeFile(file, '{"timestamp": 0, "input_length": 0, "output_length": 1, "hash_ids": []}\n')
    const { code, stderr } = await run('play', '--trace', file, '--url', endpoint.url).ended
    expect(stderr).toContain(`${file}:1: \`input_length\` is 0; it must be a number of at least 1`)
    expect(code).toBe(2)
  })

  it.each(['play', 'simulate'])('exits 0 after the help of %s', async (command) => {
    const { code, stdout } = await run(command, '--help').ended
    expect(stdout).toContain('--speed')
    expect(code).toBe(0)
  })
})

describe('signalbox simulate', () => {
  const file = (): string => join(folder, 'endpoints.yaml')

  it('prints a ready line, announces its endpoints, and leaves cleanly at SIGTERM', async () => {
    const pool = run('simulate', '--decode', '2', '--prefill', '1', '--encode', '0', '--speed', '10', '--timing', 'maxRunning=4', '--timing', 'blockCount=99', '--endpoints-file', file(), '--json')
    const ready = JSON.parse(await pool.firstLine) as { endpoints: { name: string; url: string }[]; stateFile: string }
    expect(ready.endpoints.map(({ name }) => name)).toEqual(['decode-0', 'decode-1', 'prefill-0'])
    expect(await (await fetch(`${ready.endpoints[0]?.url}/metrics`)).text()).toContain('num_gpu_blocks="99"')
    expect(await findPool(ready.stateFile)).toBeDefined()
    pool.child.kill('SIGTERM')
    expect((await pool.ended).code).toBe(0)
    expect(await readFile(file(), 'utf8')).toBe('endpoints: []\n')
    expect(await findPool(ready.stateFile)).toBeUndefined()
  })

  it('does not take the file of a living pool', async () => {
    const first = run('simulate', '--decode', '1', '--prefill', '0', '--encode', '0', '--endpoints-file', file())
    expect(await first.firstLine).toMatch(/^ready: 1 decode/)
    const { code, stderr } = await run('simulate', '--endpoints-file', file()).ended
    expect(stderr).toContain('a pool already announces itself')
    expect(code).toBe(1)
  })

  it('is launched as a process of its own, found again, and stopped', async () => {
    const program: [string, string] = [process.execPath, join(folder, 'main.mjs')]
    const record = await launchPool(program, { decode: 1, speed: 50, model: 'm', timing: { maxRunning: 3 }, endpointsFile: file() })
    expect(record.pid).not.toBe(process.pid)
    expect(await findPool(join(folder, 'endpoints.pool.json'))).toEqual(record)
    const models = (await (await fetch(`http://127.0.0.1:${record.endpoints[0]?.port}/v1/models`)).json()) as unknown
    expect(models).toMatchObject({ data: [{ id: 'm' }] })
    await stopPool(record)
    await expect.poll(() => findPool(join(folder, 'endpoints.pool.json'))).toBeUndefined()
    await expect.poll(() => processLives(record.pid)).toBe(false)
  })

  it('tells why a launched pool did not start', async () => {
    const program: [string, string] = [process.execPath, join(folder, 'main.mjs')]
    await expect(launchPool(program, { decode: 1, portBase: 65_536, endpointsFile: file() })).rejects.toThrow(/did not start: .*--port-base/s)
    await expect(launchPool([join(folder, 'none')], { decode: 1, endpointsFile: file() })).rejects.toThrow()
  })
})

function processLives(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
