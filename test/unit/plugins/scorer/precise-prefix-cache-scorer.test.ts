import { describe, expect, it } from 'vitest'
import { fromProducer, PREFIX_CACHE_MATCH_INFO } from '../../../../src/core/attribute.ts'
import { engineKeys, rootKey } from '../../../../src/core/hash/engine-keys.ts'
import { shape } from '../../../../src/core/shape.ts'
import type { PrecisePrefixCacheProducer } from '../../../../src/plugins/producer/precise-prefix-cache-producer/index.ts'
import { precisePrefixCacheScorer } from '../../../../src/plugins/scorer/precise-prefix-cache-scorer/index.ts'
import type { Scorer } from '../../../../src/core/contract.ts'
import { context, Desk, endpoint, request } from '../given.ts'

const tokens = (count: number): Uint32Array => Uint32Array.from({ length: count }, (_, at) => at)

describe('precise-prefix-cache-scorer', () => {
  it('given blocks that engines hold, when asked, then each endpoint scores its share of the prompt, and the match is published under its name', () => {
    const desk = new Desk()
    const making = context({ tokenProcessorConfig: { blockSizeTokens: 4 } }, [], 'mine')
    const scorer = precisePrefixCacheScorer.create(making) as PrecisePrefixCacheProducer & Scorer
    scorer.setup(desk)
    const [a, b, c] = ['a', 'b', 'c'].map((name, slot) => endpoint(name, { slot })) as [ReturnType<typeof endpoint>, ReturnType<typeof endpoint>, ReturnType<typeof endpoint>]
    const keys = engineKeys('cbor-fnv', rootKey('cbor-fnv', '', 'm'), tokens(16), 4, undefined)
    scorer.kvBlocksStored(a, keys, 'gpu', 4)
    scorer.kvBlocksStored(b, keys.subarray(0, 8), 'gpu', 4)
    const asked = request({ shape: shape({ prompts: [{ tokenIds: tokens(17), media: [] }], cacheSalt: '' }, 'm', scorer.wants()) })
    scorer.produce(asked, [a, b, c])
    const out = new Float64Array(2)
    scorer.score(asked, [b, c], out)
    expect([...out]).toEqual([0.25, 0])
    scorer.score(asked, [a, c], out)
    expect([...out]).toEqual([1, 0])
    expect(desk.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, 'mine')).get(a)).toMatchObject({ matchBlocks: 4, totalBlocks: 4 })
    scorer.produce(request({ shape: shape({ prompts: [{ tokenIds: tokens(3), media: [] }], cacheSalt: '' }, 'm', scorer.wants()) }), [a, b, c])
    scorer.score(asked, [a, b], out)
    expect([...out]).toEqual([0, 0])
    expect(making.warnings.join()).toContain('use precise-prefix-cache-producer')
  })
})
