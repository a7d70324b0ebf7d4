import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SchedulerClient } from '../../../src/client/index.ts'
import { chat, MAIN, temporaryFolder } from '../../story/server.ts'
import { chatRequest, NatsWorld } from './engine-on-nats.ts'
import { freePort, NatsServer } from './nats-server.ts'

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const WAIT = { timeout: 40_000, interval: 200 }

interface Service {
  readonly image?: string
  readonly command?: readonly string[]
}

const services = (parse(readFileSync(join(DEPLOY, 'compose/compose.yaml'), 'utf8'), { merge: true }) as { readonly services: Readonly<Record<string, Service>> }).services
const ROLES = ['agent', 'scheduler', 'data-plane', 'observer'] as const

describe('the compose file, its processes run without containers', () => {
  let server: NatsServer
  const folder = temporaryFolder()
  const children: ChildProcess[] = []

  beforeEach(async () => {
    const environment = Object.fromEntries(ROLES.map((role) => [`SIGNALBOX_${role.toUpperCase().replace('-', '_')}_PASSWORD`, `${role}-secret`]))
    server = await NatsServer.start(readFileSync(join(DEPLOY, 'nats/permissions.conf'), 'utf8'), environment)
    for (const role of ROLES) writeFileSync(join(folder.path, role), `${role}-secret`)
  })
  afterEach(async () => {
    await Promise.all(children.map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }))
    await server.stop()
    folder.remove()
  })

  it('given all are started, then both schedulers see both model servers and route requests, from HTTP and from NATS', async () => {
    const own = Object.entries(services).filter(([, { image }]) => image === 'signalbox')
    expect(own.map(([name]) => name)).toEqual(['scheduler-a', 'scheduler-b', 'model-a', 'model-b', 'agent-a', 'agent-b'])
    const ports = new Map<string, number>()
    for (const name of ['scheduler-a:8080', 'scheduler-a:9090', 'scheduler-b:8080', 'scheduler-b:9090', 'model-a:8000', 'model-b:8000']) ports.set(name, await freePort())
    for (const [name, { command = [] }] of own) {
      mkdirSync(join(folder.path, name), { recursive: true })
      const args = command.map((arg) => arg
        .replace('nats://nats:4222', server.url)
        .replace('/run/secrets/', `${folder.path}/`)
        .replace('/data/', `${folder.path}/${name}/`)
        .replace(/^deploy\//, DEPLOY)
        .replace(/^0\.0\.0\.0:(\d+)$/, (_, port: string) => `127.0.0.1:${ports.get(`${name}:${port}`) ?? 0}`)
        .replace(/^(model-\w):8000$/, (host) => `127.0.0.1:${ports.get(host) ?? 0}`)
        .replace(/^8000$/, String(ports.get(`${name}:8000`) ?? 0))
        .replace(/^0\.0\.0\.0$/, '127.0.0.1'))
      children.push(spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { stdio: 'ignore' }))
    }
    const rows = async (scheduler: string): Promise<readonly string[]> => {
      const answer = await fetch(`http://127.0.0.1:${ports.get(`${scheduler}:9090`) ?? 0}/endpoints`).catch(() => undefined)
      const { endpoints } = ((await answer?.json()) ?? { endpoints: [] }) as { endpoints: { id: string; ageMs: number | null }[] }
      return endpoints.filter(({ ageMs }) => ageMs !== null).map(({ id }) => id)
    }
    for (const scheduler of ['scheduler-a', 'scheduler-b']) {
      await expect.poll(() => rows(scheduler), WAIT).toEqual(['default/model-a', 'default/model-b'])
      const answer = await chat(`http://127.0.0.1:${ports.get(`${scheduler}:8080`) ?? 0}`, `to ${scheduler}`, 2)
      expect(answer.status).toBe(200)
      expect(await answer.text).toContain('[DONE]')
      expect((await fetch(`http://127.0.0.1:${ports.get(`${scheduler}:9090`) ?? 0}/healthz`)).status).toBe(200)
    }
    const { connection } = await server.link({ user: 'data-plane', passwordFile: join(folder.path, 'data-plane'), inboxPrefix: '_INBOX_data_plane' })
    const client = new SchedulerClient(connection, { pool: 'default', inboxPrefix: '_INBOX_data_plane' })
    const request = await client.schedule(chatRequest())
    expect(['default/model-a', 'default/model-b']).toContain(request.route.target?.endpoint)
    await request.ended({ cause: 'natural', status: 200 })
  }, 90_000)
})

describe('the other deployment files', { timeout: 90_000 }, () => {
  it('given the dashboard, then each metric that it shows is one that the engine exports', async () => {
    const world = await NatsWorld.start()
    try {
      const engine = await world.engine()
      await world.agent('default/a')
      const metrics = async (): Promise<string> => (await fetch(`${engine.adminUrl}/metrics`)).text()
      const request = await (await world.client()).schedule(chatRequest('the same words '.repeat(50))).catch(() => undefined)
      await request?.ended({ cause: 'natural', status: 200 })
      const exported = new Set([...(await metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name))
      const dashboard = JSON.parse(readFileSync(join(DEPLOY, 'grafana/signalbox.json'), 'utf8')) as { panels: { targets: { expr: string }[] }[] }
      const shown = dashboard.panels.flatMap(({ targets }) => targets).flatMap(({ expr }) => expr.match(/\b(?:signalbox|llm_d|inference)_\w+/g) ?? [])
      expect(shown.length).toBeGreaterThan(10)
      const unknown = shown.filter((name) => !exported.has(name) && !exported.has(name.replace(/_(?:bucket|sum|count)$/, '')))
      expect(unknown).toEqual([])
    } finally {
      await world.close()
    }
  })

  it('given the image, then it runs as nobody special and has a health check', () => {
    const lines = readFileSync(join(DEPLOY, 'docker/Dockerfile'), 'utf8').split('\n')
    expect(lines.filter((line) => line.startsWith('USER '))).toEqual(['USER node'])
    expect(lines.findIndex((line) => line.startsWith('USER '))).toBeLessThan(lines.findIndex((line) => line.startsWith('ENTRYPOINT')))
    expect(lines.some((line) => line.startsWith('HEALTHCHECK') && line.includes('/healthz'))).toBe(true)
  })
})
