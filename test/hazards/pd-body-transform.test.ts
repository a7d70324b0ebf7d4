import { expect, vi } from 'vitest'
import {
  candidatesOf, commonEngine, decodeLoads, decodePolicies, DEFAULT_WEIGHTS, engineProtocol, LABELS, ModelConfigs, PendingDecodeTracker, PrefillRequestTracker, prefillPolicies,
  PrefixTable, scoreDecodePods, selectPair, sglangBodies, type DecodeScorePolicy, type LegBodies, type LegIds, type RouterPolicies, DEFAULT_ROUTER_SETTINGS,
} from '../../src/aibrix/index.ts'
import { die, podOf, tally, type PodCase, type TestPod } from '../conformance/aibrix-cases.ts'
import { ask, chat } from '../integration/aibrix/fleet.ts'
import { answering, silent, stubFleet } from '../integration/aibrix/stub-fleet.ts'
import { EndpointMeter } from '../../src/plugins/producer/aibrix-metrics-producer/endpoint-meter.ts'
import { RateWindow } from '../../src/plugins/producer/aibrix-metrics-producer/rate-window.ts'
import { endpoint } from '../unit/plugins/given.ts'
import { aborted, ended, left, sent } from '../story/inputs.ts'
import { World } from '../story/world.ts'
import { aibrixConfiguration, pdEndpoint, prompted, stageEnded } from '../unit/aibrix/story.ts'
import hazards from './cases/pd-body-transform.json' with { type: 'json' }
import { checkHazards } from './checks.ts'

// Two of them start servers.
vi.setConfig({ testTimeout: 30_000 })

const IDS: LegIds = { bootstrapRoom: () => 99_999n, disaggRequestId: () => 4_398_046_511_105n }
const CONTEXT = { requestId: 'r', model: 'm', prompt: { hashes: [], bytes: 0 } }
const SPREADS = { minSpread: 16, throughputMinSpread: 2048, scoreRatioThreshold: 1.5 }

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body)
const legs = (engine: string, body: string): LegBodies => engineProtocol(engine, 'shfs').prepare(new TextEncoder().encode(body), podOf({ name: 'p', ip: '10.0.0.1' }), IDS)
const merged = (path: string): Record<string, unknown> =>
  JSON.parse(textOf(engineProtocol('trtllm', '').merge(new TextEncoder().encode('{"model":"m"}'), new TextEncoder().encode('{"disaggregated_params":{},"prompt_token_ids":[1,2,3]}'), podOf({ name: 'p' }), path))) as Record<string, unknown>

const loadsOf = (pods: readonly TestPod[]) => decodeLoads(pods, (pod) => pod.metrics, (pod) => pod.pendingDecode, SPREADS, die())

const scored = (pods: readonly TestPod[], policy: DecodeScorePolicy) =>
  scoreDecodePods({
    context: CONTEXT, pods, policy, weights: DEFAULT_WEIGHTS, loads: loadsOf(pods), die: die(),
    isWarm: (pod) => pod.metrics.runningRequests !== undefined, pendingOn: (pod) => pod.pendingDecode,
  })

const policiesOf = (): RouterPolicies => {
  const parts = { table: new PrefixTable({ blocks: 10, timeToLiveUs: 1, sweepIntervalUs: 1 }), metricsOf: () => podOf({ name: 'x' }).metrics }
  return { prefill: prefillPolicies.resolve('least_request', parts).policy, decode: decodePolicies.resolve('least_request').policy, prefillPolicies, decodePolicies, parts }
}

const selected = (given: readonly PodCase[], bucketing = false) => {
  const pods = given.map(podOf)
  return selectPair({
    context: CONTEXT, pods, settings: { ...DEFAULT_ROUTER_SETTINGS, bucketing }, configs: new ModelConfigs(), profile: '', routing: undefined, promptTokens: 1,
    metricsOf: (pod) => pod.metrics, prefillCounts: tally(pods), pendingOn: (pod) => pod.pendingDecode, policies: policiesOf(), die: die(),
  })
}

const fleet = (): World => new World(aibrixConfiguration()).take(pdEndpoint('p', 'prefill', 'rs'), pdEndpoint('d', 'decode', 'rs'))

const held = (world: World): readonly number[] => {
  const { endpoints } = world.engine.view.pipeline.handler.dump?.() as { endpoints: { prefills: number; pendingDecodes: number }[] }
  return endpoints.map(({ prefills, pendingDecodes }) => prefills + pendingDecodes)
}

checkHazards('hazards of prefill and decode legs', hazards.cases, {
  'BUG-015': () => {
    const [prefills, pending] = [new PrefillRequestTracker(), new PendingDecodeTracker()]
    for (let life = 0; life < 2; life++) {
      prefills.addPrefillRequest('r', 'p')
      pending.addPendingDecode('r', 'p')
      expect([prefills.getPrefillRequestCountForPod('p'), pending.getPendingDecodeCount('p')]).toEqual([1, 1])
      for (let i = 0; i < 2; i++) {
        prefills.removePrefillRequest('r')
        pending.removePendingDecode('r')
      }
      expect([prefills.getPrefillRequestCountForPod('p'), pending.getPendingDecodeCount('p')]).toEqual([0, 0])
    }
  },
  'BUG-017': () => {
    const world = fleet()
    const { key } = world.request(prompted('r', 'hello'))
    world.take(left('p'), pdEndpoint('p', 'prefill', 'rs', { incarnation: '2' }))
    expect(held(world)).toEqual([1, 0])
    expect(held(world.take(stageEnded(key), sent(key), ended(key), ended(key)))).toEqual([0, 0])
    expect(held(world.take(ended(999)))).toEqual([0, 0])
  },
  'BUG-018': () => {
    const world = fleet()
    const { key } = world.request(prompted('r', 'hello'))
    expect(held(world.take(aborted(key), stageEnded(key), sent(key), ended(key)))).toEqual([0, 0])
  },
  'BUG-038': () => {
    const pods = [{ name: 'a', roleset: 'rs1', metrics: { runningRequests: 10 } }, { name: 'b', roleset: 'rs2', metrics: { runningRequests: 12 } }, { name: 'c', roleset: 'rs3', pendingDecode: 2 }].map(podOf)
    expect(loadsOf(pods).pod).toBeUndefined()
    expect(scored(pods, decodePolicies.resolve('load_balancing').policy).perRoleset.get('rs3')?.score).toBe(3)
  },
  'BUG-056': () => {
    const second = 1_000_000
    const window = new RateWindow(0)
    for (let i = 1; i <= 10; i++) window.rise(i, (i * second) / 10)
    expect(window.rate(10 * second)).toBe(1)
    window.rise(10, 60 * second)
    window.rise(10, 65 * second)
    expect(window.rate(130 * second)).toBe(0)
  },
  'BUG-057': () => {
    const names = [0, 1, 2, 3]
    const world = new World(aibrixConfiguration({ prefillScorePolicy: 'least_request', decodeScorePolicy: 'least_request' }))
      .take(...names.map((i) => pdEndpoint(`p${i}`, 'prefill', 'rs')), ...names.map((i) => pdEndpoint(`d${i}`, 'decode', 'rs')))
    const counts = new Map<string, number>()
    for (let i = 0; i < 40; i++) {
      const { decision } = world.request(prompted(`r${i}`, `prompt ${i}`))
      for (const { picks } of decision.profiles) for (const { endpoint: id } of picks) counts.set(id, (counts.get(id) ?? 0) + 1)
    }
    expect([...counts.values()]).toEqual(Array.from({ length: 8 }, () => 10))
  },
  'BUG-064': () => {
    const pods = [{ name: 'p1', roleset: 'rs1', metrics: { runningRequests: 0 } }, { name: 'p2', roleset: 'rs2', metrics: { runningRequests: 1 } }].map(podOf)
    const policy = (score: (id: string) => number): DecodeScorePolicy => ({ name: () => 'mine', describe: () => 'mine', scoreDecodePod: (_context, pod) => score(pod.id) })
    const run = scored(pods, policy((id) => (id === 'p1' ? NaN : 5)))
    expect(run.fallbackUsed).toBe(true)
    expect(Number.isFinite(run.perRoleset.get('rs1')?.score)).toBe(true)
    expect(scored(pods, policy((id) => (id === 'p1' ? Infinity : 5))).perRoleset.get('rs1')?.score).toBe(Infinity)
    expect(scored([podOf({ name: 'p', roleset: 'rs', metrics: { runningRequests: 0 } })], { name: () => 'load_balancing', describe: () => '', scoreDecodePod: () => NaN }).perRoleset.size).toBe(0)
    const idle = new EndpointMeter(0)
    expect(idle.metrics(endpoint('e'), undefined, 1).generationThroughput).toBeUndefined()
  },
  'BUG-076': () => {
    const pods = [{ name: 'full', roleset: 'a', metrics: { kvCacheUsage: 1 } }, { name: 'unknown', roleset: 'b' }].map(podOf)
    const loads = loadsOf(pods)
    expect([...loads.freeGPUPercents.values()]).toEqual([0.1, 100])
    expect([loads.maxRequestCount, loads.maxThroughput, loadsOf([]).maxFreeGPUUsage]).toEqual([1, 1, 1])
    for (const { score } of scored(pods, decodePolicies.resolve('load_balancing').policy).perRoleset.values()) expect(Number.isFinite(score)).toBe(true)
  },
  'BUG-107': () => {
    const config = JSON.stringify({ profiles: { default: { routingConfig: { combined: true } } } })
    const { prefill, decode } = selected([{ name: 'c', role: 'all', roleset: 'rs', annotations: { 'model.aibrix.ai/config': config } }], true)
    expect([prefill, decode.id]).toEqual([undefined, 'c'])
  },
  'BUG-109': () => {
    const pods: readonly PodCase[] = [{ name: 'p1', role: 'prefill', roleset: 'R1', activePrefill: 5 }, { name: 'd1', role: 'decode', roleset: 'R1' }, { name: 'p2', role: 'prefill', roleset: 'R2' }]
    const { prefill, decode } = selected(pods)
    expect([prefill?.id, decode.id]).toEqual(['p1', 'd1'])
    expect(candidatesOf(pods.map(podOf), undefined).prefill.map(({ id }) => id)).toEqual(['p1'])
  },
  'BUG-111': () => {
    expect(() => commonEngine([{ name: 'p1', labels: { [LABELS.engine]: 'vllm' } }, { name: 'd1', labels: { [LABELS.engine]: 'sglang' } }].map(podOf))).toThrow('inconsistent')
    expect(commonEngine([{ name: 'p1' }, { name: 'd1' }].map(podOf))).toBe('vllm')
  },
  'BUG-113': async () => {
    for (const engine of ['vllm', 'sglang']) {
      const pair = await stubFleet(engine)
      pair.prefill.behaviour = answering(500, 'no')
      pair.decode.behaviour = silent
      const began = performance.now()
      expect((await ask(pair.server.url, chat('hi'))).status).toBeGreaterThanOrEqual(500)
      expect(performance.now() - began).toBeLessThan(1000)
      await pair.decode.until(({ received, broken }) => received.length === broken)
      expect(await pair.held()).toEqual([0, 0, 0, 0])
      expect(await pair.metrics()).not.toContain('gateway_prefill_request_success_total{')
      await pair.close()
    }
  },
  'BUG-117': () => {
    const body = '{"messages":[],"stream":true,"stream_options":{"include_usage":true},"max_completion_tokens":64}'
    const prefilled = (engine: string): Record<string, unknown> => JSON.parse(textOf(legs(engine, body).prefill)) as Record<string, unknown>
    for (const engine of ['vllm', 'sglang']) expect(prefilled(engine)).toMatchObject({ stream: false, max_tokens: 1, max_completion_tokens: 1 })
    for (const engine of ['vllm', 'sglang']) expect(prefilled(engine)).not.toHaveProperty('stream_options')
    expect(prefilled('vllm')['kv_transfer_params']).toMatchObject({ do_remote_decode: true, do_remote_prefill: false })
    expect(prefilled('sglang')).not.toHaveProperty('kv_transfer_params')
    expect(textOf(legs('vllm', body).decode)).toBe(body)
    expect(JSON.parse(textOf(legs('sglang', body).decode))).toMatchObject({ stream: true, stream_options: { include_usage: true }, max_completion_tokens: 64 })
  },
  'BUG-119': () => {
    const tools = '[{"type":"function","function":{"name":"z","description":"a","parameters":{"type":"object","b":1,"a":2}}}]'
    const body = `{"tools":${tools},"messages":[{"role":"user","content":"x"}],"bootstrap_host":"evil","bootstrap_port":1,"bootstrap_room":2}`
    const { prefill, decode } = sglangBodies(new TextEncoder().encode(body), { host: '10.0.0.1', port: 8998, room: 99_999n })
    for (const leg of [prefill, decode]) {
      expect(textOf(leg)).toContain(`{"tools":${tools},"messages":[{"role":"user","content":"x"}],"bootstrap_host":"10.0.0.1","bootstrap_port":8998,"bootstrap_room":99999`)
    }
  },
  'BUG-120': () => {
    expect(merged('/v1/completions')).toMatchObject({ prompt: [1, 2, 3] })
    expect(merged('/v1/chat/completions')).toMatchObject({ prompt_token_ids: [1, 2, 3] })
    expect(merged('/v1/chat/completions')).not.toHaveProperty('prompt')
  },
  'BUG-121': async () => {
    const pair = await stubFleet('vllm')
    for (const [status, expected] of [[204, 503], [202, 503], [200, 200]] as const) {
      pair.prefill.behaviour = answering(status, status === 204 ? '' : '{}')
      expect((await ask(pair.server.url, chat('hi'))).status, `prefill answers ${status}`).toBe(expected)
    }
    await pair.close()
  },
})
