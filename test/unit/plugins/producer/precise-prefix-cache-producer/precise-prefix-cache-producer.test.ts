import { describe, expect, it } from 'vitest'
import { fromProducer, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo } from '../../../../../src/core/attribute.ts'
import type { Endpoint } from '../../../../../src/core/endpoint.ts'
import { engineKeys, rootKey } from '../../../../../src/core/hash/engine-keys.ts'
import type { MediaFeature, Request } from '../../../../../src/core/request.ts'
import { shape } from '../../../../../src/core/shape.ts'
import { type PrecisePrefixCacheProducer, precisePrefixCacheProducer } from '../../../../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import { context, Desk, endpoint, request } from '../../given.ts'

const TYPE = 'precise-prefix-cache-producer'
const tokens = (count: number, first = 0): Uint32Array => Uint32Array.from({ length: count }, (_, at) => first + at)

/** A producer with blocks of 4 tokens on a desk, with endpoints a, b and c. */
const given = (parameters: object = {}) => {
  const desk = new Desk()
  const producer = precisePrefixCacheProducer.create(context({ tokenProcessorConfig: { blockSizeTokens: 4 }, ...parameters }, [], TYPE)) as PrecisePrefixCacheProducer
  producer.setup(desk)
  const [a, b, c] = ['a', 'b', 'c'].map((name, slot) => endpoint(name, { slot })) as [Endpoint, Endpoint, Endpoint]
  const all = [a, b, c]
  const matchOf = (one: Endpoint): PrefixCacheMatchInfo | undefined => desk.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, TYPE)).get(one)
  const asking = (ids: Uint32Array, media: readonly MediaFeature[] = []): Request => request({ shape: shape({ prompts: [{ tokenIds: ids, media }], cacheSalt: '' }, 'm', producer.wants()) })
  const ask = (ids: Uint32Array, media?: readonly MediaFeature[]): (PrefixCacheMatchInfo | undefined)[] => {
    producer.produce(asking(ids, media), all)
    return all.map(matchOf)
  }
  return { desk, producer, a, b, c, all, ask, asking, matchOf }
}

/** The keys by which engines tell of the blocks of a prompt. */
const keysOf = (ids: Uint32Array): Uint8Array => engineKeys('cbor-fnv', rootKey('cbor-fnv', '', 'm'), ids, 4, undefined)
const block = (ids: Uint32Array, number: number): Uint8Array => keysOf(ids).slice(8 * number, 8 * number + 8)

describe('precise-prefix-cache-producer', () => {
  it('given blocks that an engine stored, when a prompt begins with them, then that endpoint matches as far as it holds them without a gap', () => {
    const { producer, a, b, ask } = given()
    producer.kvBlocksStored(a, keysOf(tokens(12)), 'gpu', 4)
    producer.kvBlocksStored(b, block(tokens(12), 0), 'gpu', 4)
    producer.kvBlocksStored(b, block(tokens(12), 2), 'gpu', 4)
    const [ofA, ofB, ofC] = ask(tokens(18))
    expect(ofA).toMatchObject({ matchBlocks: 3, totalBlocks: 4, blockSizeTokens: 4, cachedBlockCount: 3, mediaMatchBlocks: undefined })
    expect(ofB).toMatchObject({ matchBlocks: 1, cachedBlockCount: 1 })
    expect(ofC).toMatchObject({ matchBlocks: 0, totalBlocks: 4, cachedBlocksByTier: new Map() })
  })

  it('given blocks in slower memory, when matched, then each counts as much as its best tier, and the count of cached blocks is whole', () => {
    const { producer, a, b, ask } = given()
    producer.kvBlocksStored(a, keysOf(tokens(12)), 'CPU', 4)
    producer.kvBlocksStored(b, keysOf(tokens(12)), 'cpu', 4)
    producer.kvBlocksStored(b, block(tokens(12), 0), 'gpu', 4)
    const [ofA, ofB] = ask(tokens(12))
    expect(ofA).toMatchObject({ matchBlocks: 2, cachedBlockCount: 3, cachedBlocksByTier: new Map([['cpu', 3]]) })
    expect(ofB).toMatchObject({ matchBlocks: 2, cachedBlockCount: 3, cachedBlocksByTier: new Map([['gpu', 1], ['cpu', 3]]) })
  })

  it('given weights of tiers in the configuration, when matched, then they hold, and a tier without one counts whole', () => {
    const { producer, a, b, ask } = given({ indexerConfig: { kvCacheBackendConfigs: [{ name: 'disk', weight: 0.5 }] } })
    producer.kvBlocksStored(a, keysOf(tokens(16)), 'disk', 4)
    producer.kvBlocksStored(b, keysOf(tokens(16)), 'ssd', 4)
    expect(ask(tokens(16)).map((info) => info?.matchBlocks)).toEqual([2, 4, 0])
  })

  it('given a block stored twice, when removed once, then it is still held; when removed again, then not', () => {
    const { producer, a, ask } = given()
    producer.kvBlocksStored(a, keysOf(tokens(4)), 'gpu', 4)
    producer.kvBlocksStored(a, keysOf(tokens(4)), 'gpu', 4)
    producer.kvBlocksRemoved(a, keysOf(tokens(4)), 'gpu')
    expect(ask(tokens(4))[0]?.matchBlocks).toBe(1)
    producer.kvBlocksRemoved(a, keysOf(tokens(4)), 'gpu')
    expect(ask(tokens(4))[0]?.matchBlocks).toBe(0)
  })

  it('given an endpoint whose cache was cleared or which left, when asked, then it matches nothing and the others still do', () => {
    const { producer, a, b, c, ask } = given()
    for (const one of [a, b, c]) producer.kvBlocksStored(one, keysOf(tokens(8)), 'gpu', 4)
    producer.kvBlocksCleared(a)
    producer.endpointRemoved(b)
    expect(ask(tokens(8)).map((info) => info?.matchBlocks)).toEqual([0, 0, 2])
    expect(producer.index.size).toBe(2)
  })

  it('given another endpoint in the slot of one that left, when asked, then it does not inherit', () => {
    const { producer, a, asking, matchOf } = given()
    producer.kvBlocksStored(a, keysOf(tokens(8)), 'gpu', 4)
    const heir = endpoint('heir', { slot: a.slot })
    producer.kvBlocksRemoved(heir, keysOf(tokens(8)), 'gpu')
    producer.kvBlocksStored(heir, keysOf(tokens(4, 100)), 'gpu', 4)
    producer.produce(asking(tokens(8)), [heir])
    expect(matchOf(heir)?.matchBlocks).toBe(0)
  })

  it('given events of another block size, when taken, then they take no room', () => {
    const { producer, a } = given()
    producer.kvBlocksStored(a, keysOf(tokens(8)), 'gpu', 16)
    expect(producer.index.size).toBe(0)
  })

  it('given speculative indexing, when a prompt was sent, then its target matches at once, for two seconds', () => {
    const { producer, desk, a, b, ask, asking } = given({ speculativeIndexing: true })
    desk.time = 10_000_000
    producer.preRequest(asking(tokens(8)), { primary: 'decode', results: new Map([['decode', { endpoints: [a] }], ['prefill', { endpoints: [b] }]]) })
    desk.time += 1_999_999
    expect(ask(tokens(8)).map((info) => info?.matchBlocks)).toEqual([2, 2, 0])
    expect(ask(tokens(8))[0]?.cachedBlocksByTier).toEqual(new Map([['speculative', 2]]))
    producer.kvBlocksStored(a, block(tokens(8), 0), 'gpu', 4)
    desk.time += 1
    expect(ask(tokens(8)).map((info) => info?.matchBlocks)).toEqual([1, 0, 0])
    expect(producer.index.size).toBe(1)
  })

  it('given speculative indexing, when a peer tells what it sent where, then that endpoint matches at once, for two seconds', () => {
    const { producer, desk, a, b, c, ask } = given({ speculativeIndexing: true })
    desk.present = [a, b, c]
    desk.time = 10_000_000
    const told = (id: string, incarnation: string, kind = 'cbor-fnv') => ({
      request: 1, attempt: 1, profile: 'decode', endpoint: id, incarnation, promptTokens: 8, outputTokens: 0,
      blocks: [{ kind: 'approx', blockTokens: 4, keys: keysOf(tokens(4, 900)) }, { kind, blockTokens: 4, keys: keysOf(tokens(8)) }],
    })
    producer.peerLoad({ replica: 'r', opens: false, released: [], assigned: [told(a.id, a.incarnation), told(b.id, 'another life'), told('gone', ''), told(c.id, '', 'xxh64')] })
    desk.time += 1_999_999
    expect(ask(tokens(8)).map((info) => info?.matchBlocks)).toEqual([2, 0, 0])
    producer.peerGone('r')
    desk.time += 1
    expect(ask(tokens(8)).map((info) => info?.matchBlocks)).toEqual([0, 0, 0])
    expect(producer.index.size).toBe(0)
  })

  it('given no speculative indexing, when a prompt was sent, then nothing is taken to be held', () => {
    const { producer, a, asking } = given()
    producer.preRequest(asking(tokens(8)), { primary: 'decode', results: new Map([['decode', { endpoints: [a] }]]) })
    expect(producer.index.size).toBe(0)
  })

  it('given metrics are wanted, when blocks come, go and are looked up, then each is counted, and lookups are timed by whoever has a clock', () => {
    const { producer, desk, a, b, ask } = given({ indexerConfig: { kvBlockIndexConfig: { enableMetrics: true, inMemoryConfig: { size: 4 } } } })
    let seconds = 10
    producer.timeWith(() => (seconds += 0.25))
    producer.kvBlocksStored(a, keysOf(tokens(12)), 'gpu', 4)
    producer.kvBlocksStored(b, keysOf(tokens(8)), 'gpu', 4)
    producer.kvBlocksRemoved(a, block(tokens(12), 2), 'gpu')
    ask(tokens(18))
    const totals = new Map<string, number>()
    for (const { name, value } of desk.observations) totals.set(name, (totals.get(name) ?? 0) + value)
    expect(totals).toEqual(new Map([
      ['kv_cache_index_admissions_total', 5],
      // One was lost to the bound.
      ['kv_cache_index_evictions_total', 2],
      ['kv_cache_events_dedup_removed_hashes_forwarded_total', 1],
      ['kv_cache_index_lookup_requests_total', 1],
      ['kv_cache_index_lookup_hits_total', 2],
      ['kv_cache_index_max_pod_hit_count_total', 2],
      ['kv_cache_index_lookup_latency_seconds', 0.25],
    ]))
  })

  it('given no metrics of the index are wanted, then only removals are counted: those that take a block out of its tier, and those that only lower its count', () => {
    const { producer, desk, a, ask, asking } = given({ speculativeIndexing: true })
    for (const tier of ['gpu', 'gpu', 'cpu']) producer.kvBlocksStored(a, keysOf(tokens(12)), tier, 4)
    ask(tokens(12))
    producer.kvBlocksRemoved(a, keysOf(tokens(12)), 'gpu')
    producer.kvBlocksRemoved(a, keysOf(tokens(8)), 'gpu')
    producer.kvBlocksRemoved(a, keysOf(tokens(4)), 'cpu')
    // What nobody has is neither, and so is the end of a guess.
    producer.kvBlocksRemoved(a, keysOf(tokens(4)), 'gpu')
    producer.preRequest(asking(tokens(12)), { primary: 'decode', results: new Map([['decode', { endpoints: [a] }]]) })
    desk.time += 10_000_000
    ask(tokens(12))
    expect(producer.index.size).toBe(2)
    expect(desk.observations.map(({ name, value }) => [name, value])).toEqual([
      ['kv_cache_events_dedup_removed_hashes_suppressed_total', 3],
      ['kv_cache_events_dedup_removed_hashes_forwarded_total', 2],
      ['kv_cache_events_dedup_removed_hashes_forwarded_total', 1],
    ])
  })

  it('given media in a prompt, when matched, then the blocks in which they lie are counted apart', () => {
    const { producer, a, ask } = given()
    const media = [{ modality: 'image', hash: 'cafe', offset: 5, length: 4 }]
    const keys = engineKeys('cbor-fnv', rootKey('cbor-fnv', '', 'm'), tokens(12), 4, [[], ['cafe'], ['cafe']])
    producer.kvBlocksStored(a, keys.slice(0, 16), 'gpu', 4)
    const [ofA, ofB] = ask(tokens(12), media)
    expect(ofA).toMatchObject({ matchBlocks: 2, mediaMatchBlocks: 1 })
    expect(ofB).toMatchObject({ matchBlocks: 0, mediaMatchBlocks: 0 })
    expect(ask(tokens(12))[0]).toMatchObject({ matchBlocks: 1, mediaMatchBlocks: undefined })
  })

  it('given keys of another kind in the shape, when asked, then the match is 0 of 0', () => {
    const { producer, a, matchOf } = given()
    producer.produce(request({ shape: shape({ prompts: [{ tokenIds: tokens(8), media: [] }], cacheSalt: '' }, 'm', [{ kind: 'xxh64', blockTokens: 4, maxBlocks: undefined }]) }), [a])
    expect(matchOf(a)).toMatchObject({ matchBlocks: 0, totalBlocks: 0 })
  })

  it('given a bound, when more is stored, then the endpoint that stores loses what it stored first', () => {
    const { producer, a, b, ask } = given({ indexerConfig: { kvBlockIndexConfig: { inMemoryConfig: { size: 3 } } } })
    producer.kvBlocksStored(b, keysOf(tokens(4)), 'gpu', 4)
    producer.kvBlocksStored(a, keysOf(tokens(4, 50)), 'gpu', 4)
    producer.kvBlocksStored(a, keysOf(tokens(8, 100)), 'gpu', 4)
    expect(producer.index.size).toBe(3)
    expect(ask(tokens(4)).map((info) => info?.matchBlocks)).toEqual([0, 1, 0])
    expect(ask(tokens(4, 50))[0]?.matchBlocks).toBe(0)
    expect(ask(tokens(8, 100))[0]?.matchBlocks).toBe(2)
  })

  it('given its saved state, when another one loads it, then it answers alike, saves the same bytes, and forgets in time', () => {
    const first = given({ speculativeIndexing: true })
    first.desk.time = 5_000_000_000_000
    first.producer.kvBlocksStored(first.a, keysOf(tokens(12)), 'gpu', 4)
    first.producer.kvBlocksStored(first.b, keysOf(tokens(12)), 'disk', 4)
    first.producer.preRequest(first.asking(tokens(8, 40)), { primary: 'p', results: new Map([['p', { endpoints: [first.b] }]]) })
    const second = given({ speculativeIndexing: true })
    second.producer.load(first.producer.save(), second.all)
    second.desk.time = first.desk.time
    expect(second.producer.save()).toEqual(first.producer.save())
    expect(second.ask(tokens(12))).toEqual(first.ask(tokens(12)))
    expect(second.ask(tokens(8, 40))[1]?.matchBlocks).toBe(2)
    second.desk.time += 2_000_000
    expect(second.ask(tokens(8, 40))[1]?.matchBlocks).toBe(0)
    const third = given()
    third.producer.load(first.producer.save(), [third.a])
    expect(third.producer.dump()).toEqual({ pods: [{ pod: 'default/a', blocks: 3 }], totalPods: 1, maxPods: 100, blocks: 3, maxBlocks: 16_777_216, speculativePrompts: 0 })
  })

  it.each([[Uint8Array.of(1, 2, 3)], [new Uint8Array(4)], [Uint8Array.of(1, 0, 0, 0, 255, 255, 255, 127)], [Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0)]])('given damaged state %j, when loaded, then it is refused', (state) => {
    expect(() => given().producer.load(state, [])).toThrow(/damaged/)
  })
})

describe('its parameters', () => {
  const made = (parameters: unknown): PrecisePrefixCacheProducer => precisePrefixCacheProducer.create(context(parameters, [], TYPE)) as PrecisePrefixCacheProducer

  it.each([
    [undefined, { kind: 'cbor-fnv', blockTokens: 16, seed: '' }],
    [{ tokenProcessorConfig: { blockSize: 64, hashSeed: '42' } }, { kind: 'cbor-fnv', blockTokens: 64, seed: '42' }],
    [{ tokenProcessorConfig: { blockSize: 64, blockSizeTokens: 32, hashAlgorithm: 'xxh64' } }, { kind: 'xxh64', blockTokens: 32, seed: '' }],
  ])('given %j, then it wants %j', (parameters, wanted) => {
    expect(made(parameters).wants()).toMatchObject([wanted])
  })

  it('given a size in bytes, then the bound is that over what a block takes', () => {
    expect(made({ indexerConfig: { kvBlockIndexConfig: { costAwareMemoryConfig: { size: '72KB' } } } }).index.max).toBe(1000)
    expect(made({ indexerConfig: { kvBlockIndexConfig: { costAwareMemoryConfig: {} } } }).index.max).toBe(16_777_216)
  })

  it.each([
    [{ tokenProcessorConfig: { blockSizeTokens: 0 } }, 'blockSizeTokens must be greater than 0'],
    [{ tokenProcessorConfig: { hashAlgorithm: 'md5' } }, 'hashAlgorithm must be "cbor-fnv" or "xxh64", got "md5"'],
    [{ kvEventsConfig: { engineType: 'other' } }, 'engineType must be "vllm" or "sglang"'],
    [{ kvEventsConfig: { podDiscoveryConfig: { socketPort: 70_000 } } }, 'socketPort must be a port'],
    [{ indexerConfig: { kvBlockIndexConfig: { redisConfig: { address: 'r:1' } } } }, 'the index is kept in this process'],
    [{ indexerConfig: { kvBlockIndexConfig: { costAwareMemoryConfig: { size: 'much' } } } }, 'size must be a number of bytes such as "2GiB"'],
    [{ specultiveIndexing: true }, 'did you mean'],
  ])('given %j, then they are refused: %s', (parameters, message) => {
    expect(() => made(parameters)).toThrow(message)
  })
})
