import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { load } from '../../src/app/load.ts'
import { addressText, serve } from '../../src/app/serve.ts'
import type { Serving } from '../../src/app/serve.ts'
import { START_CONFIGURATION } from '../../src/app/start.ts'
import { startPool } from '../../src/simulation/index.ts'
import type { Pool, PoolOptions } from '../../src/simulation/index.ts'

export const MAIN: string = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))

/** A folder of its own for a test, gone with `remove`. */
export const temporaryFolder = (): { readonly path: string; remove(): void } => {
  const path = mkdtempSync(join(tmpdir(), 'signalbox-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** A simulated fleet in this process, fast, announced in a file of the folder. */
export const fleetIn = (folder: string, options: PoolOptions = {}): Promise<Pool> =>
  startPool({ decode: 2, prefill: 1, encode: 1, speed: 50, model: 'sim-model', endpointsFile: join(folder, 'endpoints.yaml'), ...options })

/** Settings for a server on free ports with its journal in the folder. */
export const flagsIn = (folder: string, more: Readonly<Record<string, string>> = {}): ReadonlyMap<string, string> =>
  new Map(Object.entries({ listen: '127.0.0.1:0', 'admin-listen': '127.0.0.1:0', 'journal-path': join(folder, 'journal.sqlite'), 'drain-timeout': '5s', ...more }))

/** A server in this process. */
export const serveIn = async (folder: string, more: Readonly<Record<string, string>> = {}, configuration = START_CONFIGURATION): Promise<Serving & { readonly url: string; readonly adminUrl: string; readonly lines: string[] }> => {
  const lines: string[] = []
  const loaded = await load({ files: [configuration], flags: flagsIn(folder, more), pluginModules: [], allowExperimental: true, endpoints: join(folder, 'endpoints.yaml') })
  const serving = await serve({ ...loaded, log: (line) => lines.push(line) })
  return { ...serving, lines, url: `http://${addressText(serving.front)}`, adminUrl: `http://${addressText(serving.admin)}` }
}

/** A server in a process of its own, which may be killed. */
export interface ServerProcess {
  readonly process: ChildProcess
  readonly url: string
  readonly adminUrl: string
  stop(signal: NodeJS.Signals): Promise<number | null>
}

/** Starts the command `serve` and waits until it says where it listens. Throws with what it printed when it ends first. */
export const spawnServer = async (folder: string, more: Readonly<Record<string, string>> = {}): Promise<ServerProcess> => {
  const flags = [...flagsIn(folder, more)].flatMap(([name, value]) => [`--${name}`, value])
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'serve', '--config', START_CONFIGURATION, '--endpoints', join(folder, 'endpoints.yaml'), ...flags], { stdio: ['ignore', 'pipe', 'pipe'] })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => { errors += chunk.toString() })
  const exited = once(child, 'exit') as Promise<[number | null]>
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /serving on (\S+), admin on (\S+)/.exec(line)
    if (found === null) continue
    return {
      process: child,
      url: found[1] ?? '',
      adminUrl: found[2] ?? '',
      stop: async (signal) => {
        child.kill(signal)
        return (await exited)[0]
      },
    }
  }
  throw new Error(`the server ended: ${errors}`)
}

/** Runs a command to its end. */
export const run = async (...args: readonly string[]): Promise<{ readonly code: number | null; readonly out: string; readonly errors: string }> => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let out = ''
  let errors = ''
  child.stdout.on('data', (chunk: Buffer) => { out += chunk.toString() })
  child.stderr.on('data', (chunk: Buffer) => { errors += chunk.toString() })
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, out, errors }
}

/** A streaming chat request; resolves with its id once the first bytes are there. `text` resolves at its end. */
export const chat = async (url: string, content: string, maxTokens = 8): Promise<{ readonly id: string; readonly status: number; readonly text: Promise<string> }> => {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'sim-model', stream: true, max_tokens: maxTokens, messages: [{ role: 'user', content }] }),
  })
  return { id: response.headers.get('x-request-id') ?? '', status: response.status, text: response.text() }
}
