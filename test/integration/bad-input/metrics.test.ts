import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { Server, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closed, listening } from '../../story/listening.ts'
import { serveIn, temporaryFolder } from '../../story/server.ts'

const TYPES = ['num_requests_waiting', 'num_requests_running', 'kv_cache_usage_perc'].map((name) => `# TYPE vllm:${name} gauge\n`).join('')

/** What each endpoint says of itself, after the types, and what the engine should hold then. */
const EXPOSITIONS = {
  good: { text: 'vllm:num_requests_waiting 2\nvllm:num_requests_running 3\nvllm:kv_cache_usage_perc 0.25\n', waiting: 2, kv: 0.25 },
  'not-a-number': { text: 'vllm:num_requests_waiting NaN\nvllm:num_requests_running NaN\nvllm:kv_cache_usage_perc NaN\n' },
  infinite: { text: 'vllm:num_requests_waiting +Inf\nvllm:num_requests_running -Inf\nvllm:kv_cache_usage_perc +Inf\n' },
  negative: { text: 'vllm:num_requests_waiting -7\nvllm:num_requests_running -1\nvllm:kv_cache_usage_perc -0.5\n' },
  missing: { text: '# HELP nothing at all\n' },
  cut: { text: 'vllm:num_requests_waiting 4\nvllm:kv_cache_usage_perc 0.5\nvllm:num_requests_runn', waiting: 4, kv: 0.5 },
  huge: { text: 'vllm:num_requests_waiting 1e300\nvllm:num_requests_running 99999999999999999999\nvllm:kv_cache_usage_perc 1e9\n' },
  garbage: { text: '\u0000\u0001<html>not metrics</html>\n}}}{{{ "\n' },
  silent: { text: undefined },
} as const satisfies Record<string, { readonly text: string | undefined; readonly waiting?: number; readonly kv?: number }>

type Name = keyof typeof EXPOSITIONS

interface Row { readonly id: string; readonly waiting: number | null; readonly running: number | null; readonly kvCacheUsage: number | null; readonly ageMs: number | null }

const completion = JSON.stringify({ id: 'x', object: 'chat.completion', choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })

const endpointSaying = async (text: string | undefined, chat: (response: ServerResponse) => void): Promise<Server> => {
  const server = createServer((request, response) => {
    request.resume()
    if (request.url !== '/metrics') chat(response)
    else if (text !== undefined) response.end(TYPES + text)
  })
  await listening(server)
  return server
}

const announce = (folder: string, servers: ReadonlyMap<string, Server>): void => {
  const entries = [...servers].map(([name, server]) => `- {name: ${name}, address: 127.0.0.1, port: "${(server.address() as AddressInfo).port}", labels: {llm-d.ai/role: decode}}`)
  writeFileSync(join(folder, 'endpoints.yaml'), `endpoints:\n${entries.join('\n')}\n`)
}

const serving = async (folder: string, servers: ReadonlyMap<string, Server>): Promise<{ readonly server: Awaited<ReturnType<typeof serveIn>>; rows(): Promise<readonly Row[]>; close(): Promise<void> }> => {
  announce(folder, servers)
  const server = await serveIn(folder)
  return {
    server,
    rows: async () => ((await (await fetch(`${server.adminUrl}/endpoints`)).json()) as { endpoints: readonly Row[] }).endpoints,
    close: async () => {
      await server.close()
      await Promise.all([...servers.values()].map(closed))
    },
  }
}

const ask = (url: string): Promise<Response> => fetch(`${url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] }) })

describe('endpoints whose metrics are wrong', () => {
  const folder = temporaryFolder()
  let fleet: Awaited<ReturnType<typeof serving>>
  beforeAll(async () => {
    const servers = new Map<string, Server>()
    for (const [name, { text }] of Object.entries(EXPOSITIONS)) servers.set(name, await endpointSaying(text, (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(completion)))
    fleet = await serving(folder.path, servers)
  })
  afterAll(async () => {
    await fleet.close()
    folder.remove()
  })

  it('are read as far as they make sense, and never give a number that is none', async () => {
    const row = async (name: Name): Promise<Row | undefined> => (await fleet.rows()).find(({ id }) => id === `default/${name}`)
    await expect.poll(async () => (await row('good'))?.kvCacheUsage, { timeout: 10_000 }).toBe(0.25)
    await expect.poll(async () => (await row('cut'))?.waiting, { timeout: 10_000 }).toBe(4)
    for (const [name, { waiting, kv }] of Object.entries(EXPOSITIONS) as [Name, { waiting?: number; kv?: number }][]) {
      const found = await row(name)
      // JSON has no NaN and no infinity: they would be null here.
      for (const value of [found?.waiting, found?.running, found?.kvCacheUsage]) expect(value, name).toEqual(expect.any(Number))
      if (waiting !== undefined) expect(found).toMatchObject({ waiting, kvCacheUsage: kv })
    }
    expect((await row('silent'))?.ageMs).toBeNull()
    for (const name of ['garbage', 'missing', 'infinite', 'negative', 'not-a-number'] as const) expect((await row(name))?.ageMs, name).toBeNull()
  })

  it('serve all the same, and the journal of it comes out the same', async () => {
    for (let i = 0; i < 20; i += 1) {
      const response = await ask(fleet.server.url)
      expect(response.status).toBe(200)
      expect(await response.text()).toBe(completion)
    }
    const metrics = await (await fetch(`${fleet.server.adminUrl}/metrics`)).text()
    for (const name of ['average_kv_cache_utilization', 'average_queue_size']) {
      const line = metrics.split('\n').find((each) => each.includes(name) && !each.startsWith('#'))
      expect(line, name).toMatch(/ [0-9.e+]+$/)
    }
    expect(fleet.server.host.divergences).toBe(0)
  })
})

describe('an endpoint that answers garbage', () => {
  it('is not passed on as if it were an answer, and another one is asked', async () => {
    const folder = temporaryFolder()
    const bad = await endpointSaying(EXPOSITIONS.good.text, (response) => response.socket?.end('\u0000\u0001 this is no HTTP \r\n\r\n'))
    const good = await endpointSaying(EXPOSITIONS.good.text, (response) => response.writeHead(200, { 'content-type': 'application/json' }).end(completion))
    const fleet = await serving(folder.path, new Map([['bad', bad], ['good', good]]))
    try {
      const statuses = await Promise.all(Array.from({ length: 12 }, () => ask(fleet.server.url).then(async (response) => [response.status, await response.text()] as const)))
      for (const [status, text] of statuses) {
        expect([200, 502]).toContain(status)
        if (status === 200) expect(text).toBe(completion)
        else expect(JSON.parse(text)).toMatchObject({ error: { message: expect.any(String) as string } })
      }
      // After its strikes it is out, so the others were served.
      expect(statuses.some(([status]) => status === 200)).toBe(true)
      await expect.poll(() => fleet.server.host.actor.engine.view.ledger.requests()).toEqual([])
    } finally {
      await fleet.close()
      folder.remove()
    }
  })
})
