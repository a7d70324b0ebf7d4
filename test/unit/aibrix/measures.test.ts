import { describe, expect, it } from 'vitest'
import { routingBlocksKind, routingKeys, routingTextOf } from '../../../src/aibrix/index.ts'
import { EndpointMeter } from '../../../src/plugins/producer/aibrix-metrics-producer/endpoint-meter.ts'
import { CUSTOM_METRICS } from '../../../src/plugins/producer/aibrix-metrics-producer/index.ts'
import { cl100k } from '../../../src/app/cl100k.ts'
import { endpoint } from '../plugins/given.ts'

const SECOND = 1_000_000

describe('the meter of an endpoint', () => {
  it('knows nothing at first', () => {
    expect(Object.values(new EndpointMeter(0).metrics(endpoint('e'), undefined, 1)).filter((value) => value !== undefined)).toEqual([])
  })

  it('takes the rate of a token counter between two scrapes, also when it began anew', () => {
    const meter = new EndpointMeter(0)
    const heard = (tokens: number, seconds: number): number | undefined => {
      const e = endpoint('e')
      e.custom = new Map([[CUSTOM_METRICS.generationTokens, tokens]])
      meter.heard(e, seconds * SECOND)
      return meter.metrics(e, undefined, seconds * SECOND).generationThroughput
    }
    expect([heard(100, 1), heard(300, 3), heard(300, 4), heard(50, 5)]).toEqual([undefined, 100, 0, 50])
  })

  it('drains as fast as requests complete, by the engine\'s counter where it tells one', () => {
    const own = new EndpointMeter(0)
    for (let second = 1; second <= 20; second++) own.completed(second * SECOND)
    expect(own.metrics(endpoint('e'), 0, 20 * SECOND).drainRate1m).toBe(1)
    const e = endpoint('e')
    const told = new EndpointMeter(0)
    for (const [completed, second] of [[0, 0], [30, 10], [60, 20]] as const) {
      e.custom = new Map([[CUSTOM_METRICS.completed, completed]])
      told.heard(e, second * SECOND)
    }
    expect(told.metrics(e, 0, 20 * SECOND)).toMatchObject({ drainRate1m: 3, queueDrainRate1m: 3 })
  })

  it('is the same again from what it saved', () => {
    const meter = new EndpointMeter(5)
    for (let second = 1; second <= 200; second++) meter.completed(second * SECOND)
    const again = EndpointMeter.load(JSON.parse(JSON.stringify(meter.save())) as ReturnType<EndpointMeter['save']>)
    expect(again.save()).toEqual(meter.save())
    expect(again.metrics(endpoint('e'), 1, 201 * SECOND)).toEqual(meter.metrics(endpoint('e'), 1, 201 * SECOND))
  })
})

describe('the routing text', () => {
  it.each([
    ['chat', '{"messages":[{"role":"system","content":"a b"},{"role":"user","content":[{"type":"text",  "text":"c"}]},{"role":"user","content":null},{}]}', 'a b [{"type":"text",  "text":"c"}]'],
    ['completions', '{"prompt":"say \\u00e9"}', 'say é'],
    ['completions', '{"prompt":[1,2]}', ''],
    ['responses', '{"input":"hello"}', 'hello'],
    ['responses', '{"input":[{"content":"x"},"y"]}', 'x y'],
    ['embeddings', '{"input":"hello"}', ''],
    ['chat', '{}', ''],
  ])('of %s %s is %j', (api, body, text) => expect(routingTextOf(api, body)).toBe(text))

  it('is told by hashes and lengths only, which a secret hides', () => {
    const wish = [{ kind: routingBlocksKind('character', '0'), blockTokens: 4 }, { kind: 'cl100k_base', blockTokens: 1 }, { kind: 'approx', blockTokens: 4 }]
    const keys = routingKeys('hello world <|endoftext|>', wish, cl100k)
    expect(keys.map(({ kind, blockTokens }) => [kind, blockTokens])).toEqual([['aibrix/character/0', 4], ['aibrix-bytes', 25], ['cl100k_base', 8]])
    const hidden = routingKeys('hello world <|endoftext|>', wish, cl100k, new Uint8Array(16).fill(7))
    expect(hidden[0]?.keys).not.toEqual(keys[0]?.keys)
    const tokens = routingKeys('hello world', [{ kind: routingBlocksKind('tiktoken', '0'), blockTokens: 4 }], cl100k)
    expect(tokens[0]?.keys).toHaveLength(16)
  })
})
