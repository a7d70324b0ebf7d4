import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { endPool } from '../story/pool.ts'

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url))
const TRACE = fileURLToPath(new URL('../data/traces/mooncake-conversation.jsonl', import.meta.url))

/** A command of the project, running in a folder; `said` resolves with what it printed once that matches. */
export interface Running {
  readonly child: ChildProcess
  said(pattern: RegExp): Promise<RegExpExecArray>
  stop(): Promise<void>
}

export const command = (folder: string, ...args: readonly string[]): Running => {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const listeners = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      for (const listener of listeners) listener()
    })
  }
  const exited = once(child, 'exit')
  return {
    child,
    said: (pattern) => new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(output)
        if (found === null) return
        listeners.delete(look)
        resolve(found)
      }
      listeners.add(look)
      void exited.then(() => {
        look()
        reject(new Error(`ended without printing ${String(pattern)}:\n${output}`))
      })
      look()
    }),
    stop: async () => {
      if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM')
      await exited
    },
  }
}

/** `signalbox start` in a folder of its own, on free ports. */
export interface StartedEngine {
  readonly folder: string
  readonly url: string
  readonly admin: string
  /** Plays so many requests of a recorded trace to it, and waits for their ends. */
  play(limit: number, speed: number): Promise<void>
  stop(): Promise<void>
}

export const startEngine = async (): Promise<StartedEngine> => {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-ui-'))
  const engine = command(folder, 'start', '--speed', '20', '--listen', '127.0.0.1:0', '--admin-listen', '127.0.0.1:0')
  const [, url = ''] = await engine.said(/front door {2}(http:\S+)/)
  const [, admin = ''] = await engine.said(/admin {7}(http:\S+)/)
  return {
    folder, url, admin,
    play: async (limit, speed) => {
      const play = command(folder, 'play', '--url', url, '--trace', TRACE, '--speed', String(speed), '--limit', String(limit))
      await play.said(/end to end/)
      await play.stop()
    },
    stop: async () => {
      await engine.stop()
      await endPool(folder)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
