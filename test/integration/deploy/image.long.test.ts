import { execFileSync, spawn, spawnSync } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, cpSync, existsSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../../story/listening.ts'
import { temporaryFolder } from '../../story/server.ts'
import { NatsServer } from '../nats/nats-server.ts'
import { stagesOf, wordsOf } from './dockerfile.ts'
import type { Instruction } from './dockerfile.ts'

const ROOT = fileURLToPath(new URL('../../../', import.meta.url))
const DOCKER = join(ROOT, 'deploy/docker')
const stages = stagesOf(readFileSync(join(DOCKER, 'Dockerfile'), 'utf8'))
const last = stages.at(-1)?.instructions ?? []
const one = (name: string): Instruction => {
  const found = last.filter((instruction) => instruction.name === name)
  if (found.length !== 1) throw new Error(`${found.length} times ${name}`)
  return found[0] as Instruction
}
/** Whom the image's processes run as; the owner of this process where it may become nobody else. */
const NOBODY = process.getuid?.() === 0 ? { uid: 1000, gid: 1000 } : {}

describe('the image, built by its own instructions without containers', () => {
  const folder = temporaryFolder()
  const children: ChildProcess[] = []
  const at = (stage: string, path: string): string => join(folder.path, stage === '' ? 'final' : stage, path)
  const data = at('', '/data')

  /** What the builder is not sent. */
  const ignored = new Set(readFileSync(join(DOCKER, 'Dockerfile.dockerignore'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#')))

  const copy = (stage: string, workdir: string, rest: string): void => {
    const words = rest.split(/\s+/)
    const from = /^--from=(\w+)$/.exec(words[0] ?? '')?.[1]
    const sources = words.slice(from === undefined ? 0 : 1, -1)
    const target = at(stage, join(workdir, words.at(-1) ?? ''))
    for (const source of sources) {
      const path = from === undefined ? join(ROOT, source) : at(from, source)
      if (source === '.') cpSync(path, target, { recursive: true, filter: (file) => !ignored.has(relative(path, file)) })
      // Of a folder Docker copies what is in it.
      else if (statSync(path).isDirectory()) cpSync(path, target, { recursive: true })
      else cpSync(path, join(target, basename(source)))
    }
  }

  const run = (stage: string, workdir: string, command: string): void => {
    for (const each of command.split(' && ')) {
      // The same files, from the lock file that the check-out was installed by, without asking a registry.
      if (each.startsWith('npm ci ')) cpSync(join(ROOT, 'node_modules'), at(stage, join(workdir, 'node_modules')), { recursive: true, verbatimSymlinks: true })
      else if (each.startsWith('chown ')) expect(each).toBe('chown node:node /data')
      else execFileSync('sh', ['-c', each.replace(/ \/data\b/, ` ${data}`)], { cwd: at(stage, workdir), stdio: 'pipe', env: { ...process.env, npm_config_offline: 'true' } })
    }
  }

  beforeAll(() => {
    for (const { name: stage, instructions } of stages) {
      let workdir = '/'
      mkdirSync(at(stage, '/'), { recursive: true })
      for (const { name, rest } of instructions) {
        if (name === 'WORKDIR') mkdirSync(at(stage, (workdir = rest)), { recursive: true })
        else if (name === 'COPY') copy(stage, workdir, rest)
        else if (name === 'RUN') run(stage, workdir, rest)
      }
    }
    execFileSync('chmod', ['-R', 'a+rX', folder.path])
    if (NOBODY.uid !== undefined) chownSync(data, NOBODY.uid, NOBODY.gid)
  }, 300_000)
  afterAll(async () => {
    await Promise.all(children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }))
    folder.remove()
  })

  const start = async (args: readonly string[], word: string): Promise<ChildProcess> => {
    const [, ...entry] = wordsOf(one('ENTRYPOINT'))
    const child = spawn(process.execPath, [...entry, ...args], { cwd: at('', '/app'), stdio: ['ignore', 'pipe', 'ignore'], ...NOBODY })
    children.push(child)
    for await (const line of createInterface({ input: child.stdout })) if (line.includes(word)) break
    return child
  }

  it('given the builder, then it is sent nothing that it makes itself, and nothing of what it needs to build is in the image', () => {
    for (const name of ['.git', 'node_modules', 'dist']) expect(ignored).toContain(name)
    for (const name of ['vitest', 'typescript-native', 'eslint']) {
      expect(existsSync(at('build', join('/build/node_modules', name)))).toBe(false)
      expect(existsSync(at('', join('/app/node_modules', name)))).toBe(false)
    }
    for (const name of ['test', '.git', '.config', 'src']) expect(existsSync(at('', join('/app', name)))).toBe(false)
  })

  it('given it runs, then as nobody special, its health check tells how it is, and it keeps its journal in JetStream', async () => {
    expect(one('USER').rest).toBe('node')
    expect(last.indexOf(one('USER'))).toBeLessThan(last.indexOf(one('ENTRYPOINT')))
    const server = await NatsServer.start()
    try {
      const admin = await freePort()
      const [, ...check] = wordsOf(one('HEALTHCHECK'))
      expect(one('EXPOSE').rest.split(' ')).toContain('9090')
      const health = (): number | null => spawnSync(process.execPath, check.map((word) => word.replace('9090', String(admin))), NOBODY).status
      expect(health()).toBe(1)
      const child = await start([
        'serve', '--config', 'deploy/config/disaggregated.yaml', '--journal', 'nats', '--nats', server.url, '--journal-path', join(data, 'journal.sqlite'),
        '--listen', '127.0.0.1:0', '--admin-listen', `127.0.0.1:${admin}`, '--drain-timeout', '0s',
      ], 'serving on')
      expect(health()).toBe(0)
      expect((await fetch(`http://127.0.0.1:${admin}/ui/`)).status).toBe(200)
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      expect(await ended).toEqual([0, null])
      expect(health()).toBe(1)
      const { status, stdout } = spawnSync(process.execPath, [...wordsOf(one('ENTRYPOINT')).slice(1), 'journal', 'verify', `${server.url}/epp/replica-0`], { cwd: at('', '/app'), encoding: 'utf8', ...NOBODY })
      expect([status, stdout]).toEqual([0, expect.stringContaining('is whole')])
    } finally {
      await server.stop()
    }
  }, 60_000)
})
