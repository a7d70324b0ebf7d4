import { describe, expect, it } from 'vitest'
import { durationBucket, goDuration, labelExpression, tokenBucket, totalBucket } from '../../../src/aibrix/index.ts'
import type { Observation } from '../../../src/core/contract.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { failed, sent, started } from '../../story/inputs.ts'
import type { Input } from '../../../src/wire/input.ts'
import { emptyUsage } from '../../../src/wire/request.ts'
import { World } from '../../story/world.ts'
import { aibrixConfiguration, pdEndpoint, prompted, stageEnded } from './story.ts'

const MS = 1000

describe('the names of buckets', () => {
  it.each([
    [-5 * MS, '0-1ms'], [0, '0-1ms'], [999, '0-1ms'], [MS, '1-2ms'], [1999, '1-2ms'], [2 * MS, '2-5ms'], [5 * MS, '5-10ms'], [10 * MS, '10-20ms'], [20 * MS, '20-50ms'], [50 * MS, '50-100ms'],
    [100 * MS, '100-200ms'], [200 * MS, '200-500ms'], [500 * MS, '500-1000ms'], [1000 * MS, '1000-2000ms'], [2000 * MS, '2000-5000ms'], [4_999_999, '2000-5000ms'], [5000 * MS, '5000ms+'],
  ])('a phase of %i µs is in %s', (us, name) => expect(durationBucket(us)).toBe(name))

  it.each([[0, '0-100ms'], [100, '100-250ms'], [250, '250-500ms'], [500, '500-1000ms'], [1000, '1000-5000ms'], [5000, '5000-20000ms'], [20_000, '20000-60000ms'], [60_000, '60000ms+']])('a request of %i ms is in %s', (ms, name) =>
    expect(totalBucket(ms * MS)).toBe(name))

  it.each([[0, '0-256'], [255, '0-256'], [256, '256-512'], [32_767, '16384-32768'], [32_768, '32768+']])('%i tokens are in %s', (tokens, name) => expect(tokenBucket(tokens)).toBe(name))
})

describe('a duration as Go writes it', () => {
  it.each([
    [0, '0s'], [1, '1µs'], [999, '999µs'], [1000, '1ms'], [1500, '1.5ms'], [123_456, '123.456ms'], [1_000_000, '1s'], [2_000_345, '2.000345s'], [-1_500_000, '-1.5s'],
    [60_000_000, '1m0s'], [62_500_000, '1m2.5s'], [3_600_000_000, '1h0m0s'], [5_025_000_000, '1h23m45s'],
  ])('%i µs is %s', (us, text) => expect(goDuration(us)).toBe(text))
})

describe('a label selector', () => {
  const labels = new Map([['tier', 'a'], ['zone', ''], ['a.b/c-d', 'x_y'], ['size', '7']])
  it.each([
    ['', true], ['  ', true], ['tier', true], ['!tier', false], ['!spare', true], ['spare', false],
    ['tier=a', true], ['tier == a', true], ['tier=b', false], ['tier!=b', true], ['spare!=b', true], ['zone=', true], ['zone', true], ['zone=,tier=a', true],
    ['tier in (a,b)', true], ['tier in(b)', false], ['tier notin (b, c)', true], ['spare notin (b)', true], ['spare in (b)', false], ['zone in (,x)', true],
    ['a.b/c-d = x_y', true], ['size>6', true], ['size > 7', false], ['size<8,size>6', true], ['tier>1', false], ['spare<1', false],
    ['tier=a,size>9', false],
  ])('%j: %s', (selector, matches) => expect(labelExpression(selector)(labels)).toBe(matches))

  it.each(['=a', 'tier=a,', ',', 'tier in', 'tier in a', 'tier in ()', 'tier in (a', 'tier in (a b)', 'tier=a b', 'tier=-a', 'size>x', '!', '!!a', 'a=b=c', '/a', 'A/b', 'tier=ä', `${'a'.repeat(64)}=b`, '(tier)'])(
    '%j is none', (selector) => expect(() => labelExpression(selector)).toThrow(/found|expected|no name|no value|must be|cannot read/))
})

interface Told {
  readonly world: World
  readonly observations: Observation[]
}

const fleet = (parameters: Readonly<Record<string, unknown>> = {}, engine = 'vllm'): Told => {
  const observations: Observation[] = []
  const world = new World(aibrixConfiguration(parameters), 'table', 7n, (observation) => observations.push(observation)).take(
    pdEndpoint('p1', 'prefill', 'rs1', { labels: { 'model.aibrix.ai/engine': engine } }), pdEndpoint('d1', 'decode', 'rs1', { labels: { 'model.aibrix.ai/engine': engine } }))
  return { world, observations }
}

const ended = (request: number, completionTokens: number): Input => ({
  input: { kind: 'responseEnded', value: { request, attempt: 1, cause: 'natural', status: 200, bodyBytes: 1, usage: { ...emptyUsage(), promptTokens: 300, completionTokens, totalTokens: 300 + completionTokens } } },
})

/** The buckets that were counted, by the part of the name that differs. */
const bucketsOf = (observations: readonly Observation[]): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(observations.filter(({ name }) => name.endsWith('_bucket_total')).map(({ name, labels }) => [name.replace(/^gateway_|_bucket_total$/g, ''), labels['bucket']]))

describe('the phases of a request', () => {
  it('are counted in buckets when its response is whole, with the labels of its decode endpoint', () => {
    const { world, observations } = fleet({ gatewayPod: 'gw' })
    const { key } = world.request(prompted('r1', 'hello world'))
    world.step(stageEnded(key), 30)
    world.step(sent(key), 0)
    world.step(started(key), 60)
    expect(bucketsOf(observations)).toEqual({})
    world.step(ended(key, 10), 300)
    expect(bucketsOf(observations)).toEqual({
      routing_time: '0-1ms', prefill_time: '20-50ms', kv_transfer_time: '50-100ms', ttft: '50-100ms', decode_time: '200-500ms', tpot: '20-50ms', total_time: '250-500ms',
    })
    expect(observations.find(({ name }) => name === 'gateway_decode_time_bucket_total')?.labels).toEqual({
      bucket: '200-500ms', engine_type: 'vllm', gateway_pod: 'gw', model: 'm', namespace: 'default', pod: 'd1', role: 'decode', role_replica_index: '', roleset: 'rs1',
    })
    expect(observations.some(({ name }) => name === 'gateway_first_token_delay_over_1s_total')).toBe(false)
  })

  it('of a late first token are told one by one', () => {
    const { world, observations } = fleet({ firstTokenThreshold: 2 })
    const { key } = world.request(prompted('r1', 'hello world'))
    world.step(stageEnded(key), 1500)
    world.step(sent(key), 0)
    world.step(started(key), 501)
    world.step(ended(key, 10), 62_500)
    expect(observations.find(({ name }) => name === 'gateway_first_token_delay_over_1s_total')?.labels).toEqual({
      gateway_pod: '', model: 'm', request_id: 'r1', p_bucket: '256-512', c_bucket: '0-256',
      routing_time_taken: '0s', prefill_time_taken: '1.5s', kv_transfer_time_taken: '501ms', ttft: '2.001s', decode_time_taken: '1m2.5s',
    })
  })

  it('of SGLang, whose decode runs beside the prefill, are fewer', () => {
    const { world, observations } = fleet({}, 'sglang')
    const { key } = world.request(prompted('r1', 'hello world'))
    world.take(sent(key), stageEnded(key), started(key), ended(key, 10))
    expect(Object.keys(bucketsOf(observations)).sort()).toEqual(['routing_time', 'total_time', 'ttft'])
  })

  it('of what failed are not counted, and nothing of it stays', () => {
    const { world, observations } = fleet()
    const { key } = world.request(prompted('r1', 'hello world'))
    world.take(stageEnded(key), sent(key), failed(key, 1, 'd1', 'reset', false))
    expect(bucketsOf(observations)).toEqual({})
    expect(world.engine.view.requests.size).toBe(0)
  })

  it('go on from a saved state', () => {
    const { world } = fleet()
    const { key } = world.request(prompted('r1', 'hello world'))
    world.step(stageEnded(key), 30)
    const observations: Observation[] = []
    const restored = Engine.restore(engineOptions([], { observe: (observation) => observations.push(observation) }), world.engine.state())
    for (const [input, afterMs] of [[sent(key), 30], [started(key), 90], [ended(key, 10), 390]] as const) restored.step(input, world.at + afterMs * MS)
    expect(bucketsOf(observations)).toMatchObject({ prefill_time: '20-50ms', kv_transfer_time: '50-100ms', decode_time: '200-500ms' })
  })
})

describe('the header external-filter', () => {
  const choose = (selector: string): unknown => {
    const { world, observations } = fleet()
    world.take(pdEndpoint('p2', 'prefill', 'rs2', { labels: { tier: 'gold' } }), pdEndpoint('d2', 'decode', 'rs2', { labels: { tier: 'gold' } }))
    const { decision } = world.request(prompted('r1', 'hello', 4, { 'external-filter': selector }))
    const rejected = world.effects.find((effect) => effect.kind === 'rejected')
    return rejected === undefined
      ? decision.profiles.map(({ picks }) => picks[0]?.endpoint)
      : { message: rejected.denial.message, headers: rejected.denial.headers, counted: observations.filter(({ name }) => name === 'gateway_prefill_request_fail_total').length }
  }
  const headers = [['x-error-routing', 'true']]

  it('narrows the candidates', () => {
    expect(choose('tier=gold')).toEqual(['default/d2', 'default/p2'])
    expect(choose('!tier')).toEqual(['default/d1', 'default/p1'])
  })

  it.each([
    ['tier=lead', 'error on selecting target pod: no ready pods for routing', 0],
    ['tier in', "error on selecting target pod: filter pods by label selector failed: expected '(' after in and notin", 0],
    ['role-name=decode', 'error on selecting target pod: prefill pods are not ready: prefill=0, decode=0', 1],
  ])('%j is answered with 503 and x-error-routing', (selector, message, counted) => expect(choose(selector)).toEqual({ message, headers, counted }))
})
