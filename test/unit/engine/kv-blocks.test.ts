import { describe, expect, it } from 'vitest'
import type { CompletedConfiguration } from '../../../src/core/configuration.ts'
import { engineKeys, rootKey } from '../../../src/core/hash/engine-keys.ts'
import { AWAITED_TOKENS, shape, untokenized } from '../../../src/core/shape.ts'
import type { Input } from '../../../src/wire/input.ts'
import type { RequestShape } from '../../../src/wire/request.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { singleProfile } from '../../story/configuration.ts'
import { joined, left, received } from '../../story/inputs.ts'
import { target, World } from '../../story/world.ts'

const PRECISE = 'precise-prefix-cache-producer'

/** One scorer, which goes by the precise producer. */
const precise = (vllm = false): CompletedConfiguration => {
  const single = singleProfile()
  const plugins = single.plugins.filter(({ type }) => type !== 'approx-prefix-cache-producer' && type !== 'prefix-cache-scorer' && type !== 'token-producer' && type !== 'inflight-load-producer')
  return {
    ...single,
    plugins: [
      ...plugins,
      { name: 'token-producer', type: 'token-producer', parameters: vllm ? { modelName: 'm', vllm: { timeout: '2s', mmTimeout: '3s' } } : {} },
      { name: PRECISE, type: PRECISE, parameters: { tokenProcessorConfig: { blockSizeTokens: 4 }, speculativeIndexing: true } },
      { name: 'prefix-cache-scorer', type: 'prefix-cache-scorer', parameters: { prefixMatchInfoProducerName: PRECISE } },
    ],
    profiles: [{ name: 'default', filters: [], scorers: [{ plugin: 'prefix-cache-scorer', weight: 1 }], picker: 'max-score-picker' }],
    producers: ['token-producer', PRECISE],
  }
}

const ids = Uint32Array.from({ length: 16 }, (_, at) => at)
const keys = engineKeys('cbor-fnv', rootKey('cbor-fnv', '', 'm'), ids, 4, undefined)
const stored = (name: string, incarnation = '1', blockTokens = 4): Input => ({ input: { kind: 'kvBlocksStored', value: { endpoint: `default/${name}`, incarnation, keys, tier: 'gpu', blockTokens } } })
const cleared = (name: string): Input => ({ input: { kind: 'kvBlocksCleared', value: { endpoint: `default/${name}`, incarnation: '' } } })
const removed = (name: string): Input => ({ input: { kind: 'kvBlocksRemoved', value: { endpoint: `default/${name}`, incarnation: '', keys: keys.slice(8), tier: 'gpu' } } })
const shapeFor = (world: World): RequestShape => shape({ prompts: [{ tokenIds: ids, media: [] }], cacheSalt: '' }, 'm', world.engine.wanted()) as RequestShape

const held = (world: World): unknown => (world.engine.view.pipeline.plugins.find(({ typedName }) => typedName.type === PRECISE)?.dump?.() as { pods: unknown }).pods

describe('KV blocks', () => {
  it('given an endpoint that told of a prompt\'s blocks, when the prompt comes, then it is routed there', () => {
    for (const name of ['a', 'b', 'c']) {
      const world = new World(precise()).take(joined('a'), joined('b'), joined('c'), stored(name))
      expect(target(world.request(received('r', { shape: shapeFor(world) })).decision)).toBe(name)
    }
  })

  it('given reports of an endpoint that is gone, of an earlier life or of none, when taken, then they change nothing', () => {
    const world = new World(precise()).take(joined('a'), joined('b', '', '2'), stored('x'), stored('b', '1'))
    expect(held(world)).toEqual([])
    expect(held(world.take(stored('b', '2'), stored('a', '')))).toEqual([{ pod: 'default/a', blocks: 4 }, { pod: 'default/b', blocks: 4 }])
    expect(held(world.take(left('a'), removed('b')))).toEqual([{ pod: 'default/b', blocks: 1 }])
    expect(held(world.take(stored('a'), joined('b', '', '3')))).toEqual([])
  })

  it('given a cleared cache, when asked, then the other endpoint is as it was', () => {
    const world = new World(precise()).take(joined('a'), joined('b'), stored('a'), stored('b'), cleared('a'))
    expect(held(world)).toEqual([{ pod: 'default/b', blocks: 4 }])
  })

  it('given a saved state, when an engine is restored from it, then it knows the blocks, the speculative ones too, and decides alike', () => {
    const world = new World(precise()).take(joined('a'), joined('b'), stored('b'))
    world.request(received('r', { shape: shapeFor(world) }))
    const restored = Engine.restore(engineOptions(), world.engine.state())
    expect(restored.state()).toEqual(world.engine.state())
    const next = received('next', { shape: shapeFor(world) })
    expect(restored.step(next, world.at + 1).record).toEqual(world.engine.step(next, world.at + 1).record)
  })
})

describe('tokens that are counted elsewhere', () => {
  const produced = (request: number, counted: RequestShape | undefined, error = ''): Input => ({ input: { kind: 'attributesReported', value: { request, producer: 'token-producer', shape: counted, error } } })
  const waiting = (): { world: World; request: number } => {
    const world = new World(precise(true)).take(joined('a'), joined('b'), stored('b'))
    const request = world.step(received('r', { shape: untokenized(AWAITED_TOKENS) as RequestShape })).record.position
    return { world, request }
  }

  it('given a request whose tokens are awaited, when their shape comes, then it is routed by it, and not before', () => {
    const { world, request } = waiting()
    expect(world.effects.filter(({ kind }) => kind === 'routed')).toEqual([])
    const { decisions } = world.step(produced(request, shapeFor(world))).record
    expect(decisions[0] === undefined ? undefined : target(decisions[0])).toBe('b')
  })

  it('given an error in place of them, when it comes, then the request is routed without', () => {
    const { world, request } = waiting()
    expect(world.step(produced(request, undefined, 'the renderer answered 500')).record.decisions).toMatchObject([{ outcome: 'routed' }])
  })

  it('given no answer, when the producer\'s own time is over, then the request is routed without', () => {
    const { world } = waiting()
    world.pass(2999)
    expect(world.effects.filter(({ kind }) => kind === 'routed')).toEqual([])
    world.pass(1)
    expect(world.effects.filter(({ kind }) => kind === 'routed')).toHaveLength(1)
  })
})
