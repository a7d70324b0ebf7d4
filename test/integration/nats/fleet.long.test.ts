import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { headers } from '@nats-io/transport-node'
import { emptyEndpointMetrics, encodeTelemetryReport, toBytes } from '../../../src/wire/index.ts'
import { NatsWorld, rowsOf } from './engine-on-nats.ts'

const WAIT = { timeout: 15_000, interval: 50 }

describe('a fleet announced on NATS', { timeout: 90_000 }, () => {
  let world: NatsWorld

  beforeEach(async () => {
    world = await NatsWorld.start()
  })
  afterEach(() => world.close())

  it('given agents, when an engine starts late, then it sees the fleet at once, with fresh metrics, and without asking for them itself', async () => {
    const early = await world.engine()
    const real = await world.endpoint()
    await world.agent('default/real', real)
    await world.agent('default/mute')
    await expect.poll(() => rowsOf(early), WAIT).toHaveLength(2)
    const late = await world.engine({ replica: 'replica-1' })
    await expect.poll(async () => (await rowsOf(late)).map(({ id }) => id), WAIT).toEqual(['default/mute', 'default/real'])
    await expect.poll(async () => (await rowsOf(late)).find(({ id }) => id === 'default/real')?.ageMs ?? -1, WAIT).toBeGreaterThanOrEqual(0)
    const mute = (await rowsOf(late)).find(({ id }) => id === 'default/mute')
    expect(mute?.ageMs).toBeNull()
    expect(late.lines.filter((line) => line.includes('metrics cannot be read'))).toEqual([])
  })

  it('given an agent leaves with grace, then its endpoint goes at once; given it drains, then that is seen', async () => {
    const engine = await world.engine()
    const agent = await world.agent('default/a')
    await expect.poll(async () => (await rowsOf(engine))[0]?.state ?? '', WAIT).toContain('ready')
    await agent.drain()
    await expect.poll(async () => (await rowsOf(engine))[0]?.state ?? '', WAIT).toContain('draining')
    await agent.close()
    await expect.poll(() => rowsOf(engine), WAIT).toEqual([])
  })

  it('given an agent that dies, then its endpoint goes by the engine\'s own timer', async () => {
    const engine = await world.engine({ 'nats-endpoint-timeout': '1s' })
    const { connection } = await world.server.link()
    const { encodeEndpointAnnouncement, emptyEndpointInfo } = await import('../../../src/wire/index.ts')
    const value = toBytes(encodeEndpointAnnouncement, { endpoint: { ...emptyEndpointInfo(), id: 'dead', address: '127.0.0.1', port: 9, incarnation: 'x' }, presence: 'ready', heartbeat: 1 })
    await connection.request('$KV.signalbox_default_endpoints.dead', value)
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    await expect.poll(() => rowsOf(engine), WAIT).toEqual([])
  })

  it('given reports out of order, twice, of another life, malformed and of another endpoint, then only the newest right one counts', async () => {
    const engine = await world.engine({ 'nats-endpoint-timeout': '60s' })
    const agent = await world.agent('default/a')
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    const { connection } = await world.server.link()
    const subject = 'signalbox.v1.default.telemetry.=ZGVmYXVsdC9h'
    const report = (sequence: number, waitingQueueSize: number, incarnation = agent.incarnation, endpoint = 'default/a'): Uint8Array =>
      toBytes(encodeTelemetryReport, { endpoint, incarnation, sequence, metrics: { ...emptyEndpointMetrics(), waitingQueueSize } })
    for (const data of [report(900, 9), report(5, 5), report(900, 7), report(1000, 1, 'other life'), report(2000, 2, agent.incarnation, 'default/b')]) connection.publish(subject, data)
    for (let n = 0; n < 2000; n++) connection.publish(subject, Buffer.from(`rubbish ${n}`))
    const json = headers()
    json.set('Content-Type', 'application/json')
    connection.publish('signalbox.v1.default.telemetry.=ZGVmYXVsdC9h', '{"metrics": {"waitingQueueSize": "many"}}', { headers: json })
    connection.publish(subject, JSON.stringify({ incarnation: agent.incarnation, sequence: 1001, metrics: { waitingQueueSize: 12, kvCacheUsage: 0.5 } }), { headers: json })
    const endpoint = () => engine.host.actor.engine.view.fleet.get('default/a')?.endpoint
    await expect.poll(() => endpoint()?.waitingQueueSize, WAIT).toBe(12)
    expect(endpoint()?.kvCacheUsage).toBe(0.5)
  })

  it('given the broker is killed and comes back without its data, then nobody is dropped meanwhile and the fleet is announced anew', async () => {
    const engine = await world.engine({ 'nats-endpoint-timeout': '3s' })
    await world.agent('default/a')
    await expect.poll(() => rowsOf(engine), WAIT).toHaveLength(1)
    await world.server.kill()
    world.server.forget()
    await expect.poll(() => engine.lines.some((line) => line.includes('NATS is away')), WAIT).toBe(true)
    await world.server.begin()
    await expect.poll(() => engine.lines.some((line) => line.includes('NATS is back')), WAIT).toBe(true)
    await world.agent('default/b')
    await expect.poll(async () => (await rowsOf(engine)).map(({ id }) => id), WAIT).toEqual(['default/a', 'default/b'])
  })
})
