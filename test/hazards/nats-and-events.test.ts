import { jetstream } from '@nats-io/jetstream'
import type { ConsumerInfo } from '@nats-io/jetstream'
import { headers } from '@nats-io/nats-core'
import { VirtualTimeScheduler } from 'rxjs'
import { afterAll, beforeAll, expect, vi } from 'vitest'
import { Peers } from '../../src/actors/replicas/index.ts'
import { BucketWatch } from '../../src/adapters/nats/bucket-watch.ts'
import { AcknowledgedPublisher } from '../../src/adapters/nats/journal/acknowledged-publisher.ts'
import { NatsJournalStore } from '../../src/adapters/nats/journal/journal-store.ts'
import { StreamJournal } from '../../src/adapters/nats/journal/stream-journal.ts'
import { LifecycleConsumer } from '../../src/adapters/nats/lifecycle.ts'
import { LoadBacklog } from '../../src/adapters/nats/load-backlog.ts'
import { LoadReader } from '../../src/adapters/nats/load-reader.ts'
import { headerOf, wholeNumber } from '../../src/adapters/nats/message-fields.ts'
import { Names } from '../../src/adapters/nats/names.ts'
import { startScheduleService } from '../../src/adapters/nats/schedule-service.ts'
import { JournaledAcks } from '../../src/app/nats/journaled-acks.ts'
import { LifecyclePublisher } from '../../src/client/lifecycle-publisher.ts'
import { SchedulerClient } from '../../src/client/index.ts'
import { appendRecord, verify } from '../../src/journal/index.ts'
import type { SealedBatch } from '../../src/journal/index.ts'
import { shape } from '../../src/core/shape.ts'
import { PeerLedger } from '../../src/plugins/producer/inflight-load-producer/peer-ledger.ts'
import { emptyScheduleReply, encodeLifecycleReport, encodePeerLoadReported, toBytes, Writer } from '../../src/wire/index.ts'
import type { LifecycleReport, PeerLoadReported } from '../../src/wire/index.ts'
import { NatsServer } from '../integration/nats/nats-server.ts'
import { singleProfile } from '../story/configuration.ts'
import { joined, received } from '../story/inputs.ts'
import { World } from '../story/world.ts'
import { sampleRecords } from '../unit/journal/sample-records.ts'
import { batchOf, JournalFiller, runToEnd } from '../unit/journal/sealed-journal.ts'
import hazards from './cases/nats-and-events.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

let server: NatsServer
let pools = 0

beforeAll(async () => {
  server = await NatsServer.start()
})
afterAll(() => server.stop())

/** Names that no other check uses. */
const fresh = (): Names => new Names('signalbox.v1', `pool-${(pools += 1)}`)

const load = (sequence: number, more: Partial<PeerLoadReported> = {}): PeerLoadReported => ({ replica: 'b', runId: 'run', sequence, opens: sequence === 1, assigned: [], released: [], ...more })

/** A report that a request is on its way, or over. */
const told = (sequence: number): PeerLoadReported => {
  const assignment = { request: sequence, attempt: 1, profile: 'p', endpoint: 'e', incarnation: '', promptTokens: 1, outputTokens: 1, blocks: [] }
  return load(sequence, { assigned: [assignment], released: sequence % 3 === 0 ? [{ request: sequence - 1, attempt: 1, profile: 'p' }] : [] })
}

/** What peers have in flight, and the sequences taken for it. */
const projection = () => {
  const ledger = new PeerLedger()
  const taken: number[] = []
  let resyncs = 0
  const peers = new Peers({
    replica: 'a', clock: new VirtualTimeScheduler(), known: [],
    submit: ({ input }) => {
      if (input?.kind !== 'peerLoadReported') return
      taken.push(input.value.sequence)
      ledger.take(input.value)
    },
    resync: () => (resyncs += 1),
  })
  return { peers, ledger, taken, resyncs: () => resyncs }
}

const report = (request: number): LifecycleReport => ({ request, attempt: 1, requestId: `r${request}`, report: { kind: 'sent', value: {} } })

/** A consumer of reports, those it took, and their acknowledgements. */
const consuming = async (names: Names, onReport: () => void = () => undefined) => {
  const link = await server.link()
  const taken: { readonly request: number; readonly behind: number; acknowledge(): void }[] = []
  const failures: unknown[] = []
  const consumer = new LifecycleConsumer({
    link, names, replica: 'a', streamReplicas: 1,
    report: ({ request }, acknowledge) => {
      taken.push({ request, behind: consumer.behind, acknowledge })
      onReport()
    },
    malformed: () => undefined,
    failed: (error) => void failures.push(error),
  })
  await consumer.start()
  const manager = await link.manager()
  return { link, consumer, taken, failures, info: (): Promise<ConsumerInfo> => manager.consumers.info(names.lifecycleStream, 'a') }
}

const publish = async (subject: string, bodies: readonly Uint8Array[]): Promise<void> => {
  const link = await server.link()
  const publisher = new AcknowledgedPublisher(link)
  await publisher.publishAll(bodies.map((data) => ({ subject, data, headers: headers() })), () => undefined)
  publisher.close()
}

const within = <T>(promise: Promise<T>, ms: number): Promise<T> =>
  Promise.race([promise, new Promise<never>((_, reject) => setTimeout(() => reject(new Error(`it took more than ${ms} ms`)), ms).unref())])

const journal = async (names: Names): Promise<StreamJournal> => StreamJournal.open({ link: await server.link(), names, replica: 'a', streamReplicas: 1 })

checkHazards('hazards of NATS and of events', hazards.cases, {
  'BUG-226': async () => {
    const names = fresh()
    const [first, second] = [await journal(names), await journal(names)]
    await first.append([batchOf(sampleRecords(1, 3), 0n)])
    await expect(second.append([batchOf(sampleRecords(1, 4), 0n)])).rejects.toMatchObject({ code: 'journal-locked', message: expect.stringMatching(/wrong last sequence/) as string })
    const backlog = new LoadBacklog(() => 0)
    backlog.add(load(1, { opens: false }))
    expect(backlog.reports()).toHaveLength(1)
  },
  'BUG-228': async () => {
    const names = fresh()
    const link = await server.link()
    let open: (() => void) | undefined
    let waits = 0
    const room = new Promise<void>((resolve) => (open = resolve))
    let reached = 0
    let all: () => void
    const done = new Promise<void>((resolve) => (all = resolve))
    const options = { link, names, replica: 'a', runId: 'run', streamReplicas: 1, failed: () => undefined }
    const reader = new LoadReader({ ...options, room: () => ((waits += 1), open === undefined ? undefined : room) }, () => undefined, ({ sequence }) => {
      reached += 1
      if (sequence === 2000) all()
    })
    await (await link.manager()).streams.add({ name: names.loadStream, subjects: [names.anyLoad] })
    await publish(names.load('b'), Array.from({ length: 2000 }, (_, index) => toBytes(encodePeerLoadReported, load(index + 1))))
    const before = link.connection.stats().inMsgs
    await reader.start()
    await expect.poll(() => waits).toBeGreaterThan(0)
    await link.connection.flush()
    // Those on their way, and the server's own word about them.
    expect(link.connection.stats().inMsgs - before).toBeLessThan(150)
    expect(reached).toBe(0)
    expect(reader.behind).toBe(1999)
    open?.()
    open = undefined
    await done
    expect([reached, reader.behind]).toEqual([2000, 0])
    await reader.close()
  },
  'BUG-230': async () => {
    const names = fresh()
    const { link, consumer } = await consuming(names)
    const others = await server.link()
    const options = { link: others, names, replica: 'a', runId: 'run', streamReplicas: 1, failed: () => undefined }
    const reader = new LoadReader(options, () => undefined, () => undefined)
    const watch = new BucketWatch({ ...options, bucket: names.replicasBucket, replicas: 1, entry: () => undefined })
    await reader.start()
    await watch.start()
    await Promise.all([link.connection.close(), others.connection.close()])
    expect([link.connected, others.connected]).toEqual([false, false])
    // Each waits for its loop to end.
    await within(Promise.all([consumer.close(), reader.close(), watch.close()]), 1000)
  },
  'BUG-231': async () => {
    const names = fresh()
    const { link, consumer } = await consuming(names)
    const subject = names.lifecycle('a', 1)
    // The first was stored, its acknowledgement lost.
    await jetstream(link.connection).publish(subject, toBytes(encodeLifecycleReport, report(1)), { msgID: 'id' })
    await new LifecyclePublisher(link.connection, 1000).publish(subject, 'id', toBytes(encodeLifecycleReport, report(1)))
    expect((await (await link.manager()).streams.info(names.lifecycleStream)).state.messages).toBe(1)
    await consumer.close()
    // What came in is acknowledged when the journal holds it, and not before.
    vi.useFakeTimers()
    const place = { lastPosition: 5, acknowledgedPosition: 5 }
    let waiting = 2
    const acks = new JournaledAcks(place as ConstructorParameters<typeof JournaledAcks>[0], () => waiting)
    let acknowledged = 0
    acks.add(() => (acknowledged += 1))
    vi.advanceTimersByTime(1000)
    expect(acknowledged).toBe(0)
    waiting = 0
    place.lastPosition = 7
    vi.advanceTimersByTime(1000)
    expect(acknowledged).toBe(0)
    place.acknowledgedPosition = 7
    vi.advanceTimersByTime(1000)
    expect(acknowledged).toBe(1)
    acks.close()
    vi.useRealTimers()
  },
  'BUG-232': async () => {
    const read = (text: string): number => wholeNumber(text) ?? -1
    expect(['0', '1', '999999999999999', '', 'abc', '12a', '-1', '1000000000000000'].map(read)).toEqual([0, 1, 999_999_999_999_999, -1, -1, -1, -1, -1])
    expect(wholeNumber('67108865', 67_108_864)).toBeUndefined()
    // A deadline that cannot be read or kept is none; it must not become one that is over at once.
    const names = fresh()
    const link = await server.link()
    const seen: boolean[] = []
    const scheduling = { schedule: (_: unknown, expired: Promise<void> | undefined) => {
      seen.push(expired !== undefined)
      return Promise.resolve({ ...emptyScheduleReply(), answer: { kind: 'route' as const, value: { attempt: 1, target: undefined, fallbacks: [], headers: [], responseHeaders: [], targetModel: '', stages: [] } } })
    } }
    const service = startScheduleService({ link, names, replica: 'a', version: '1.0.0', scheduling })
    await link.connection.flush()
    for (const deadline of ['5000', '0', '12a', '-1', '1e3', '99999999999', '1000000000000000']) {
      const marked = headers()
      marked.set('signalbox-deadline-ms', deadline)
      marked.set('content-type', 'Application/JSON')
      await link.connection.request(names.schedule, '{"body":{"model":"m"}}', { timeout: 2000, headers: marked })
    }
    expect(seen).toEqual([true, false, false, false, false, false, false])
    await service.stop()
  },
  'BUG-233': () => {
    const { peers, taken, resyncs } = projection()
    // Of one stream others' messages take numbers too, and some are gone: only the replica's own sequence counts.
    for (const sequence of [1, 2, 3]) peers.reported(load(sequence))
    expect([taken, resyncs(), peers.counts.gaps]).toEqual([[1, 2, 3], 0, 0])
    for (const sequence of [5, 6]) peers.reported(load(sequence))
    expect([taken, resyncs(), peers.counts.gaps]).toEqual([[1, 2, 3], 1, 1])
    const backlog = new LoadBacklog((replica, runId) => peers.taken(replica, runId))
    for (let sequence = 1; sequence <= 7; sequence++) backlog.add(load(sequence))
    expect(backlog.reports().map(({ sequence }) => sequence)).toEqual([4, 5, 6, 7])
    for (const each of backlog.reports()) peers.reported(each)
    expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7])
    peers.close()
  },
  'BUG-235': async () => {
    const names = fresh()
    const link = await server.link()
    const manager = await link.manager()
    await manager.streams.add({ name: names.loadStream, subjects: [names.anyLoad], duplicate_window: 100_000_000 })
    const publisher = new AcknowledgedPublisher(link)
    const again = (): Promise<number> => {
      const marked = headers()
      marked.set('Nats-Msg-Id', 'X')
      return publisher.publishAll([{ subject: names.load('b'), data: toBytes(encodePeerLoadReported, told(1)), headers: marked }], () => undefined)
    }
    expect([await again(), await again()]).toEqual([1, 1])
    await expect.poll(again, { interval: 20 }).toBe(2)
    publisher.close()
    const { peers, ledger, taken } = projection()
    const reader = new LoadReader({ link, names, replica: 'a', runId: 'run', streamReplicas: 1, failed: () => undefined }, () => undefined, (each) => peers.reported(each))
    await reader.start()
    await expect.poll(() => reader.behind).toBe(0)
    await reader.close()
    peers.close()
    expect(taken).toEqual([1])
    expect(ledger.remember()).toMatchObject([['b', [{ request: 1 }]]])
  },
  'BUG-236': () => {
    const [once, mirrored] = [projection(), projection()]
    for (const sequence of [1, 2, 3, 4, 5]) once.peers.reported(told(sequence))
    for (const sequence of [1, 2, 2, 3, 4, 5, 3, 4, 5, 1]) mirrored.peers.reported(told(sequence))
    expect(mirrored.taken).toEqual(once.taken)
    expect(mirrored.ledger.remember()).toEqual(once.ledger.remember())
    for (const { peers } of [once, mirrored]) peers.close()
  },
  'BUG-237': () => {
    const marked = headers()
    marked.append('Orig-Nats-Msg-Id', 'a')
    marked.append('Nats-Msg-Id', 'b')
    expect(['Nats-Msg-Id', 'nats-msg-id', 'Msg-Id', 'Nats-Msg'].map((name) => headerOf(marked, name))).toEqual(['b', 'b', '', ''])
    expect(headerOf(undefined, 'Nats-Msg-Id')).toBe('')
  },
  'BUG-239': async () => {
    const names = fresh()
    const filler = new JournalFiller(NatsJournalStore.open({ nats: { servers: server.url, name: 'test' }, prefix: names.prefix, pool: names.pool, replica: 'a', streamReplicas: 1 }))
    filler.append(sampleRecords(1, 12), 3)
    const opened = await journal(names)
    expect(await opened.isWhole()).toBe(true)
    const manager = await (await server.link()).manager()
    await manager.streams.purge(names.journalStream('a'), { seq: 3 })
    expect(() => runToEnd(verify(filler.store))).toThrow(expect.objectContaining({ code: 'journal-gap' }) as Error)
    expect(await opened.isWhole()).toBe(false)
    filler.store.close()
    // Nor is a peer's load taken from the middle: an open set must come first.
    const { peers, taken } = projection()
    peers.reported(load(1))
    for (const sequence of [250, 251]) peers.reported(load(sequence))
    expect([taken, peers.counts.gaps]).toEqual([[1], 1])
    peers.reported(load(252, { opens: true }))
    peers.reported(load(253))
    expect(taken).toEqual([1, 252, 253])
    peers.close()
  },
  'BUG-240': async () => {
    const names = fresh()
    let heard: () => void = () => undefined
    const four = new Promise<void>((resolve) => (heard = resolve))
    const first = await consuming(names)
    await first.consumer.close()
    // Whatever bound somebody set, this replica's reports are delivered until they are acknowledged.
    const manager = await first.link.manager()
    await manager.consumers.update(names.lifecycleStream, 'a', { max_deliver: 2 })
    const { consumer, taken, info } = await consuming(names, () => (taken.length === 4 ? heard() : undefined))
    expect((await info()).config.max_deliver ?? -1).toBe(-1)
    for (const request of [1, 2, 3, 4]) await publish(names.lifecycle('a', request), [toBytes(encodeLifecycleReport, report(request))])
    await four
    taken[3]?.acknowledge()
    await expect.poll(async () => (await info()).num_ack_pending).toBe(3)
    expect((await info()).ack_floor.stream_seq).toBe(0)
    await consumer.close()
  },
  'BUG-245': async () => {
    const names = fresh()
    const { consumer, taken, info } = await consuming(names)
    const reports = Array.from({ length: 20 }, (_, index) => toBytes(encodeLifecycleReport, report(index + 1)))
    await publish(names.lifecycle('b', 1), reports)
    await publish(names.lifecycle('a', 1), reports)
    await expect.poll(() => taken.length).toBe(20)
    for (const { acknowledge } of taken) acknowledge()
    await expect.poll(async () => (await info()).num_ack_pending).toBe(0)
    const manager = await (await server.link()).manager()
    expect((await manager.streams.info(names.lifecycleStream, { subjects_filter: names.anyLifecycleOf('b') })).state.subjects).toEqual({ [names.lifecycle('b', 1)]: 20 })
    await consumer.close()
    const [once, twice] = [new PeerLedger(), new PeerLedger()]
    const all = Array.from({ length: 100 }, (_, index) => told(index + 1))
    for (const each of all) once.take(each)
    for (const each of [...all, ...all]) twice.take(each)
    expect(twice.remember()).toEqual(once.remember())
  },
  'BUG-246': async () => {
    const world = new World(singleProfile()).take(joined('a'))
    const tokenIds = Uint32Array.from({ length: 262_145 }, (_, index) => index * 2_654_435_761)
    const { record } = world.step(received('r', { shape: shape({ prompts: [{ tokenIds, media: [] }], cacheSalt: '' }, 'm', [{ kind: 'approx', blockTokens: 64, maxBlocks: 2048 }]) as never }))
    const writer = new Writer()
    appendRecord(record, writer)
    expect(record.decisions[0]?.outcome).toBe('routed')
    expect(writer.length).toBeLessThan(20_000)
    const link = await server.link()
    const names = fresh()
    await expect(new SchedulerClient(link.connection, { pool: names.pool }).schedule({ path: '/', body: new Uint8Array(1_048_577) })).rejects.toMatchObject({ code: 'nats-too-large' })
    const publisher = new AcknowledgedPublisher(link)
    await expect(publisher.publishAll([{ subject: names.load('b'), data: new Uint8Array(2_000_000), headers: headers() }], () => undefined)).rejects.toMatchObject({ code: 'journal-write' })
    publisher.close()
    // A batch that no message takes stands apart, and is read as any other.
    const stream = await journal(names)
    const first = batchOf(sampleRecords(1, 2), 0n)
    const large = largeBatch(3, first.seal)
    const last = batchOf(sampleRecords(4, 5), large.seal)
    await stream.append([first, large, last])
    const read = await stream.page(await stream.sequenceAfter(0))
    expect(Buffer.concat(read.map(({ bytes }) => bytes)).equals(Buffer.concat([first, large, last].map(({ bytes }) => bytes)))).toBe(true)
    const { position } = await (await journal(names)).settle()
    expect([position, link.connected]).toEqual([5, true])
  },
  'BUG-247': async () => {
    const names = fresh()
    const link = await server.link()
    const bodies = (count: number): Uint8Array[] => Array.from({ length: count }, (_, index) => toBytes(encodeLifecycleReport, report(index + 1)))
    const { consumer, taken, link: own } = await consuming(names)
    const before = own.connection.stats().inMsgs
    for (const [count, all] of [[200, 200], [2000, 2200]] as const) {
      await publish(names.lifecycle('a', 1), bodies(count))
      await expect.poll(() => taken.length, { timeout: 10_000, interval: 10 }).toBe(all)
      expect(consumer.behind).toBe(0)
    }
    expect(Math.max(...taken.map(({ behind }) => behind))).toBeGreaterThan(0)
    expect(own.connection.stats().inMsgs - before).toBeLessThan(2500)
    expect(link.connected).toBe(true)
    await consumer.close()
  },
})

/** One record larger than any message that a server takes. */
const largeBatch = (position: number, previous: bigint): SealedBatch => {
  const [record] = sampleRecords(position, position)
  if (record === undefined) throw new Error('no record')
  const input = received('large', { shape: { tokenized: true, prompts: [{ tokens: 1, blocks: [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(1_500_000) }], media: [] }], problem: '' } })
  return batchOf([{ ...record, input, decisions: [] }], previous)
}
