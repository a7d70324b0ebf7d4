import { describe, expect, it } from 'vitest'
import { AibrixMetricsProducer } from '../../../src/plugins/producer/aibrix-metrics-producer/index.ts'
import type { AibrixPdProfileHandler } from '../../../src/plugins/profile-handler/aibrix-pd-profile-handler/index.ts'
import { Engine } from '../../../src/engine/engine.ts'
import { engineOptions } from '../../../src/replay/engine-options.ts'
import { aborted, ended, failed, left, sent, started } from '../../story/inputs.ts'
import type { Input } from '../../../src/wire/input.ts'
import { World } from '../../story/world.ts'
import { aibrixConfiguration, pdEndpoint, prompted, stageEnded } from './story.ts'

const fleet = (parameters: Readonly<Record<string, unknown>> = {}): World =>
  new World(aibrixConfiguration(parameters)).take(
    pdEndpoint('p1', 'prefill', 'rs1'), pdEndpoint('d1', 'decode', 'rs1'), pdEndpoint('p2', 'prefill', 'rs2'), pdEndpoint('d2', 'decode', 'rs2'),
  )

const handlerOf = (world: World): AibrixPdProfileHandler => world.engine.view.pipeline.handler as AibrixPdProfileHandler
const producerOf = (world: World): AibrixMetricsProducer => world.engine.view.pipeline.plugins.find((plugin) => plugin instanceof AibrixMetricsProducer) as AibrixMetricsProducer

interface Counts {
  readonly prefills: number
  readonly pending: number
  readonly running: number
}

const counts = (world: World): Counts => {
  const { endpoints } = handlerOf(world).dump() as { endpoints: { prefills: number; pendingDecodes: number }[] }
  const metrics = producerOf(world).dump() as { runningRequests: number | undefined }[]
  return {
    prefills: endpoints.reduce((sum, { prefills }) => sum + prefills, 0),
    pending: endpoints.reduce((sum, { pendingDecodes }) => sum + pendingDecodes, 0),
    running: metrics.reduce((sum, { runningRequests }) => sum + (runningRequests ?? 0), 0),
  }
}

const NOTHING: Counts = { prefills: 0, pending: 0, running: 0 }

describe('the prefill/decode router in the engine', () => {
  it('picks prefill and decode of one roleset in one turn, and tells how each roleset fared', () => {
    const world = fleet()
    const { key, decision } = world.request(prompted('r1', 'hello world'))
    expect(decision.outcome).toBe('routed')
    expect(decision.profiles.map(({ stage }) => stage)).toEqual(['decode', 'prefill'])
    const [decode, prefill] = decision.profiles.map(({ picks }) => picks[0]?.endpoint ?? '')
    expect(decode?.replace('/d', '/p')).toBe(prefill)
    expect(decision.decisionType).toBe('prefill-decode')
    const [receipt] = world.engine.receipts(key)
    expect(receipt?.pairs.map(({ group }) => group)).toEqual(['rs1', 'rs2'])
    expect(receipt?.pairs.filter(({ chosen }) => chosen)).toMatchObject([{ decode, prefill, prefillScore: 10, finalScore: expect.any(Number) as number }])
    expect(receipt?.profiles.map(({ scorers }) => scorers[0]?.plugin)).toEqual(['load_balancing', 'prefix_cache'])
  })

  it('tells what it measured of the pair', () => {
    const world = new World(aibrixConfiguration()).take(pdEndpoint('p1', 'prefill', 'rs1'), pdEndpoint('d1', 'decode', 'rs1'))
    const first = world.request(prompted('r0', 'hello world'))
    expect(world.engine.receipts(first.key)[0]?.notes).toContain('decode default/d1: cold, 0 pending, tokens/s not known, requests/s drained not known, 100 % of its cache free, 0 waiting, 0 to be allocated')
    world.take(stageEnded(first.key), sent(first.key))
    for (let i = 1; i <= 20; i++) {
      const { key } = world.request(prompted(`r${i}`, 'hello world'))
      world.take(stageEnded(key), sent(key), ended(key)).pass(1000)
    }
    const tick = (metric: string, value: number): Input => ({ input: { kind: 'telemetryTick', value: { heard: new Uint8Array([3]), models: [], superseded: 0, columns: [{ metric, custom: true, slotDeltas: [0, 1], whole: [], real: [value, value] }] } } })
    world.take(tick('aibrix_generation_throughput', 250.5), tick('aibrix_prefill_seconds_sum', 0.5), tick('aibrix_prefill_seconds_count', 10), tick('aibrix_decode_prealloc_queue', 4))
    const { key } = world.request(prompted('last', 'hello world'))
    const notes = world.engine.receipts(key)[0]?.notes ?? []
    expect(notes[0]).toBe('prefill default/p1: 50 ms a prefill, 0 waiting, 0 to be allocated, 0.01 requests/s leave its queue')
    expect(notes[1]).toMatch(/^decode default\/d1: 1 running, 0 pending, 250.5 tokens\/s, (?:0.9\d|1) requests\/s drained, 100 % of its cache free, 0 waiting, 4 to be allocated$/)
  })

  it('sends what it has seen to where it was prefilled', () => {
    const world = fleet()
    const first = world.request(prompted('r1', 'a prompt that is long enough to matter')).decision
    const second = world.request(prompted('r2', 'a prompt that is long enough to matter, and more')).decision
    expect(second.profiles[1]?.picks[0]?.endpoint).toBe(first.profiles[1]?.picks[0]?.endpoint)
    expect(second.profiles[1]?.picks[0]?.score).toBeLessThan(5)
  })

  it('forgets what an endpoint held in an earlier life', () => {
    const world = fleet()
    const picked = world.request(prompted('r1', 'a prompt that is long enough to matter')).decision.profiles[1]?.picks[0]?.endpoint.replace('default/', '') ?? ''
    world.take(left(picked), pdEndpoint(picked, 'prefill', picked.replace('p', 'rs'), { incarnation: '2' }))
    expect(world.request(prompted('r2', 'a prompt that is long enough to matter')).decision.profiles[1]?.picks[0]?.score).toBeGreaterThanOrEqual(10)
  })

  it('counts a request on either side while it is there, and nothing afterwards', () => {
    const world = fleet()
    const { key } = world.request(prompted('r1', 'hello world'))
    expect(counts(world)).toEqual({ prefills: 1, pending: 1, running: 0 })
    expect(counts(world.take(stageEnded(key)))).toEqual({ prefills: 0, pending: 1, running: 0 })
    expect(counts(world.take(sent(key)))).toEqual({ prefills: 0, pending: 0, running: 1 })
    expect(counts(world.take(started(key)))).toEqual({ prefills: 0, pending: 0, running: 1 })
    expect(counts(world.take(ended(key)))).toEqual(NOTHING)
  })

  it.each([
    ['the prefill fails', (key: number) => [stageEnded(key), failed(key, 1, 'p1', 'unavailable', false)]],
    ['the client leaves between the legs', (key: number) => [stageEnded(key), aborted(key)]],
    ['the client leaves while the prefill runs', (key: number) => [aborted(key), stageEnded(key)]],
    ['the decode fails after the prefill', (key: number) => [stageEnded(key), sent(key), failed(key, 1, 'd1', 'reset', false)]],
    ['the end of the prefill is never told', (key: number) => [sent(key), started(key), ended(key)]],
    ['everything is told twice', (key: number) => [stageEnded(key), stageEnded(key), sent(key), sent(key), ended(key), ended(key)]],
    ['the end of the prefill comes last', (key: number) => [sent(key), started(key), ended(key), stageEnded(key)]],
  ])('lets go of everything exactly once when %s', (_story, inputs) => {
    const world = fleet()
    const { key } = world.request(prompted('r1', 'hello world'))
    expect(counts(world.take(...inputs(key)))).toEqual(NOTHING)
  })

  it('names the prefill endpoint for data planes that only asked, and takes it for done when the decode speaks', () => {
    const world = fleet()
    const { key, decision } = world.request(prompted('r1', 'hello world'))
    const prefill = decision.profiles[1]?.picks[0]?.endpoint
    const headers = new Map(decision.headers.map(({ name, value }) => [name, value]))
    expect([prefill, headers.get('x-prefiller-host-port')]).toEqual([expect.stringContaining('default/p') as string, '10.0.0.1:8000'])
    expect(counts(world.take(sent(key)))).toEqual({ prefills: 1, pending: 0, running: 1 })
    expect(counts(world.take(started(key)))).toEqual({ prefills: 0, pending: 0, running: 1 })
  })

  it('takes two requests that bear one id for two', () => {
    const world = fleet()
    const first = world.request(prompted('same', 'hello world'))
    world.request(prompted('same', 'hello world'))
    expect(counts(world)).toMatchObject({ prefills: 2, pending: 2 })
    expect(counts(world.take(stageEnded(first.key), sent(first.key), ended(first.key)))).toMatchObject({ prefills: 1, pending: 1 })
  })

  it('chooses another pair when the decode endpoint could not be reached', () => {
    const world = fleet()
    const { key, decision } = world.request(prompted('r1', 'hello world'))
    const decode = decision.profiles[0]?.picks[0]?.endpoint.replace('default/', '') ?? ''
    const again = world.step(failed(key, 1, decode)).record.decisions[0]
    expect(again).toMatchObject({ outcome: 'routed', attempt: 2 })
    expect(again?.profiles[0]?.picks[0]?.endpoint).not.toBe(`default/${decode}`)
    expect(counts(world)).toMatchObject({ prefills: 1, pending: 1 })
  })

  it.each([
    ['no decode', [pdEndpoint('p1', 'prefill', 'rs1')], 'prefill pods are not ready: prefill=0, decode=0 (roleset "rs1" has no decode endpoint)'],
    ['roles of odd case', [pdEndpoint('p1', 'Prefill', 'rs1'), pdEndpoint('d1', 'decode', 'rs1')], 'prefill pods are not ready: prefill=0, decode=0 (roleset "rs1" has no prefill endpoint)'],
    ['no roles', [pdEndpoint('p1', '', 'rs1'), pdEndpoint('d1', 'both', 'rs1')], 'prefill=0, decode=0 (none has the labels roleset-name and role-name, prefill or decode)'],
    ['many halves', Array.from({ length: 7 }, (_, i) => pdEndpoint(`d${i}`, 'decode', `rs${i}`)), 'roleset "rs4" has no prefill endpoint, and 2 more)'],
    ['engines that differ', [pdEndpoint('p1', 'prefill', 'rs1', { labels: { 'model.aibrix.ai/engine': 'sglang' } }), pdEndpoint('d1', 'decode', 'rs1')], 'inconsistent LLM engines'],
  ])('answers 503 with %s', (_case, endpoints, message) => {
    const { decision } = new World(aibrixConfiguration()).take(...endpoints).request(prompted('r1', 'hello'))
    expect(decision.rejection).toMatchObject({ status: 503, code: 'ServiceUnavailable', message: expect.stringContaining(message) as string })
  })

  it('asks a model\'s own policies, and refuses an unknown one for decode', () => {
    const config = (policy: string): Record<string, string> => ({ 'model.aibrix.ai/config': JSON.stringify({ profiles: { default: { routingConfig: { decodeScorePolicy: policy } } } }) })
    const world = (policy: string): World => new World(aibrixConfiguration()).take(pdEndpoint('p1', 'prefill', 'rs1', { annotations: config(policy) }), pdEndpoint('d1', 'decode', 'rs1'))
    const asked = world('conductor')
    const { key } = asked.request(prompted('r1', 'hello'))
    expect(asked.engine.receipts(key)[0]?.profiles[0]?.scorers[0]?.plugin).toBe('conductor')
    expect(world('zzz').request(prompted('r1', 'hello')).decision.rejection?.message).toContain('unknown decodeScorePolicy "zzz"')
  })

  it.each([
    ['prefix-cache', ['least_request stands in for the prefill policy "prefix-cache" of the model\'s profile, which is not there; did you mean `prefix_cache`?']],
    [' conductor ', []],
    ['', []],
  ])('tells of an unknown prefill policy of the model: %j', (policy, notes) => {
    const annotations = { 'model.aibrix.ai/config': JSON.stringify({ profiles: { default: { routingConfig: { prefillScorePolicy: policy } } } }) }
    const world = new World(aibrixConfiguration({ prefillScorePolicy: 'least_request' })).take(pdEndpoint('p1', 'prefill', 'rs1', { annotations }), pdEndpoint('d1', 'decode', 'rs1'))
    expect(world.engine.receipts(world.request(prompted('r1', 'hello')).key)[0]?.notes.slice(2)).toEqual(notes)
  })

  it('serves lengths that no roleset takes by a combined endpoint, without prefill', () => {
    const world = new World(aibrixConfiguration({ promptLengthBucketing: true })).take(
      pdEndpoint('c1', 'all', 'rs1', { annotations: { 'model.aibrix.ai/config': JSON.stringify({ profiles: { default: { routingConfig: { combined: true } } } }) } }),
    )
    const { key, decision } = world.request(prompted('r1', 'hello'))
    expect(decision).toMatchObject({ outcome: 'routed', decisionType: 'decode-only' })
    expect(world.engine.receipts(key)[0]?.notes).toEqual(['combined default/c1: 0 waiting, 0 to be allocated, requests/s leave its queue not known', 'a combined endpoint: no roleset takes a prompt of this length'])
    expect(counts(world)).toEqual({ prefills: 0, pending: 1, running: 0 })
  })

  it('goes on from a saved state as if nothing had been', () => {
    const world = fleet()
    for (let i = 0; i < 5; i++) {
      const { key } = world.request(prompted(`r${i}`, `prompt number ${i} of some length`))
      if (i % 2 === 0) world.take(stageEnded(key), sent(key))
    }
    const state = world.engine.state()
    const restored = Engine.restore(engineOptions(), state)
    expect(restored.state()).toEqual(state)
    const input = prompted('next', 'prompt number 3 of some length')
    expect(restored.step(input, world.at + 1000).record).toEqual(world.engine.step(input, world.at + 1000).record)
  })

  it('decides alike under both interpreters', () => {
    const story = (world: World): unknown => {
      world.take(pdEndpoint('p1', 'prefill', 'rs1'), pdEndpoint('d1', 'decode', 'rs1'), pdEndpoint('p2', 'prefill', 'rs2'), pdEndpoint('d2', 'decode', 'rs2'))
      return ['a', 'b', 'c', 'd'].map((id) => world.request(prompted(id, `prompt ${id}`)).decision)
    }
    expect(story(new World(aibrixConfiguration(), 'xstate'))).toEqual(story(new World(aibrixConfiguration(), 'table')))
  })
})
