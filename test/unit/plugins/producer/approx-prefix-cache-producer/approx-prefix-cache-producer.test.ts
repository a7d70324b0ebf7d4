import { describe, expect, it } from 'vitest'
import { PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo } from '../../../../../src/core/attribute.ts'
import type { PeerAssignment, PeerLoadReport } from '../../../../../src/core/contract.ts'
import type { Endpoint } from '../../../../../src/core/endpoint.ts'
import type { Request } from '../../../../../src/core/request.ts'
import { shape, untokenized } from '../../../../../src/core/shape.ts'
import { type ApproxPrefixCacheProducer, approxPrefixCacheProducer, multiclusterApproxPrefixCacheProducer } from '../../../../../src/plugins/producer/approx-prefix-cache-producer/index.ts'
import { context, Desk, endpoint, request } from '../../given.ts'

const TYPE = 'approx-prefix-cache-producer'

/** A producer on a desk, with endpoints a, b and c. */
const given = (parameters: unknown = {}) => {
  const desk = new Desk()
  const producer = approxPrefixCacheProducer.create(context(parameters, [], TYPE)) as ApproxPrefixCacheProducer
  producer.setup(desk)
  const [a, b, c] = ['a', 'b', 'c'].map((name, slot) => endpoint(name, { slot })) as [Endpoint, Endpoint, Endpoint]
  const matchOf = (one: Endpoint): PrefixCacheMatchInfo | undefined => desk.reader(PREFIX_CACHE_MATCH_INFO).get(one)
  return { desk, producer, a, b, c, all: [a, b, c], matchOf }
}

const prompt = (tokens: number, first = 0): Uint32Array => Uint32Array.from({ length: tokens }, (_, i) => first + i)

const asking = (producer: ApproxPrefixCacheProducer, candidates: readonly Endpoint[], ...prompts: readonly Uint32Array[]): Request =>
  request({ shape: shape({ prompts: prompts.map((tokenIds) => ({ tokenIds, media: [] })), cacheSalt: '' }, 'm', producer.wants(candidates)) })

const send = (producer: ApproxPrefixCacheProducer, one: Request, candidates: readonly Endpoint[], target: Endpoint, prefill?: Endpoint): void => {
  producer.produce(one, candidates)
  const results = new Map([['decode', { endpoints: [target] }]])
  if (prefill !== undefined) results.set('prefill', { endpoints: [prefill] })
  producer.preRequest(one, { primary: 'decode', results })
}

describe('approx-prefix-cache-producer', () => {
  it('given a prompt that was sent somewhere, when asked again, then that endpoint matches and the others share one value', () => {
    const { producer, a, b, c, all, matchOf } = given()
    send(producer, asking(producer, all, prompt(640)), all, b)
    producer.produce(asking(producer, all, prompt(640)), all)
    expect(matchOf(b)).toMatchObject({ matchBlocks: 10, totalBlocks: 10, blockSizeTokens: 64, cachedBlockCount: 10 })
    expect(matchOf(a)).toMatchObject({ matchBlocks: 0, totalBlocks: 10 })
    expect(matchOf(a)).toBe(matchOf(c))
  })

  it('given its name, when it publishes, then under that name', () => {
    expect(given().producer.produces()).toEqual([{ dataType: 'PrefixCacheMatchInfoDataKey', producer: TYPE }])
    expect(approxPrefixCacheProducer.create(context({}, [], 'other')).produces?.()).toMatchObject([{ producer: 'other' }])
  })

  it.each([
    [{}, 0, [{ kind: 'approx', blockTokens: 64, maxBlocks: 2048 }]],
    [{}, 128, [{ kind: 'approx', blockTokens: 128, maxBlocks: 1024 }]],
    [{ autoTune: false, blockSizeTokens: 100 }, 128, [{ kind: 'approx', blockTokens: 100, maxBlocks: 1310 }]],
    [{ maxPrefixTokensToMatch: 0 }, 0, [{ kind: 'approx', blockTokens: 64, maxBlocks: 2048 }]],
    [{ maxPrefixTokensToMatch: 0, maxPrefixBlocksToMatch: 0 }, 0, [{ kind: 'approx', blockTokens: 64, maxBlocks: undefined }]],
    [{ maxPrefixTokensToMatch: 63 }, 0, []],
    [{ maxPrefixTokensToMatch: 0, maxPrefixBlocksToMatch: -1 }, 0, []],
  ])('given %j and a first candidate with blocks of %i, when asked, then it wants %j', (parameters, cacheBlockSize, wanted) => {
    expect(given(parameters).producer.wants([endpoint('x', { cacheBlockSize }), endpoint('y', { cacheBlockSize: 999 })])).toEqual(wanted)
  })

  it('given keys of another block size than is wanted now, when asked, then the match is 0 of 0', () => {
    const { producer, a, all, matchOf } = given()
    const early = asking(producer, all, prompt(640))
    a.cacheBlockSize = 128
    producer.produce(early, all)
    expect(matchOf(a)).toMatchObject({ matchBlocks: 0, totalBlocks: 0, blockSizeTokens: 128 })
  })

  it('given a request without tokens, when asked, then the match is 0 of 0', () => {
    const { producer, a, all, matchOf } = given()
    producer.produce(request({ shape: untokenized('why') }), all)
    expect(matchOf(a)).toMatchObject({ matchBlocks: 0, totalBlocks: 0, blockSizeTokens: 64 })
  })

  it('given keys of a longer prompt than is to be matched, when asked, then the rest is left out', () => {
    const { producer, a, all, matchOf } = given({ maxPrefixTokensToMatch: 128 })
    const long = request({ shape: shape({ prompts: [{ tokenIds: prompt(640), media: [] }], cacheSalt: '' }, 'm', [{ kind: 'approx', blockTokens: 64, maxBlocks: undefined }]) })
    send(producer, long, all, a)
    expect(matchOf(a)?.totalBlocks).toBe(2)
    expect(producer.index.size).toBe(2)
  })

  it('given a prefill endpoint, when sent, then it holds the prompt too, and encode endpoints do not', () => {
    const { producer, a, b, c, all } = given()
    const one = asking(producer, all, prompt(128))
    producer.produce(one, all)
    const results = new Map([['decode', { endpoints: [a, c] }], ['prefill', { endpoints: [b] }], ['encode', { endpoints: [c] }]])
    producer.preRequest(one, { primary: 'decode', results })
    expect(producer.dump()).toMatchObject({ pods: [{ pod: 'default/a', blocks: 2 }, { pod: 'default/b', blocks: 2 }], totalPods: 2 })
  })

  it('given a request that it did not see, or one sent twice, when dispatched, then nothing is learned', () => {
    const { producer, a, all } = given()
    const one = asking(producer, all, prompt(128))
    const result = { primary: 'decode', results: new Map([['decode', { endpoints: [a] }]]) }
    producer.preRequest(one, result)
    expect(producer.index.size).toBe(0)
    send(producer, one, all, a)
    producer.endpointRemoved(a)
    producer.preRequest(one, result)
    expect(producer.index.size).toBe(0)
  })

  it('given a retry, when produced and sent again, then both endpoints hold the prompt', () => {
    const { producer, a, b, all } = given()
    const one = asking(producer, all, prompt(128))
    send(producer, one, all, a)
    send(producer, one, all, b)
    expect(producer.dump()).toMatchObject({ totalPods: 2 })
  })

  it('given an endpoint that leaves, when asked, then it holds nothing, and whoever gets its slot begins empty', () => {
    const { producer, a, all, matchOf } = given()
    send(producer, asking(producer, all, prompt(128)), all, a)
    producer.endpointRemoved(a)
    const heir = endpoint('heir', { slot: a.slot })
    producer.produce(asking(producer, [heir], prompt(128)), [heir])
    expect(matchOf(heir)).toMatchObject({ matchBlocks: 0, totalBlocks: 2 })
    expect(producer.dump()).toEqual({ pods: [], totalPods: 0, maxPods: 100 })
  })

  it('given a batch longer than the capacity, when sent, then what fell out is not found, nor after the endpoint left', () => {
    const { producer, a, all, matchOf } = given({ lruCapacityPerServer: 2, autoTune: false, blockSizeTokens: 64 })
    send(producer, asking(producer, all, prompt(256)), all, a)
    producer.produce(asking(producer, all, prompt(256)), all)
    expect(matchOf(a)).toMatchObject({ matchBlocks: 0, totalBlocks: 4 })
    expect(producer.index.size).toBe(2)
    producer.endpointRemoved(a)
    expect(producer.index.distinct).toBe(0)
  })

  it('given a restart, when the state is loaded, then it answers as before, and saves the same bytes', () => {
    const { producer, a, b, c, all } = given()
    send(producer, asking(producer, all, prompt(640)), all, a)
    send(producer, asking(producer, all, prompt(640), prompt(128, 9)), all, b, c)
    const after = given()
    const saved = producer.save()
    after.producer.load(saved, after.all)
    expect(after.producer.save()).toEqual(saved)
    after.producer.produce(asking(after.producer, after.all, prompt(640), prompt(128, 9)), after.all)
    expect(after.all.map((one) => after.matchOf(one)?.matchBlocks)).toEqual([10, 12, 12])
  })

  describe('what peers sent', () => {
    const told = (target: Endpoint, one: Request, more: Partial<PeerAssignment> = {}): PeerAssignment =>
      ({ request: 1, attempt: 1, profile: 'decode', endpoint: target.id, incarnation: '', promptTokens: 0, outputTokens: 0, blocks: one.shape.prompts.flatMap(({ blocks }) => blocks), ...more })
    const report = (...assigned: readonly PeerAssignment[]): PeerLoadReport => ({ replica: 'r2', opens: false, assigned, released: [] })

    it('given the same prompts in the same order, then the index is as if this replica had sent them, to the byte', () => {
      const [own, peer] = [given({ lruCapacityPerServer: 7 }), given({ lruCapacityPerServer: 7 })]
      peer.desk.present = peer.all
      for (const [first, at] of [[0, 0], [5, 1], [0, 1], [9, 0], [5, 0]] as const) {
        const one = asking(own.producer, own.all, prompt(256, first), prompt(128, 100 + first))
        send(own.producer, one, own.all, own.all[at] as Endpoint)
        peer.producer.peerLoad(report(told(peer.all[at] as Endpoint, one)))
      }
      expect(peer.producer.save()).toEqual(own.producer.save())
      peer.producer.peerGone('r2')
      expect(peer.producer.save()).toEqual(own.producer.save())
    })

    it('given keys of another kind or block size, an endpoint that has not joined or another life of it, then nothing is learned', () => {
      const { desk, producer, all, a } = given()
      const one = asking(producer, all, prompt(256))
      producer.peerLoad(report(told(a, one)))
      desk.present = all
      const [block] = one.shape.prompts[0]?.blocks ?? []
      if (block === undefined) throw new Error('no keys')
      producer.peerLoad(report(told(a, one, { endpoint: 'default/none' }), told(a, one, { blocks: [{ ...block, blockTokens: 32 }] }), told(a, one, { blocks: [{ ...block, kind: 'xxh64' }] })))
      const living = endpoint('z', { slot: 9, incarnation: 'two' })
      desk.present = [...all, living]
      producer.peerLoad(report(told(living, one, { incarnation: 'one' })))
      expect(producer.index.size).toBe(0)
      producer.peerLoad(report(told(living, one, { incarnation: 'two' })))
      expect(producer.index.size).toBe(4)
    })

    it('given more keys than are to be matched, and a broken last one, then the head is learned', () => {
      const { desk, producer, all, a } = given({ maxPrefixTokensToMatch: 128 })
      desk.present = all
      producer.peerLoad(report(told(a, asking(producer, all), { blocks: [{ kind: 'approx', blockTokens: 64, keys: new Uint8Array(12) }] })))
      expect(producer.index.size).toBe(1)
      producer.peerLoad(report(told(a, asking(producer, all), { blocks: [{ kind: 'approx', blockTokens: 64, keys: Uint8Array.from({ length: 80 }, (_, at) => at) }] })))
      expect(producer.index.size).toBe(3)
    })
  })

  it('given a dispatch, when measured, then ratio, bytes and size are observed under its name and type', () => {
    const { desk, producer, a, all } = given()
    send(producer, asking(producer, all, prompt(128)), all, a)
    desk.observations.length = 0
    send(producer, asking(producer, all, prompt(320)), all, a)
    const labels = { plugin_name: TYPE, plugin_type: TYPE }
    expect(desk.observations).toEqual([
      { kind: 'histogram', name: 'prefix_indexer_hit_ratio', labels, value: 0.4 },
      { kind: 'histogram', name: 'prefix_indexer_hit_bytes', labels, value: 512 },
      { kind: 'gauge', name: 'prefix_indexer_size', labels, value: 5 },
    ])
  })

  it('given the variant across clusters, when made, then it reports its own type and is not settled yet', () => {
    expect(multiclusterApproxPrefixCacheProducer.create(context({}, [], 'mc')).typedName).toEqual({ type: 'multicluster-approx-prefix-cache-producer', name: 'mc' })
    expect(multiclusterApproxPrefixCacheProducer.stability).toBe('alpha')
  })
})
