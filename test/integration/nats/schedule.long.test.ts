import { headers } from '@nats-io/transport-node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { RequestRefused } from '../../../src/client/index.ts'
import { chatRequest, journalIn, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { run } from '../../story/server.ts'

const WAIT = { timeout: 15_000, interval: 50 }
const requestsOf = async (engine: { readonly adminUrl: string }): Promise<number> => (await rowsOf(engine)).reduce((sum, { requests }) => sum + requests, 0)

describe('scheduling on NATS', { timeout: 90_000 }, () => {
  let world: NatsWorld

  beforeEach(async () => {
    world = await NatsWorld.start()
  })
  afterEach(() => world.close())

  it('given a route, when its lifecycle is told, then the request is counted until its end and the journal replays', async () => {
    const engine = await world.engine()
    await world.agent('default/a', await world.endpoint())
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const client = await world.client()
    const request = await client.schedule({ ...chatRequest(), requestId: 'mine' })
    expect(request.requestId).toBe('mine')
    expect(request.route.target?.endpoint).toBe('default/a')
    expect(await requestsOf(engine)).toBe(1)
    await request.sent()
    await request.started(200, true)
    await request.progressed(5)
    await request.ended({ cause: 'natural', status: 200, usage: { promptTokens: 3, completionTokens: 5, totalTokens: 8, cachedTokens: 0, reasoningTokens: 0 } })
    await expect.poll(() => requestsOf(engine), WAIT).toBe(0)
    await engine.close()
    const { out, code } = await run('replay', journalIn(engine.folder))
    expect(out).toContain('0 divergences')
    expect(code).toBe(0)
  })

  it('given an attempt fails, then the next route avoids that endpoint, and without another the refusal is final', async () => {
    const engine = await world.engine()
    await world.agent('default/a')
    await world.agent('default/b')
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(2)
    const request = await (await world.client()).schedule(chatRequest())
    const first = request.route.target?.endpoint
    const second = (await request.failed('connect', 0, true)).target?.endpoint
    expect(new Set([first, second])).toEqual(new Set(['default/a', 'default/b']))
    await expect(request.failed('connect', 0, true)).rejects.toBeInstanceOf(RequestRefused)
    await expect.poll(() => requestsOf(engine), WAIT).toBe(0)
  })

  it('given an owner that restarts, then it catches up with what was told meanwhile', async () => {
    const engine = await world.engine()
    await world.agent('default/a')
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const client = await world.client()
    const [one, two] = await Promise.all([client.schedule(chatRequest()), client.schedule(chatRequest())])
    await one.sent()
    await engine.close()
    await one.ended({ cause: 'natural', status: 200 })
    const again = await world.engine({}, engine.folder)
    await expect.poll(() => requestsOf(again), WAIT).toBe(1)
    await two.aborted()
    await expect.poll(() => requestsOf(again), WAIT).toBe(0)
  })

  it('given two replicas, then the queue group shares the requests among them and each owns what it routed', async () => {
    const engines = [await world.engine(), await world.engine({ replica: 'replica-1' })]
    await world.agent('default/a')
    for (const engine of engines) await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const client = await world.client()
    const requests = await Promise.all(Array.from({ length: 40 }, () => client.schedule(chatRequest())))
    const owners = engines.map(({ host }) => host.actor.engine.view.requests.size)
    expect(owners.every((count) => count > 0)).toBe(true)
    expect(owners[0] as number + (owners[1] as number)).toBe(40)
    await Promise.all(requests.map((request) => request.ended({ cause: 'natural', status: 200 })))
    for (const { host } of engines) await expect.poll(() => host.actor.engine.view.requests.size, WAIT).toBe(0)
  })

  it('given a tool that speaks JSON, then it gets JSON, and tells the lifecycle so', async () => {
    const engine = await world.engine()
    await world.agent('default/a')
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const { connection } = await world.server.link()
    const json = headers()
    json.set('Content-Type', 'application/json')
    const asked = { path: '/v1/chat/completions', body: { model: 'sim-model', messages: [{ role: 'user', content: 'hello' }] } }
    const reply = (await connection.request('signalbox.v1.default.schedule', JSON.stringify(asked), { timeout: 5000, headers: json })).json<{ request: number; requestId: string; route: { target: { endpoint: string } }; lifecycleSubject: string }>()
    expect(reply.route.target.endpoint).toBe('default/a')
    const { request, requestId, lifecycleSubject } = reply
    await connection.request(lifecycleSubject, JSON.stringify({ request, attempt: 1, requestId: 'not mine', ended: { cause: 'natural' } }), { headers: json, timeout: 5000 })
    await connection.request(lifecycleSubject, 'no json', { headers: json, timeout: 5000 })
    await connection.request(lifecycleSubject, JSON.stringify({ request, attempt: 1, requestId, sent: {} }), { headers: json, timeout: 5000 })
    expect(await requestsOf(engine)).toBe(1)
    await connection.request(lifecycleSubject, JSON.stringify({ request, attempt: 1, requestId, ended: { cause: 'natural', status: 200 } }), { headers: json, timeout: 5000 })
    await expect.poll(() => requestsOf(engine), WAIT).toBe(0)
  })

  it('given what cannot be served, then the error has a code and its headers', async () => {
    const client = await world.client({ timeoutMs: 300 })
    await expect(client.schedule(chatRequest())).rejects.toMatchObject({ status: 503 })
    await world.engine()
    await expect(client.schedule(chatRequest())).rejects.toMatchObject({ status: 503, code: 'ServiceUnavailable' })
    await expect(client.schedule({ path: '/v1/chat/completions', body: Buffer.from('{') })).rejects.toMatchObject({ status: 400 })
    await expect(client.schedule({ path: '/v1/chat/completions', body: new Uint8Array(2_000_000) })).rejects.toMatchObject({ code: 'nats-too-large' })
    const { connection } = await world.server.link()
    const reply = await connection.request('signalbox.v1.default.schedule', 'rubbish', { timeout: 5000 })
    expect(reply.headers?.get('Nats-Service-Error-Code')).toBe('400')
    expect(reply.headers?.get('Nats-Service-Error')).toContain('BadRequest')
  })

  it('given tools that look for services, then they find each replica with its numbers', async () => {
    await world.engine()
    await world.engine({ replica: 'replica-1' })
    await (await world.client()).schedule(chatRequest()).catch(() => undefined)
    const { connection } = await world.server.link()
    const found: { name: string; id: string; metadata: { replica: string }; endpoints: { subject: string; num_requests: number; num_errors: number }[] }[] = []
    for await (const message of await connection.requestMany('$SRV.STATS.signalbox', '', { strategy: 'count', maxMessages: 2, maxWait: 5000 })) found.push(message.json())
    expect(found.map(({ metadata }) => metadata.replica).sort()).toEqual(['replica-0', 'replica-1'])
    expect(found.flatMap(({ endpoints }) => endpoints).reduce((sum, { num_requests }) => sum + num_requests, 0)).toBe(1)
    const ping = (await connection.request(`$SRV.PING.signalbox.${found[0]?.id ?? ''}`)).json<{ type: string }>()
    expect(ping.type).toBe('io.nats.micro.v1.ping_response')
  })
})
