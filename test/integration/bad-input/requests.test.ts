import { once } from 'node:events'
import { connect } from 'node:net'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createEngine } from '../../../src/app/create-engine.ts'
import type { Pool } from '../../../src/simulation/index.ts'
import { chat, fleetIn, run, serveIn, temporaryFolder } from '../../story/server.ts'

describe('a server that is given what it should not be', () => {
  const folder = temporaryFolder()
  let pool: Pool
  let server: Awaited<ReturnType<typeof serveIn>>
  beforeAll(async () => {
    pool = await fleetIn(folder.path, { decode: 3, prefill: 0, encode: 0, speed: 20 })
    server = await serveIn(folder.path)
  })
  afterAll(async () => {
    await server.close()
    await pool.close()
    folder.remove()
  })

  const post = (body: string | Uint8Array<ArrayBuffer>, headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
    fetch(`${server.url}/v1/chat/completions`, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body })
  const settled = (): Promise<void> => expect.poll(() => server.host.actor.engine.view.requests.size, { timeout: 10_000 }).toBe(0)

  it.each([
    ['nothing', ''], ['not JSON', 'hello'], ['a number', '7'], ['a list', '[]'], ['cut', '{"model":"sim-model","messages":[{"role":"user","con'],
    ['not UTF-8', new Uint8Array([0x7b, 0xff, 0xfe, 0x7d])], ['nested without end', '['.repeat(200_000)],
  ])('a body that is %s is 400 with an error object, and no request', async (_what, body) => {
    const { position } = server.host.actor.engine
    const response = await post(body)
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) as string } })
    expect(server.host.actor.engine.view.requests.size).toBe(0)
    expect(server.host.actor.engine.position).toBeGreaterThanOrEqual(position)
  })

  it('a body of 50 MB is 413 where 10 MB are allowed', async () => {
    const body = JSON.stringify({ model: 'sim-model', messages: [{ role: 'user', content: 'x'.repeat(50_000_000) }] })
    const answer = await post(body).then((response) => response.status, () => 'connection closed')
    // A client that goes on sending may see its connection closed before it reads the answer.
    expect([413, 'connection closed']).toContain(answer)
    expect(await (await chat(server.url, 'Hello', 2)).text).toContain('[DONE]')
  }, 30_000)

  it('a body that ends before its length is nobody’s request', async () => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write('POST /v1/chat/completions HTTP/1.1\r\nhost: h\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"model":"sim-model"')
    await once(socket, 'connect')
    socket.end()
    await once(socket.resume(), 'close')
    expect(server.host.actor.engine.view.requests.size).toBe(0)
  })

  it.each(['9007199254740993', '99999999999999999999999999', '-5', '1e400', '1.5'])('max_tokens %s reaches the endpoint as it was written, or is refused', async (number) => {
    const response = await post(`{"model":"sim-model","seed":9007199254740993,"stream":true,"max_tokens":${number},"messages":[{"role":"user","content":"Hello"}]}`, { 'x-request-id': `huge-${number}` })
    expect([200, 400]).toContain(response.status)
    await response.body?.cancel()
    await settled()
  })

  it('two requests of one id that are live at once are two requests', async () => {
    const body = JSON.stringify({ model: 'sim-model', max_tokens: 2000, messages: [{ role: 'user', content: 'Hello' }] })
    const both = [post(body, { 'x-request-id': 'twin' }), post(body, { 'x-request-id': 'twin' })]
    await expect.poll(() => [...server.host.actor.engine.view.requests.values()].filter(({ id }) => id === 'twin').length).toBe(2)
    for (const response of await Promise.all(both)) {
      expect([response.status, response.headers.get('x-request-id')]).toEqual([200, 'twin'])
      await response.text()
    }
    await settled()
    await expect.poll(() => server.host.journal.link.lag().records).toBe(0)
    const { code, out } = await run('explain', folder.path, 'twin', '--json')
    expect(code).toBe(0)
    expect(out.match(/"requestId":\s*"twin"/g)?.length).toBeGreaterThanOrEqual(2)
  }, 30_000)

  it('an endpoint that leaves and comes back while it serves takes nothing away from the count of its new life', async () => {
    const file = join(folder.path, 'endpoints.yaml')
    const all = readFileSync(file, 'utf8')
    const answers: Promise<number>[] = []
    let done = false
    const load = (async () => {
      while (!done) {
        const response = await chat(server.url, `Hello ${answers.length}`, 12)
        answers.push(response.text.then(() => response.status, () => 0))
        if (answers.length % 8 === 0) await answers.at(-1)
      }
    })()
    const present = (): string[] => server.host.actor.engine.view.fleet.present().map(({ id }) => id)
    for (let i = 0; i < 6; i += 1) {
      // The address stays: only who announces it says that it is gone.
      writeFileSync(file, all.replace(/decode-0/g, `renamed-${i}`))
      await expect.poll(present, { timeout: 10_000 }).toContain(`default/renamed-${i}`)
      expect(present()).not.toContain('default/decode-0')
      writeFileSync(file, all)
      await expect.poll(present, { timeout: 10_000 }).toContain('default/decode-0')
    }
    done = true
    await load
    expect(new Set(await Promise.all(answers))).toEqual(new Set([200]))
    await settled()
    const { ledger, fleet } = server.host.actor.engine.view
    expect(ledger.requests()).toEqual([])
    expect(fleet.present().map((endpoint) => ledger.load(endpoint).requests)).toEqual([0, 0, 0])
    expect(server.host.divergences).toBe(0)
  }, 60_000)
})

describe('a wall clock that is set back and forth', () => {
  it('does not move the engine’s time, also not over restarts', async () => {
    const folder = temporaryFolder()
    const settings = { journal: 'sqlite', 'journal-path': join(folder.path, 'journal.sqlite') }
    const wall = Date.now
    const times: number[] = []
    try {
      for (const hours of [0, -1, 5, -1]) {
        vi.spyOn(Date, 'now').mockImplementation(() => wall() + hours * 3_600_000)
        const local = await createEngine({ settings })
        local.join({ name: 'a', address: '10.0.0.1', port: 8000 })
        for (const step of [3, -7, 0]) {
          vi.spyOn(Date, 'now').mockImplementation(() => wall() + (hours + step) * 3_600_000)
          const reply = await local.schedule({ requestId: 'r' })
          if (reply.kind === 'routed') local.ended(reply.request, reply.attempt)
          times.push(local.host.actor.engine.at)
        }
        await local.close()
      }
    } finally {
      vi.restoreAllMocks()
    }
    try {
      const gaps = times.slice(1).map((time, i) => time - (times[i] ?? 0))
      for (const gap of gaps) expect(gap).toBeGreaterThanOrEqual(0)
      // Within a run the wall is never asked again; between runs only the step forward is taken.
      expect(gaps.filter((gap) => gap > 3_000_000_000)).toHaveLength(1)
      expect(await run('replay', folder.path)).toMatchObject({ code: 0, out: expect.stringContaining('0 divergences') as string })
    } finally {
      folder.remove()
    }
  }, 30_000)
})
