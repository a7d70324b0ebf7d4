import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Pool } from '../../../src/simulation/index.ts'
import { openJournal } from '../../../src/app/reading.ts'
import { engineOptions, explain } from '../../../src/replay/index.ts'
import { NO_FAULTS } from '../../../src/simulation/endpoint/faults.ts'
import { chat, fleetIn, run, serveIn, spawnServer, temporaryFolder } from '../../story/server.ts'

interface Refusal {
  readonly error: { readonly message: string; readonly type: string; readonly code: string | null }
}

describe('a fleet with faults', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let server: Awaited<ReturnType<typeof serveIn>>
  beforeAll(async () => {
    pool = await fleetIn(folder.path, { decode: 2, prefill: 0, encode: 0 })
    server = await serveIn(folder.path, { objectives: 'batch=-1', 'unreachable-strikes': '3' })
  })
  afterEach(() => {
    return Promise.all(['decode-0', 'decode-1'].map((name) => pool.setFaults(name, NO_FAULTS)))
  })
  afterAll(async () => {
    await server.close()
    await pool.close()
    folder.remove()
  })

  const ask = (headers: Readonly<Record<string, string>> = {}, model = 'sim-model'): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model, max_tokens: 3, messages: [{ role: 'user', content: 'Hello' }] }),
    })

  const inFlight = (): number => server.host.actor.engine.view.ledger.requests().length

  it('a request whose endpoint answers 503 goes to the other one, and both attempts are told', async () => {
    // The endpoint that has the prompt cached is the one that the next requests would go to.
    const warm = await ask()
    await warm.text()
    const faulty = warm.headers.get('x-signalbox-decode-endpoint') ?? ''
    const other = faulty === 'default/decode-0' ? 'default/decode-1' : 'default/decode-0'
    await pool.setFaults(faulty.replace('default/', ''), { failStatus: 503 })
    const ids: string[] = []
    for (let i = 0; i < 6; i += 1) {
      const response = await ask()
      expect(response.status).toBe(200)
      expect(response.headers.get('x-signalbox-decode-endpoint')).toBe(other)
      await response.text()
      ids.push(response.headers.get('x-request-id') ?? '')
    }
    await expect.poll(inFlight).toBe(0)
    await expect.poll(() => server.host.journal.link.lag().records).toBeLessThan(10)
    const journal = openJournal(folder.path)
    const retried = ids.flatMap((id) => explain(engineOptions(), journal, id)).filter(({ receipts }) => receipts.length > 1)
    journal.close()
    // After three failures in a row it is out of the candidates, so no more than three were tried there.
    expect(retried.length).toBeGreaterThan(0)
    expect(retried.length).toBeLessThanOrEqual(3)
    expect(retried[0]?.receipts[1]).toMatchObject({ attempt: 2, excluded: [faulty] })
  }, 30_000)

  it('a request is answered 503 with an error object when every endpoint fails', async () => {
    for (const name of ['decode-0', 'decode-1']) await pool.setFaults(name, { failStatus: 503 })
    const response = await ask()
    expect(response.status).toBe(503)
    expect(((await response.json()) as Refusal).error.message).not.toBe('')
    await expect.poll(inFlight).toBe(0)
  })

  it('what an endpoint says of a model that it lacks passes through', async () => {
    const response = await ask({}, 'another-model')
    expect(response.status).toBe(404)
    expect(((await response.json()) as Refusal).error.message).toContain('another-model')
  })

  it('a client that leaves in mid-stream frees the endpoint and the count', async () => {
    const leaving = new AbortController()
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST', signal: leaving.signal,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sim-model', stream: true, max_tokens: 5000, messages: [{ role: 'user', content: 'Hello' }] }),
    })
    expect(response.status).toBe(200)
    expect(inFlight()).toBe(1)
    leaving.abort()
    await expect.poll(inFlight).toBe(0)
    await expect.poll(() => pool.state().running).toBe(0)
  })

  it('sheddable requests are turned away while the fleet is saturated, others are not', async () => {
    // Metrics that cannot be read soon count as a full endpoint.
    for (const name of ['decode-0', 'decode-1']) await pool.setFaults(name, { garbage: true })
    await expect.poll(async () => (await ask({ 'x-llm-d-inference-objective': 'batch' })).status, { timeout: 10_000 }).toBe(429)
    const refused = (await (await ask({ 'x-llm-d-inference-objective': 'batch' })).json()) as Refusal
    expect(refused.error.message).toContain('system saturated')
    expect((await ask()).status).toBe(200)
  }, 20_000)

  it('bad bodies get the same error object everywhere', async () => {
    for (const path of ['chat/completions', 'completions', 'embeddings', 'responses']) {
      const response = await fetch(`${server.url}/v1/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"model": ' })
      expect(response.status).toBe(400)
      expect(Object.keys(((await response.json()) as Refusal).error).sort()).toEqual(['code', 'message', 'param', 'type'])
    }
  })
})

describe('a server told to stop', () => {
  it('lets what is under way end, and then ends with 0', async () => {
    const folder = temporaryFolder()
    const pool = await fleetIn(folder.path, { speed: 5 })
    try {
      const server = await spawnServer(folder.path)
      const { text } = await chat(server.url, 'Hello', 100)
      const ended = server.stop('SIGTERM')
      expect(await text).toContain('[DONE]')
      expect(await ended).toBe(0)
      expect((await run('replay', folder.path)).code).toBe(0)
    } finally {
      await pool.close()
      folder.remove()
    }
  }, 40_000)
})
