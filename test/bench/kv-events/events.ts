/**
 * What KV events cost: reading an engine's messages and naming their blocks, keeping and looking up blocks of 100
 * endpoints, and the way of a million blocks from a publisher over ZeroMQ into the index, with its lag.
 * `node test/bench/kv-events/events.ts`
 */

import { Publisher } from 'zeromq'
import { EventStream } from '../../../src/adapters/kv-events/event-stream.ts'
import { KvSubscription } from '../../../src/adapters/kv-events/index.ts'
import type { BlockChange, BlockNaming } from '../../../src/adapters/kv-events/index.ts'
import { sequenceFrame } from '../../../src/adapters/kv-events/message.ts'
import type { EventMessage } from '../../../src/adapters/kv-events/message.ts'
import { Endpoint } from '../../../src/core/endpoint.ts'
import { preciseParameters } from '../../../src/plugins/producer/precise-prefix-cache-producer/parameters.ts'
import { PrecisePrefixCacheProducer } from '../../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import { pack } from '../../../src/simulation/endpoint/packing.ts'
import { microseconds, report, retained } from '../harness.ts'

const BLOCK_TOKENS = 16
const MESSAGE_BLOCKS = 64
const BLOCKS = 1_000_000
const ENDPOINTS = 100
const NAMING: BlockNaming = { hash: 'cbor-fnv', blockTokens: BLOCK_TOKENS, seed: '', mask: undefined }

/** A message that stores 64 blocks of one prompt; each number another prompt. */
const payload = (n: number): Buffer => pack([{ seconds: 1 }, [[
  'BlockStored', Array.from({ length: MESSAGE_BLOCKS }, (_, at) => n * MESSAGE_BLOCKS + at), null,
  Array.from({ length: MESSAGE_BLOCKS * BLOCK_TOKENS }, (_, at) => (n * 7919 + at * 104_729) % 150_000), BLOCK_TOKENS, null, 'GPU', null,
]], 0])

const MESSAGES = Math.ceil(BLOCKS / MESSAGE_BLOCKS)
const payloads = Array.from({ length: 512 }, (_, n) => payload(n))
const endpointOf = (slot: number): Endpoint =>
  new Endpoint({ id: `default/pod-${slot}`, address: '10.0.0.1', port: 8000, labels: new Map(), annotations: new Map(), incarnation: '', metricsHostPort: '' }, slot, slot)

const producer = (): PrecisePrefixCacheProducer => new PrecisePrefixCacheProducer('precise-prefix-cache-producer', preciseParameters({}))

const naming = (): number => {
  const stream = new EventStream({ naming: NAMING, model: '', change: () => undefined, fault: (fault) => { throw new Error(fault) } })
  let sequence = 0n
  return microseconds(payloads.length, (n) => {
    const message: EventMessage = { topic: 'kv@p@m', sequence, payload: payloads[n % payloads.length] as Buffer }
    sequence += 1n
    stream.take(message)
  }, 5)
}

/** Keys of a prompt's blocks, as a hash would give them. */
const keys = (n: number): Uint8Array => new Uint8Array(BigUint64Array.from({ length: MESSAGE_BLOCKS }, (_, at) => BigInt.asUintN(64, BigInt(n * MESSAGE_BLOCKS + at + 1) * 0x9e37_79b9_7f4a_7c15n)).buffer)

const keeping = (): { readonly store: number; readonly lookup: number; readonly bytes: number } => {
  const endpoints = Array.from({ length: ENDPOINTS }, (_, slot) => endpointOf(slot))
  const prompts = Array.from({ length: MESSAGES }, (_, n) => keys(n))
  const { bytes, kept } = retained(() => {
    const one = producer()
    for (let n = 0; n < MESSAGES; n++) one.kvBlocksStored(endpoints[n % ENDPOINTS] as Endpoint, prompts[n] as Uint8Array, 'gpu', BLOCK_TOKENS)
    return one
  })
  const store = microseconds(MESSAGES, (n) => kept.kvBlocksStored(endpoints[n % ENDPOINTS] as Endpoint, prompts[n] as Uint8Array, 'gpu', BLOCK_TOKENS), 3)
  const request = (n: number): unknown => ({ shape: { tokenized: true, prompts: [{ tokens: MESSAGE_BLOCKS * BLOCK_TOKENS, blocks: [{ kind: 'cbor-fnv', blockTokens: BLOCK_TOKENS, keys: prompts[n] as Uint8Array }], media: [] }], problem: '' } })
  const lookup = microseconds(2000, (n) => kept.produce(request(n) as Parameters<PrecisePrefixCacheProducer['produce']>[0], endpoints), 5)
  return { store: store / MESSAGE_BLOCKS, lookup, bytes: bytes / kept.index.size }
}

/** Offers a million blocks as fast as they go; seconds, and how far behind the index was at most. */
const overZmq = async (): Promise<{ readonly seconds: number; readonly lag: number; readonly lost: number }> => {
  const publisher = new Publisher({ linger: 0, sendHighWaterMark: 0 })
  await publisher.bind('tcp://127.0.0.1:*')
  const one = producer()
  const e = endpointOf(0)
  let taken = 0
  let faults = 0
  const heard = Promise.withResolvers<undefined>()
  const subscription = new KvSubscription({
    address: publisher.lastEndpoint ?? '', replayAddress: undefined, topicFilter: 'kv@', naming: NAMING, model: '',
    change: (change: BlockChange) => {
      if (change.kind !== 'stored') return
      one.kvBlocksStored(e, change.keys, change.tier, BLOCK_TOKENS)
      taken += change.keys.length / 8
      heard.resolve(undefined)
    },
    fault: () => { faults += 1 },
  })
  let sequence = 0n
  const send = async (n: number): Promise<void> => {
    await publisher.send(['kv@p@m', sequenceFrame(sequence), payloads[n % payloads.length] as Buffer])
    sequence += 1n
  }
  // Until the subscription has arrived, what is sent is lost.
  while (taken === 0) {
    await send(0)
    await new Promise(setImmediate)
  }
  await heard.promise
  taken = 0
  faults = 0
  let lag = 0
  const before = performance.now()
  for (let n = 0; n < MESSAGES; n++) {
    await send(n)
    lag = Math.max(lag, (n + 1) * MESSAGE_BLOCKS - taken)
  }
  while (taken < MESSAGES * MESSAGE_BLOCKS && performance.now() - before < 60_000) await new Promise(setImmediate)
  const seconds = (performance.now() - before) / 1000
  await subscription.close()
  publisher.close()
  return { seconds, lag, lost: faults }
}

const namingUs = naming()
const { store, lookup, bytes } = keeping()
const { seconds, lag, lost } = await overZmq()
report('KV events', [
  { name: 'blocks read and named a second of one core', value: (MESSAGE_BLOCKS / namingUs) * 1e6, unit: 'blocks/s' },
  { name: 'storing a block', value: store * 1000, unit: 'ns' },
  { name: 'looking up 64 blocks at 100 endpoints of which one holds them', value: lookup, unit: 'us' },
  { name: 'memory of a block', value: bytes, unit: 'bytes' },
  { name: 'a million blocks from a publisher over ZeroMQ into the index, both in this process', value: (MESSAGES * MESSAGE_BLOCKS) / seconds, unit: 'blocks/s' },
  { name: 'behind at most', value: lag, unit: 'blocks' },
  { name: 'gaps', value: lost, unit: 'messages', goal: 0 },
])
