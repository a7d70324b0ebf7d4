import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { SchedulerClient } from '../../../src/client/index.ts'
import { closed, freePort } from '../../story/listening.ts'
import { chat, MAIN, temporaryFolder } from '../../story/server.ts'
import { conversation } from './precise.ts'
import { chatRequest, NatsWorld } from './engine-on-nats.ts'
import { NatsServer } from './nats-server.ts'

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url))
const WAIT = { timeout: 40_000, interval: 200 }

interface Service {
  readonly image?: string
  readonly command?: readonly string[]
}

const services = (parse(readFileSync(join(DEPLOY, 'compose/compose.yaml'), 'utf8'), { merge: true }) as { readonly services: Readonly<Record<string, Service>> }).services
const ROLES = ['agent', 'scheduler', 'data-plane', 'observer'] as const
const SCHEDULERS = ['scheduler-a', 'scheduler-b'] as const
const BLOCK_TOKENS = 16
const ADMISSIONS = 'llm_d_epp_kv_cache_index_admissions_total'
const HITS = 'llm_d_epp_kv_cache_index_lookup_hits_total'

/** A free port after which another one is free. */
const freePair = async (): Promise<number> => {
  for (;;) {
    const port = await freePort()
    const next = createServer().listen(port + 1, '127.0.0.1')
    const isFree = await new Promise<boolean>((resolve) => {
      next.once('listening', () => resolve(true))
      next.once('error', () => resolve(false))
    })
    if (!isFree) continue
    await closed(next)
    return port
  }
}

/** Sends a prompt; its tokens, and how many of them were found in the cache. */
const ask = async (url: string, content: string): Promise<{ readonly tokens: number; readonly cached: number }> => {
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', body: JSON.stringify({ model: 'sim-model', max_tokens: 1, messages: [{ role: 'user', content }] }) })
  const { usage } = (await response.json()) as { usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } } }
  return { tokens: usage.prompt_tokens, cached: usage.prompt_tokens_details.cached_tokens }
}

describe('the compose file, its processes run without containers', { timeout: 90_000 }, () => {
  let server: NatsServer
  let folder: ReturnType<typeof temporaryFolder>
  const children: ChildProcess[] = []
  const ports = new Map<string, number>()
  const urlOf = (place: string): string => `http://127.0.0.1:${ports.get(place) ?? 0}`

  beforeEach(async () => {
    folder = temporaryFolder()
    const environment = Object.fromEntries(ROLES.map((role) => [`SIGNALBOX_${role.toUpperCase().replace('-', '_')}_PASSWORD`, `${role}-secret`]))
    server = await NatsServer.start(readFileSync(join(DEPLOY, 'nats/permissions.conf'), 'utf8'), environment)
    for (const role of ROLES) writeFileSync(join(folder.path, role), `${role}-secret`)
    await begin()
  })
  afterEach(async () => {
    await Promise.all(children.splice(0).map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }))
    await server.stop()
    folder.remove()
  })

  const begin = async (): Promise<void> => {
    const own = Object.entries(services).filter(([, { image }]) => image === 'signalbox')
    expect(own.map(([name]) => name)).toEqual(['scheduler-a', 'scheduler-b', 'model-a', 'model-b', 'agent-a', 'agent-b'])
    for (const name of ['scheduler-a:8080', 'scheduler-a:9090', 'scheduler-b:8080', 'scheduler-b:9090', 'model-a:8000', 'model-b:8000']) ports.set(name, await freePort())
    for (const model of ['model-a', 'model-b']) {
      const port = await freePair()
      ports.set(`${model}:5557`, port)
      ports.set(`${model}:5558`, port + 1)
    }
    const configuration = readFileSync(join(DEPLOY, 'compose/scheduler.yaml'), 'utf8')
    expect(configuration).toContain('url: http://model-a:8000\n')
    writeFileSync(join(folder.path, 'scheduler.yaml'), configuration.replace('http://model-a:8000', urlOf('model-a:8000')))
    for (const [name, { command = [] }] of own) {
      mkdirSync(join(folder.path, name), { recursive: true })
      const args = command.map((arg) => arg
        .replace('nats://nats:4222', server.url)
        .replace('/run/secrets/', `${folder.path}/`)
        .replace('/data/', `${folder.path}/${name}/`)
        .replace(/^deploy\/compose\//, `${folder.path}/`)
        .replace(/^0\.0\.0\.0:(\d+)$/, (_, port: string) => `127.0.0.1:${ports.get(`${name}:${port}`) ?? 0}`)
        .replace(/\b(model-\w:\d+)$/, (place) => `127.0.0.1:${ports.get(place) ?? 0}`)
        .replace(/^(?:8000|5557)$/, (port) => String(ports.get(`${name}:${port}`) ?? 0))
        .replace(/^0\.0\.0\.0$/, '127.0.0.1'))
      children.push(spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...args], { stdio: 'ignore' }))
    }
  }

  const rows = async (scheduler: string): Promise<readonly string[]> => {
    const answer = await fetch(`${urlOf(`${scheduler}:9090`)}/endpoints`).catch(() => undefined)
    const { endpoints } = ((await answer?.json()) ?? { endpoints: [] }) as { endpoints: { id: string; ageMs: number | null }[] }
    return endpoints.filter(({ ageMs }) => ageMs !== null).map(({ id }) => id)
  }

  /** A metric without labels; 0 where it never counted. */
  const metric = async (scheduler: string, name: string): Promise<number> =>
    Number(new RegExp(`^${name} (.*)$`, 'm').exec(await (await fetch(`${urlOf(`${scheduler}:9090`)}/metrics`)).text())?.[1] ?? 0)

  it('given all are started, then both schedulers see both model servers and route requests, from HTTP and from NATS', async () => {
    for (const scheduler of SCHEDULERS) {
      await expect.poll(() => rows(scheduler), WAIT).toEqual(['default/model-a', 'default/model-b'])
      const answer = await chat(urlOf(`${scheduler}:8080`), `to ${scheduler}`, 2)
      expect(answer.status).toBe(200)
      expect(await answer.text).toContain('[DONE]')
      expect((await fetch(`${urlOf(`${scheduler}:9090`)}/healthz`)).status).toBe(200)
    }
    const { connection } = await server.link({ user: 'data-plane', passwordFile: join(folder.path, 'data-plane'), inboxPrefix: '_INBOX_data_plane' })
    const client = new SchedulerClient(connection, { pool: 'default', inboxPrefix: '_INBOX_data_plane' })
    const request = await client.schedule(chatRequest())
    expect(['default/model-a', 'default/model-b']).toContain(request.route.target?.endpoint)
    await request.ended({ cause: 'natural', status: 200 })
  })

  it('given a long prompt that a model server has in its cache, when it is asked again of either scheduler, then it goes there, by what the agents tell alone', async () => {
    for (const scheduler of SCHEDULERS) {
      await expect.poll(() => rows(scheduler), WAIT).toEqual(['default/model-a', 'default/model-b'])
      await expect.poll(() => metric(scheduler, 'signalbox_kv_events_waiting_endpoints'), WAIT).toBe(0)
    }
    for (const scheduler of SCHEDULERS) {
      for (const model of ['model-a', 'model-b']) {
        const prompt = conversation(`for ${scheduler} at ${model}`, 3)
        const before = await Promise.all(SCHEDULERS.map((each) => metric(each, ADMISSIONS)))
        const hits = await metric(scheduler, HITS)
        // Past the schedulers: neither of them guesses that it is there.
        const first = await ask(urlOf(`${model}:8000`), prompt)
        const blocks = Math.floor(first.tokens / BLOCK_TOKENS)
        expect(blocks).toBeGreaterThan(20)
        for (const [at, each] of SCHEDULERS.entries()) await expect.poll(() => metric(each, ADMISSIONS), WAIT).toBe((before[at] ?? 0) + blocks)
        const second = await ask(urlOf(`${scheduler}:8080`), prompt)
        expect(second).toEqual({ tokens: first.tokens, cached: BLOCK_TOKENS * Math.floor((first.tokens - 1) / BLOCK_TOKENS) })
        expect(await metric(scheduler, HITS)).toBe(hits + blocks)
      }
    }
    expect(server.output).not.toContain('Violation')
    for (const scheduler of SCHEDULERS) {
      expect(await metric(scheduler, 'llm_d_epp_kv_cache_events_pool_queue_depth')).toBe(0)
      const { plugins } = (await (await fetch(`${urlOf(`${scheduler}:9090`)}/debug/plugins/state`)).json()) as { plugins: Record<string, { state: { pods: { pod: string }[] } }> }
      expect(plugins['precise-prefix-cache-producer']?.state.pods.map(({ pod }) => pod).sort()).toEqual(['default/model-a', 'default/model-b'])
    }
  })
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
