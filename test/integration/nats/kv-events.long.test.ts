import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { addressText } from '../../../src/app/serve.ts'
import type { SimulatedEndpoint } from '../../../src/simulation/index.ts'
import { known, settled } from '../kv-events/known-blocks.ts'
import { NatsWorld } from './engine-on-nats.ts'
import { ask, conversation, preciseConfiguration } from './precise.ts'

const NAMES = ['a', 'b'] as const

describe('caches told of on NATS', { timeout: 90_000 }, () => {
  let world: NatsWorld
  let endpoints: SimulatedEndpoint[]
  let file: string

  beforeEach(async () => {
    world = await NatsWorld.start()
    endpoints = []
    for (const name of NAMES) endpoints.push(await world.endpoint({ name, speed: 200, kvEvents: { port: 0, replayPort: 0 } }))
    file = preciseConfiguration(world.server.folder, endpoints[0]?.url ?? '')
    for (const [at, name] of NAMES.entries()) await world.agent(`default/${name}`, endpoints[at])
  })
  afterEach(() => world.close())

  it('given conversations that go on, when routed, then each stays where its blocks are, and a replica that comes late knows it all', async () => {
    const engine = await world.engine({}, undefined, file)
    const url = `http://${addressText(engine.front)}`
    let cached = 0
    for (let turns = 1; turns <= 3; turns++) {
      for (const name of ['anna', 'bert', 'carl']) {
        await settled(engine, endpoints)
        const hit = await ask(url, conversation(name, turns))
        // All that was sent before, but for the block that was not full.
        expect(hit).toBeGreaterThanOrEqual(16 * Math.floor(Math.floor(conversation(name, turns - 1).length / 4) / 16))
        cached += hit
      }
    }
    expect(cached).toBe(endpoints.reduce((sum, endpoint) => sum + endpoint.state().cacheHits, 0))
    await settled(engine, endpoints)
    expect(known(engine).reduce((sum, blocks) => sum + blocks, 0)).toBeGreaterThan(30)
    const late = await world.engine({ replica: 'replica-1' }, undefined, file)
    await settled(late, endpoints)
    expect([...engine.lines, ...late.lines, ...world.agentLines].filter((line) => line.includes('KV events are not'))).toEqual([])
  })

  it('given an engine that comes back, then it knows just what is held by then, and no prompt went over NATS or into the journal', async () => {
    const { connection } = await world.server.link()
    const heard: Buffer[] = []
    connection.subscribe('signalbox.v1.default.kv.>', { callback: (_error, { data }) => void heard.push(Buffer.from(data)) })
    const first = await world.engine({}, undefined, file)
    await settled(first, endpoints)
    await ask(`http://${addressText(first.front)}`, conversation('anna', 2))
    await settled(first, endpoints)
    await first.close()
    for (const { url } of endpoints) await ask(url, conversation('bert', 2))
    const second = await world.engine({}, first.folder, file)
    await settled(second, endpoints)
    // Four bytes of the prompt are one token here, so token ids would show as text too.
    expect(heard.length).toBeGreaterThan(2)
    expect(heard.filter((data) => data.includes('nobody'))).toEqual([])
  })

  it('given a broker that dies and loses its data while prompts go on, when it is back, then all is known again', async () => {
    const engine = await world.engine({}, undefined, file)
    const url = `http://${addressText(engine.front)}`
    await settled(engine, endpoints)
    await ask(url, conversation('anna', 2))
    await settled(engine, endpoints)
    await world.server.kill()
    world.server.forget()
    await ask(url, conversation('bert', 2))
    await world.server.begin()
    await settled(engine, endpoints)
    expect(known(engine).reduce((sum, blocks) => sum + blocks, 0)).toBeGreaterThan(20)
  })

  it('given a stream that is deleted under us, when it is made again, then all is known again', async () => {
    const engine = await world.engine({}, undefined, file)
    await settled(engine, endpoints)
    const manager = await (await world.server.link()).manager()
    await manager.streams.delete('signalbox_default_kv')
    for (const { url } of endpoints) await ask(url, conversation('anna', 1))
    await settled(engine, endpoints)
    for (const { url } of endpoints) await ask(url, conversation('anna', 3))
    await settled(engine, endpoints)
  })
})
