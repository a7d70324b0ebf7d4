import { expect } from 'vitest'
import { EventStream } from '../../src/adapters/kv-events/event-stream.ts'
import { messageOf, sequenceFrame } from '../../src/adapters/kv-events/message.ts'
import { topicOf } from '../../src/adapters/kv-events/topic.ts'
import { fromProducer, PREFIX_CACHE_MATCH_INFO } from '../../src/core/attribute.ts'
import type { Endpoint } from '../../src/core/endpoint.ts'
import { type PrecisePrefixCacheProducer, precisePrefixCacheProducer } from '../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import { batch, stored } from '../unit/adapters/kv-events/packing.ts'
import { Desk, endpoint, make, request } from '../unit/plugins/given.ts'
import hazards from './cases/kv-events.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

const keys = (...numbers: readonly number[]): Uint8Array => new Uint8Array(BigUint64Array.from(numbers, BigInt).buffer)

/** A producer that is told of blocks by number, and asked for a prompt of blocks 1, 2 and 3. */
const given = () => {
  const desk = new Desk()
  const producer = make<PrecisePrefixCacheProducer>(precisePrefixCacheProducer, { indexerConfig: { kvCacheBackendConfigs: [{ name: 'cpu', weight: 1 }] } }, desk)
  const [a, b] = ['a', 'b'].map((name, slot) => endpoint(name, { slot })) as [Endpoint, Endpoint]
  const store = (one: Endpoint, tier: string, ...numbers: readonly number[]): void => producer.kvBlocksStored(one, keys(...numbers), tier, 16)
  const matches = (): (number | undefined)[] => {
    const shape = { tokenized: true, prompts: [{ tokens: 48, blocks: [{ kind: 'cbor-fnv', blockTokens: 16, keys: keys(1, 2, 3) }], media: [] }], problem: '' }
    producer.produce(request({ shape }), [a, b])
    return [a, b].map((one) => desk.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, producer.typedName.name)).get(one)?.matchBlocks)
  }
  return { producer, a, b, store, matches }
}

checkHazards('hazards of KV events', hazards.cases, {
  'BUG-097': () => {
    const { producer, a, b, store, matches } = given()
    store(a, 'gpu', 1, 2)
    store(b, 'gpu', 1, 2)
    producer.endpointRemoved(a)
    expect(matches()).toEqual([0, 2])
    store(a, 'gpu', 1, 2)
    producer.kvBlocksCleared(a)
    expect(matches()).toEqual([0, 2])
  },
  'BUG-099': () => {
    const scattered = given()
    scattered.store(scattered.a, 'gpu', 1, 3)
    expect(scattered.matches()).toEqual([1, 0])
    const two = given()
    two.store(two.a, 'gpu', 1, 2)
    two.store(two.b, 'gpu', 2, 3)
    expect(two.matches()).toEqual([2, 0])
    const headless = given()
    headless.store(headless.a, 'gpu', 2)
    expect(headless.matches()).toEqual([0, 0])
    const tiers = given()
    tiers.store(tiers.a, 'gpu', 1, 2, 3)
    tiers.store(tiers.a, 'cpu', 1, 2, 3)
    expect(tiers.matches()).toEqual([3, 0])
  },
  'BUG-104': () => {
    const model = 'Qwen/Qwen2.5-1.5B-Instruct'
    const topics = [8000, 8001, 8002].map((port) => `kv@10.0.0.1:${port}@${model}`)
    expect(topics.map(topicOf)).toEqual([8000, 8001, 8002].map((port) => ({ pod: `10.0.0.1:${port}`, model })))
    expect(topicOf('kv@pod@a@b')).toEqual({ pod: 'pod', model: 'a@b' })
    expect(topicOf('pod-of-its-own')).toEqual({ pod: 'pod-of-its-own', model: '' })
  },
  'BUG-105': () => {
    // A subscription has its endpoint, and what is in a message names no other.
    const told: string[] = []
    const stream = new EventStream({
      naming: { hash: 'cbor-fnv', blockTokens: 2, seed: '', mask: undefined }, model: '',
      change: (change) => told.push(`E1 ${change.kind}`),
      fault: (fault) => told.push(fault),
    })
    stream.take({ topic: 'kv@E2@m', sequence: 0n, payload: batch(stored([1], [1, 2])) })
    expect(told).toEqual(['E1 stored'])
  },
  'BUG-249': () => {
    const payload = Buffer.of(1)
    const read = [0, 7, 8, 9].map((length) => messageOf([Buffer.from('t'), Buffer.alloc(length, 0xff), payload])?.sequence)
    expect(read).toEqual([undefined, undefined, 18_446_744_073_709_551_615n, undefined])
    expect(messageOf([Buffer.from('t'), sequenceFrame(9_007_199_254_740_993n), payload])?.sequence).toBe(9_007_199_254_740_993n)
    expect(messageOf([Buffer.from('t'), sequenceFrame(1n)])).toBeUndefined()
  },
})
