import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { InFlightLoadProducer } from '../../../src/plugins/producer/inflight-load-producer/index.ts'
import { decodeLoadMemory } from '../../../src/plugins/producer/inflight-load-producer/load-memory.ts'
import type { ScheduledRequest } from '../../../src/client/index.ts'
import type { Serving } from '../../../src/app/serve.ts'
import { run } from '../../story/server.ts'
import { chatRequest, journalIn, NatsWorld, rowsOf } from './engine-on-nats.ts'
import { prefixHits } from './prefix-hits.ts'
import { TcpProxy } from './tcp-proxy.ts'

const WAIT = { timeout: 25_000, interval: 50 }

/** What an engine believes of its peers: requests by replica. */
const peersOf = ({ host }: Pick<Serving, 'host'>): Readonly<Record<string, number>> => {
  const producer = host.actor.engine.view.pipeline.plugins.find((plugin) => plugin instanceof InFlightLoadProducer)
  if (producer === undefined) throw new Error('no inflight-load-producer is configured')
  return Object.fromEntries(decodeLoadMemory(producer.save()).peers.map(([replica, held]) => [replica, held.length]))
}
const liveOf = ({ host }: Pick<Serving, 'host'>): number => host.actor.engine.view.requests.size

describe('several replicas on NATS', { timeout: 90_000 }, () => {
  let world: NatsWorld
  let proxy: TcpProxy | undefined

  beforeEach(async () => {
    world = await NatsWorld.start()
  })
  afterEach(async () => {
    await world.close()
    await proxy?.close()
    proxy = undefined
  })

  const engine = async (replica: string, more: Readonly<Record<string, string>> = {}, folder?: string) => {
    const started = await world.engine({ replica, 'nats-endpoint-timeout': '60s', ...more }, folder)
    await expect.poll(() => rowsOf(started), WAIT).toHaveLength(2)
    return started
  }
  const fleet = async (): Promise<void> => {
    await world.agent('default/x')
    await world.agent('default/y')
  }
  const schedule = async (count: number): Promise<ScheduledRequest[]> => {
    const client = await world.client()
    return Promise.all(Array.from({ length: count }, () => client.schedule(chatRequest())))
  }
  const end = (requests: readonly ScheduledRequest[]): Promise<void[]> => Promise.all(requests.map((request) => request.ended({ cause: 'natural', status: 200 })))

  it('given requests shared among them, then each knows what the other has, a late one catches up, and each journal replays alone', async () => {
    await fleet()
    const a = await engine('a')
    const b = await engine('b')
    const requests = await schedule(30)
    await expect.poll(() => [peersOf(a)['b'] ?? 0, peersOf(b)['a'] ?? 0], WAIT).toEqual([liveOf(b), liveOf(a)])
    const metrics = await (await fetch(`${a.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^signalbox_peer_replicas 1$/m)
    expect(metrics).toMatch(/^signalbox_nats_behind\{of="load"\} 0$/m)
    expect(metrics).toMatch(/^signalbox_peer_reports_dropped_total\{reason="gaps"\} 0$/m)
    await end(requests.slice(0, 12))
    const c = await engine('c')
    await expect.poll(() => liveOf(a) + liveOf(b), WAIT).toBe(18)
    await expect.poll(() => [peersOf(c)['a'] ?? 0, peersOf(c)['b'] ?? 0], WAIT).toEqual([liveOf(a), liveOf(b)])
    await end(requests.slice(12))
    for (const each of [a, b, c]) await expect.poll(() => peersOf(each), WAIT).toEqual({})
    for (const each of [a, b, c]) {
      await each.close()
      expect((await run('replay', journalIn(each.folder))).out).toContain('0 divergences')
    }
  }, 90_000)

  it('given one restarts, then its peers hold what it still has, and it what they have', async () => {
    await fleet()
    const a = await engine('a')
    const b = await engine('b')
    const requests = await schedule(20)
    await expect.poll(() => peersOf(a)['b'] ?? 0, WAIT).toBe(liveOf(b))
    const before = liveOf(b)
    await b.close()
    await expect.poll(() => peersOf(a), WAIT).toEqual({})
    const again = await engine('b', {}, b.folder)
    await expect.poll(() => peersOf(a)['b'] ?? 0, WAIT).toBe(before)
    await expect.poll(() => peersOf(again)['a'] ?? 0, WAIT).toBe(liveOf(a))
    await end(requests)
    for (const each of [a, again]) await expect.poll(() => [liveOf(each), peersOf(each)], WAIT).toEqual([0, {}])
  }, 60_000)

  it('given one is cut off, then its lease ends, and when it comes back all counts are right again', async () => {
    await fleet()
    proxy = await TcpProxy.to(world.server.port)
    const a = await engine('a')
    const b = await engine('b', { nats: proxy.url })
    const requests = await schedule(20)
    await expect.poll(() => [peersOf(a)['b'] ?? 0, peersOf(b)['a'] ?? 0], WAIT).toEqual([liveOf(b), liveOf(a)])
    proxy.cut()
    await expect.poll(() => [peersOf(a), peersOf(b)], WAIT).toEqual([{}, {}])
    await end(requests.slice(0, 10))
    proxy.heal()
    await expect.poll(() => liveOf(a) + liveOf(b), WAIT).toBe(10)
    await expect.poll(() => [peersOf(a)['b'] ?? 0, peersOf(b)['a'] ?? 0], WAIT).toEqual([liveOf(b), liveOf(a)])
    await end(requests.slice(10))
    for (const each of [a, b]) await expect.poll(() => [liveOf(each), peersOf(each)], WAIT).toEqual([0, {}])
  }, 90_000)

  it('given conversations that come to whichever replica is free, then their prompts are found in the caches nearly as often as by one replica', async () => {
    const trace = { endpoints: 6, conversations: 30, turns: 5 }
    const one = await prefixHits(1, trace)
    const three = await prefixHits(3, trace)
    expect(Math.min(...three.byReplica)).toBeGreaterThan(0)
    expect(one.share).toBeGreaterThan(0.5)
    expect(three.share / one.share).toBeGreaterThan(0.9)
  }, 60_000)

  it('given a second engine with the same name, then it is refused while the first lives', async () => {
    await world.engine({ replica: 'a' })
    await expect(world.engine({ replica: 'a' })).rejects.toMatchObject({ code: 'replica-name-taken' })
    await world.engine({ replica: 'b' })
  }, 40_000)
})
