import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { headers } from '@nats-io/transport-node'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent } from '../../../src/app/nats/agent.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import { decodeKvReport, emptyEndpointMetrics, emptyKvReport, encodeKvReport, encodeTelemetryReport, fromBytes, toBytes } from '../../../src/wire/index.ts'
import { relay } from '../../docs/examples/data-plane.ts'
import { blocksOf } from '../../docs/markdown.ts'
import { known, producerOf, settled } from '../kv-events/known-blocks.ts'
import { asyncApi, channelOf } from './asyncapi.ts'
import { chatRequest, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { ask, conversation, preciseConfiguration } from './precise.ts'

const WAIT = { timeout: 15_000, interval: 20 }
const TOKEN = '=ZGVmYXVsdC9h'

describe('an engine, an agent and a client on NATS', { timeout: 60_000 }, () => {
  let world: NatsWorld
  let endpoint: SimulatedEndpoint
  let agent: Agent
  let engine: Awaited<ReturnType<NatsWorld['engine']>>
  const seen: { readonly subject: string; readonly data: Uint8Array }[] = []

  beforeAll(async () => {
    world = await NatsWorld.start()
    const { connection } = await world.server.link()
    connection.subscribe('>', { callback: (_error, { subject, data }) => void seen.push({ subject, data: data.slice() }) })
    await connection.flush()
    endpoint = await world.endpoint({ name: 'a', speed: 200, kvEvents: { port: 0, replayPort: 0 } })
    agent = await world.agent('default/a', endpoint)
    engine = await world.engine({ journal: 'nats' }, undefined, preciseConfiguration(world.server.folder, endpoint.url))
    await settled(engine, [endpoint])
  }, 60_000)
  afterAll(() => world.close())

  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${engine.adminUrl}/metrics`)).text()
    return Number(text.split('\n').find((line) => line.startsWith(`${name} `))?.slice(name.length) ?? 0)
  }
  const refused = (reason: string): Promise<number> => metric(`signalbox_nats_refused_total{reason="${reason}"}`)
  const faults = (fault: string): Promise<number> => metric(`signalbox_kv_events_faults_total{fault="${fault}"}`)

  it('given all of them at work, then every subject of theirs is in the AsyncAPI document, every channel is used, and each message is what it says', async () => {
    const request = await (await world.client()).schedule(chatRequest())
    await request.ended({ cause: 'natural', status: 200 })
    const used = (): ReadonlySet<string> =>
      new Set(seen.filter(({ subject }) => subject.startsWith('signalbox.') || subject.startsWith('$KV.')).map(({ subject, data }) => channelOf(subject, data)))
    await expect.poll(used, WAIT).toEqual(new Set(Object.keys(asyncApi.channels)))
    expect(seen.map(({ subject }) => subject)).toContain(`signalbox.v1.default.telemetry.${TOKEN}`)
    await expect.poll(() => engine.host.actor.engine.view.requests.size, WAIT).toBe(0)
  })

  it('given reports out of order, of another life, malformed and of another endpoint, then only the newest right one counts, and the others are counted', async () => {
    await expect.poll(async () => (await rowsOf(engine))[0]?.ageMs ?? null, WAIT).not.toBeNull()
    const { connection } = await world.server.link()
    const subject = `signalbox.v1.default.telemetry.${TOKEN}`
    const report = (sequence: number, waitingQueueSize: number, incarnation = agent.incarnation, id = 'default/a'): Uint8Array =>
      toBytes(encodeTelemetryReport, { endpoint: id, incarnation, sequence, metrics: { ...emptyEndpointMetrics(), waitingQueueSize } })
    const newest = 1_000_000
    for (const data of [report(newest, 9), report(newest - 1, 5), report(newest, 7), report(newest + 1, 1, 'another'), report(newest + 2, 2, agent.incarnation, 'default/b')]) connection.publish(subject, data)
    for (let n = 0; n < 1000; n++) connection.publish(subject, Buffer.from(`rubbish ${n}`))
    const json = headers()
    json.set('Content-Type', 'application/json')
    connection.publish(subject, '{"metrics": {"waitingQueueSize": "many"}}', { headers: json })
    connection.publish(subject, JSON.stringify({ incarnation: agent.incarnation, sequence: newest + 1, metrics: { waitingQueueSize: 12, kvCacheUsage: 0.5 } }), { headers: json })
    await expect.poll(() => engine.host.actor.engine.view.fleet.get('default/a')?.endpoint.waitingQueueSize, WAIT).toBe(12)
    expect(await refused('malformed')).toBe(1001)
    expect(await refused('other-endpoint')).toBe(1)
    expect(await refused('unknown-endpoint')).toBeGreaterThanOrEqual(1)
  })

  it('given a route asked for with a text, when its life is told, then it is counted until its end, and its tokens were the engine\'s own', async () => {
    const client = await world.client()
    const request = await client.schedule({ ...chatRequest(conversation('anna', 1)), requestId: 'mine' })
    expect(request.route.target).toEqual({ endpoint: 'default/a', hostPort: `127.0.0.1:${endpoint.port}` })
    expect((await rowsOf(engine))[0]?.requests).toBe(1)
    expect(engine.host.actor.engine.view.requests.get(request.key)?.shape).toMatchObject({ tokenized: true, problem: '' })
    await request.sent()
    await request.started(200, true)
    await request.ended({ cause: 'natural', status: 200 })
    await expect.poll(() => engine.host.actor.engine.view.requests.size, WAIT).toBe(0)
    expect((await rowsOf(engine))[0]?.requests).toBe(0)
    await expect(client.schedule({ path: '/v1/chat/completions', body: Buffer.from('{') })).rejects.toMatchObject({ status: 400, code: 'BadRequest' })
  })

  it('given the data plane of the README, when it relays, then the answer is the endpoint\'s, and the request is over for the scheduler too', async () => {
    const readme = readFileSync(fileURLToPath(new URL('../../../src/client/README.md', import.meta.url)), 'utf8')
    const example = readFileSync(fileURLToPath(new URL('../../docs/examples/data-plane.ts', import.meta.url)), 'utf8')
    expect(blocksOf(readme).map(({ text }) => text)).toEqual([example.replace('../../../src/client/index.ts', 'signalbox/client')])
    const answer = await relay(await world.client(), '/v1/chat/completions', Buffer.from(JSON.stringify({ model: 'sim-model', max_tokens: 2, messages: [{ role: 'user', content: 'hello' }] })))
    expect(JSON.parse(answer)).toMatchObject({ object: 'chat.completion' })
    await expect.poll(() => engine.host.actor.engine.view.requests.size, WAIT).toBe(0)
  })

  it('given prompts, when the agent tells of the cache, then precise hits are the engine\'s own; what is malformed, of others and not next is counted and made good', async () => {
    await ask(endpoint.url, conversation('bert', 2))
    await settled(engine, [endpoint])
    const url = `http://${engine.front.host}:${engine.front.port}`
    expect(await ask(url, conversation('bert', 3))).toBe(16 * Math.floor(Math.floor(conversation('bert', 2).length / 4) / 16))
    await settled(engine, [endpoint])

    const link = await world.server.link()
    const subject = `signalbox.v1.default.kv.${TOKEN}`
    const { hash, blockTokens } = producerOf(engine).parameters
    const report = (more: object): Uint8Array => toBytes(encodeKvReport, { ...emptyKvReport(), endpoint: 'default/a', incarnation: agent.incarnation, sequence: 1000, hash, blockTokens, ...more })
    const strangers = await faults('unknown-endpoint')
    for (let n = 0; n < 1000; n++) link.connection.publish(subject, Buffer.from(`rubbish ${n}`))
    for (const more of [{ changes: [{ kind: 'stored', keys: new Uint8Array(7), tier: 'gpu' }] }, { endpoint: 'default/b' }, { incarnation: 'another' }, {}]) link.connection.publish(subject, report(more))
    for (const [fault, count] of [['malformed', 1001], ['other-endpoint', 1], ['unknown-endpoint', strangers + 1], ['other-naming', 1]] as const) await expect.poll(() => faults(fault), WAIT).toBe(count)
    expect(known(engine)).toEqual([endpoint.state().kvBlocksCached])

    // A change that names blocks alike and follows nothing that was told.
    const first = await (await link.manager()).streams.getMessage('signalbox_default_kv', { seq: 1 })
    const { root } = fromBytes(decodeKvReport, first?.data ?? new Uint8Array(0))
    link.connection.publish(subject, report({ root }))
    await expect.poll(() => faults('gap'), WAIT).toBe(1)
    await settled(engine, [endpoint])
    expect(await metric('signalbox_kv_events_waiting_endpoints')).toBe(0)
  })
})
