import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { open, readFile } from 'node:fs/promises'
import { request } from 'undici'
import { replaceFile, readPoolRecord, stateFileOf } from './pool-file.ts'
import type { PoolRecord } from './pool-file.ts'
import type { PoolOptions } from './pool.ts'

/** A pool on this machine answers at once; one that takes this long is not taken for alive, ms. */
const ANSWER_MS = 2_000

/** The pool that a state file speaks of, if it is alive and still the same one. */
export async function findPool(stateFile: string): Promise<PoolRecord | undefined> {
  const record = await readPoolRecord(stateFile)
  if (record === undefined) return undefined
  try {
    const answer = await request(`${record.controlUrl}/pool`, { signal: AbortSignal.timeout(ANSWER_MS) })
    const state = (await answer.body.json()) as { readonly id?: unknown }
    return state.id === record.id ? record : undefined
  } catch {
    return undefined
  }
}

/** Asks a pool to end and resolves when it has said that it will. */
export async function stopPool(record: PoolRecord): Promise<void> {
  const answer = await request(`${record.controlUrl}/pool/stop`, { method: 'POST', signal: AbortSignal.timeout(ANSWER_MS) })
  await answer.body.dump()
}

/** The flags of `signalbox simulate` for these options. */
function simulateArguments(options: PoolOptions & { readonly endpointsFile: string }): string[] {
  const flags: readonly (readonly [string, string | number | undefined])[] = [
    ['decode', options.decode ?? 0],
    ['prefill', options.prefill ?? 0],
    ['encode', options.encode ?? 0],
    ['plain', options.plain ?? 0],
    ['model', options.model],
    ['adapters', options.adapters?.join(',')],
    ['engine', options.engine],
    ['speed', options.speed],
    ['host', options.host],
    ['port-base', options.portBase],
    ['control-port', options.controlPort],
    ['namespace', options.namespace],
    ['endpoints-file', options.endpointsFile],
  ]
  const timing = Object.entries(options.timing ?? {}).flatMap(([name, value]) => ['--timing', `${name}=${value}`])
  return ['simulate', ...flags.flatMap(([name, value]) => (value === undefined ? [] : [`--${name}`, String(value)])), ...timing]
}

/**
 * Starts a pool in a process of its own that outlives this one, and resolves when it is ready.
 * `program` runs the signalbox command line (`[node, main.ts]`). What the pool says goes to a log file beside its
 * state file. Throws an Error with the end of that log when the pool does not become ready.
 */
export async function launchPool(
  program: readonly [string, ...string[]], options: PoolOptions & { readonly endpointsFile: string },
): Promise<PoolRecord> {
  const stateFile = stateFileOf(options.endpointsFile)
  const logFile = stateFile.replace(/\.json$/, '.log')
  await replaceFile(logFile, '')
  const log = await open(logFile, 'a')
  try {
    const [command, ...first] = program
    const child = spawn(command, [...first, ...simulateArguments(options)], {
      detached: true, stdio: ['ignore', log.fd, log.fd, 'ipc'],
    })
    const gone = new AbortController()
    const left = once(child, 'exit', { signal: gone.signal }).then(() => false, (error: unknown) => {
      if (gone.signal.aborted) return false
      throw error
    })
    const ready = await Promise.race([once(child, 'message', { signal: gone.signal }).then(() => true, () => false), left])
    gone.abort()
    if (child.connected) child.disconnect()
    child.unref()
    const record = ready ? await readPoolRecord(stateFile) : undefined
    if (record === undefined) throw new Error(`the simulated pool did not start: ${(await readFile(logFile, 'utf8')).slice(-2000).trim()}`)
    return record
  } finally {
    await log.close()
  }
}
