import { createServer } from 'node:net'
import { Publisher, Router, XPublisher } from 'zeromq'
import { afterEach, describe, expect, it } from 'vitest'
import { EngineActor } from '../../../src/actors/engine-actor.ts'
import { sequenceFrame } from '../../../src/adapters/kv-events/message.ts'
import { createMetrics } from '../../../src/adapters/prometheus/index.ts'
import { KvFaults } from '../../../src/app/kv-faults.ts'
import { KvFeed } from '../../../src/app/kv-feed.ts'
import { feedReadings } from '../../../src/app/views.ts'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import { Engine } from '../../../src/engine/engine.ts'
import type { JournalLink } from '../../../src/journal/port.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import type { Packable } from '../../../src/simulation/endpoint/packing.ts'
import { singleProfile } from '../../story/configuration.ts'
import { engineStarted, left } from '../../story/inputs.ts'
import { freePort, listening } from '../../story/listening.ts'
import { EPOCH } from '../../story/world.ts'
import { batch, removed, stored } from '../../unit/adapters/kv-events/packing.ts'

const PRECISE = 'precise-prefix-cache-producer'
const EVENTS = 'llm_d_epp_kv_cache_events_'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

const configuration = (kvEventsConfig: object): CompletedConfiguration => {
  const single = singleProfile()
  return {
    ...single,
    plugins: [...single.plugins, { name: PRECISE, type: PRECISE, parameters: { tokenProcessorConfig: { blockSizeTokens: 2 }, kvEventsConfig } }],
    producers: [...single.producers, PRECISE],
  }
}

/** An engine whose journal the test holds, its feed of KV events, and what the metrics say of it. */
const given = async (kvEventsConfig: object = {}) => {
  const metrics = createMetrics({ version: { commit: '', buildRef: '' }, ofProcess: false })
  const journal = { room: true, records: 0 }
  const link: JournalLink = {
    get lastPosition() { return journal.records },
    get acknowledgedPosition() { return journal.records },
    append: () => { journal.records += 1 },
    canAccept: () => journal.room,
    lag: () => ({ records: 0, ageMs: 0 }),
  }
  const actor = new EngineActor({
    engine: new Engine(engineOptions([], { observe: metrics.observe })),
    journal: link,
    clock: { now: () => EPOCH, wakeAt: () => undefined, stop: () => undefined },
    durability: 'async',
    fault: (error) => { throw error },
  })
  actor.submitOrThrow(engineStarted(configuration(kvEventsConfig)))
  // Called with each fault of the feed and each turn of the engine.
  let look = (): void => undefined
  const faults = new KvFaults(() => undefined)
  const feed = await KvFeed.open({
    actor, plugins: actor.engine.view.pipeline.plugins, secret: undefined, hearsAgents: false, observe: metrics.observe,
    fault: (endpoint, fault, count) => { faults.take(endpoint, fault, count); look() },
  })
  if (feed === undefined) throw new Error('there is no feed')
  closers.push(() => feed.close())
  actor.turns.subscribe(() => look())
  metrics.show({ pool: 'p', now: () => EPOCH, endpoints: () => [], staleAfter: () => 0, feeds: () => feedReadings(faults, feed, undefined) })
  const join = (name: string, port: number, kvPort: number, replayPort = 0): void => {
    const labels = [{ name: 'signalbox/kv-events-port', value: String(kvPort) }, { name: 'signalbox/kv-replay-port', value: String(replayPort) }]
    actor.submitOrThrow({ input: { kind: 'endpointJoined', value: { endpoint: { id: `default/${name}`, address: '127.0.0.1', port, labels, annotations: [], incarnation: '1', metricsHostPort: '' } } } })
    feed.follow()
  }
  return {
    actor, feed, journal, faults, join,
    until: (holds: () => boolean): Promise<void> => new Promise((resolve) => {
      look = () => { if (holds()) resolve() }
      look()
    }),
    /** The samples of the metrics of KV events whose names begin so, or are those of old. */
    shown: async (name: string): Promise<readonly string[]> =>
      (await metrics.text()).split('\n').filter((line) => line.startsWith(EVENTS + name) || line.startsWith(`kvcache_kvevents_${name}`)).map((line) => line.replace(EVENTS, '')).sort(),
  }
}

/** A publisher that has a subscriber: nothing that it sends is lost. */
class TellingEngine {
  readonly socket = new XPublisher({ linger: 0 })
  private sequence = 0n

  async open(): Promise<number> {
    await this.socket.bind('tcp://127.0.0.1:*')
    closers.push(() => this.socket.close())
    return Number(this.socket.lastEndpoint?.split(':').at(-1))
  }

  async subscribed(): Promise<void> {
    await this.socket.receive()
  }

  async tell(...events: readonly Packable[]): Promise<void> {
    await this.socket.send(['kv@p@m', sequenceFrame(this.sequence++), batch(...events)])
  }
}

describe('the metrics of KV events', () => {
  it('given an engine that tells what cannot be taken and removes what it stored twice, then each event is counted by cache and reason, and each removal as what it came to', async () => {
    const { join, faults, until, shown } = await given()
    const engine = new TellingEngine()
    join('a', 8000, await engine.open())
    await engine.subscribed()
    await engine.tell(stored([1, 2], [1, 2, 3, 4], { group: 0, kind: 'full_attention' }), stored([1], [1, 2], { group: 0 }))
    await engine.tell(stored([7], [1, 2], { group: 1, kind: 'sliding_window' }), stored([7], [1, 2], { group: 1 }), removed([7], 'GPU', 1))
    await engine.tell(stored([3], [5, 6], { parent: 99 }), stored([4], [5, 6, 7], { size: 3, kind: 'mla_attention' }), stored([5], [1, 2, 3]), removed([1], 'GPU', 0), removed([1, 2], 'GPU', 0), removed([99]))
    await until(() => faults.counts['unknown-block'] === 1)
    expect(await shown('stores_skipped_total')).toEqual([
      'stores_skipped_total{cache_kind="mla_attention",reason="block_size"} 1',
      'stores_skipped_total{cache_kind="sliding_window",reason="unsupported_cache_kind"} 2',
      'stores_skipped_total{cache_kind="unknown",reason="non_dense_block_span"} 1',
      'stores_skipped_total{cache_kind="unknown",reason="unknown_parent"} 1',
    ])
    expect(await shown('removals_skipped_total')).toEqual([
      'removals_skipped_total{cache_kind="sliding_window",reason="unsupported_cache_kind"} 1',
      'removals_skipped_total{cache_kind="unknown",reason="unknown_block"} 1',
    ])
    expect(await shown('dedup')).toEqual([
      'dedup_removed_hashes_forwarded_total 2', 'dedup_removed_hashes_suppressed_total 1',
      'kvcache_kvevents_dedup_removed_hashes_forwarded_total 2', 'kvcache_kvevents_dedup_removed_hashes_suppressed_total 1',
    ])
  })

  it('given a journal without room, then what the engine has not come to is the depth of the queue, until it has', async () => {
    const { actor, journal, join, faults, until, shown } = await given()
    const engine = new TellingEngine()
    join('a', 8000, await engine.open())
    await engine.subscribed()
    journal.room = false
    for (let block = 1; block <= 5; block++) await engine.tell(stored([block], [block, block]))
    await engine.tell(removed([99]))
    await until(() => faults.counts['unknown-block'] === 1)
    expect(await shown('pool')).toEqual(['pool_capacity 1024', 'pool_queue_depth 5'])
    journal.room = true
    actor.drain()
    expect(await shown('pool_queue_depth')).toEqual(['pool_queue_depth 0'])
  })

  it('given engines that go away, are not there, speak something else and replay rubbish, then each error is counted by engine and operation, as long as the engine is followed', async () => {
    const { actor, feed, join, faults, until, shown } = await given()
    const goes = new TellingEngine()
    join('goes', 1, await goes.open())
    join('absent', 2, await freePort())
    const other = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')
    })
    closers.push(() => other.close())
    join('other', 3, await listening(other))
    const router = new Router({ linger: 0 })
    closers.push(() => router.close())
    await router.bind('tcp://127.0.0.1:*')
    const rubbish = new TellingEngine()
    join('rubbish', 4, await rubbish.open(), Number(router.lastEndpoint?.split(':').at(-1)))
    const [client] = await router.receive()
    await router.send([client ?? '', '', 'no', 'message', 'at all', 'of four'])
    await until(() => faults.counts['replay-failed'] === 1)
    await goes.subscribed()
    await goes.tell(stored([1], [1, 2]))
    const held = (): number => feed.producer.index.size
    await until(() => held() === 1)
    goes.socket.close()
    await until(() => held() === 0)
    const errors = async (): Promise<Readonly<Record<string, number>>> =>
      Object.fromEntries((await shown('zmq_errors_total')).map((line) => [line.replace(/.*:(\d)",operation="([^"]*)".*/, '$1 $2'), Number(line.split(' ').at(-1))]))
    await expect.poll(async () => Object.keys(await errors()), { interval: 20 }).toEqual(expect.arrayContaining(['1 recv', '2 connect', '3 handshake', '4 replay-incomplete']))
    expect(await errors()).toMatchObject({ '1 recv': 1, '4 replay-incomplete': 1 })
    expect(Object.keys(await errors()).filter((key) => /^[234]/.test(key))).toEqual(['2 connect', '3 handshake', '4 replay-incomplete'])
    for (const name of ['goes', 'absent', 'other']) actor.submitOrThrow(left(name))
    feed.follow()
    expect(await errors()).toEqual({ '4 replay-incomplete': 1 })
    expect(await shown('active_subscribers')).toEqual(['active_subscribers 1'])
  })

  it('given a place to which engines connect, then it is the one subscriber', async () => {
    const { feed, faults, until, shown } = await given({ zmqEndpoint: 'tcp://127.0.0.1:*' })
    const publisher = new Publisher({ linger: 0 })
    closers.push(() => publisher.close())
    publisher.connect(feed.address ?? '')
    // Until the subscription has arrived nothing does: what comes first is sent again.
    let isHeard = false
    void until(() => faults.counts['unknown-endpoint'] !== undefined).then(() => { isHeard = true })
    while (!isHeard) {
      await publisher.send(['kv@elsewhere@m', sequenceFrame(0n), batch()])
      await new Promise(setImmediate)
    }
    expect(await shown('active_subscribers')).toEqual(['active_subscribers 1'])
    const [received] = await shown('messages_received_total')
    expect(received?.split(' ')).toEqual(['messages_received_total{pod_identifier="local-subscriber"}', expect.stringMatching(/^[1-9]/)])
    expect(await shown('zmq_errors_total')).toEqual([])
  })
})
