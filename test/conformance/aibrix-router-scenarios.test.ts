import { expect } from 'vitest'
import {
  blockHashBytes, commonEngine, decodePolicies, hashesOf, LABELS, ModelConfigs, parseRoutingConfig, prefillPolicies, PrefixTable, selectPair,
} from '../../src/aibrix/index.ts'
import { pdEndpoint, prompted } from '../unit/aibrix/story.ts'
import type { Input } from '../../src/wire/input.ts'
import { die, expectAsFile, podOf, tally, type PodCase, type TestPod } from './aibrix-cases.ts'
import { PrefillStub, RouteWorld, type StubReply } from './aibrix-route.ts'
import { forEachCase, messageOf, type Case } from './runner.ts'

const MODEL = 'model'

interface SelectConfig {
  readonly blockSize: number
  readonly bucketing: boolean
  readonly decodeMinSpread: number
  readonly decodePolicy: string
  readonly decodeScoreRatio: number
  readonly decodeThroughputMinSpread: number
  readonly prefillMinSpread: number
  readonly prefillPolicy: string
  readonly routingConfigJson: string | null
  readonly stdDevFactor: number
}
interface SelectInput {
  readonly pods: readonly PodCase[]
  readonly prompt: string
  readonly promptTokens: number
  readonly cachedPrompts: Readonly<Record<string, string>>
}

const select = ({ config, input, expected }: Case<SelectConfig, SelectInput, { error?: string }>): void => {
  const hashes = (text: string): readonly bigint[] => hashesOf(blockHashBytes(new TextEncoder().encode(text), config.blockSize, 0n))
  const table = new PrefixTable({ blocks: 200_000, timeToLiveUs: 1e9, sweepIntervalUs: 1e6 })
  for (const [pod, prompt] of Object.entries(input.cachedPrompts)) table.addPrefix(hashes(prompt), MODEL, pod, 0)
  const pods = input.pods.map(podOf)
  const weights = { running: 1, throughput: 1 }
  const metricsOf = (pod: Pick<TestPod, 'id'>): TestPod['metrics'] => (pods.find(({ id }) => id === pod.id) as TestPod).metrics
  const parts = { table, metricsOf }
  const run = () => selectPair({
    context: { requestId: 'r', model: MODEL, prompt: { hashes: hashes(input.prompt), bytes: input.prompt.length } },
    pods,
    settings: {
      prefillScorePolicy: config.prefillPolicy,
      decodeScorePolicy: config.decodePolicy,
      weights,
      prefillMinSpread: config.prefillMinSpread,
      decodeSpreads: { minSpread: config.decodeMinSpread, throughputMinSpread: config.decodeThroughputMinSpread, scoreRatioThreshold: config.decodeScoreRatio },
      deviationFactor: config.stdDevFactor,
      bucketing: config.bucketing,
    },
    configs: new ModelConfigs(),
    profile: '',
    routing: config.routingConfigJson === null ? undefined : parseRoutingConfig(config.routingConfigJson),
    promptTokens: input.promptTokens,
    metricsOf,
    prefillCounts: tally(pods),
    pendingOn: (pod) => pod.pendingDecode,
    policies: { prefill: prefillPolicies.resolve(config.prefillPolicy, parts).policy, decode: decodePolicies.resolve(config.decodePolicy).policy, prefillPolicies, decodePolicies, parts },
    die: die(),
  })
  if (expected.error !== undefined) {
    expect(messageOf(run)).toBe(expected.error)
    return
  }
  const { prefill, decode, hashes: held } = run()
  expectAsFile({ decode: decode.id, prefill: prefill?.id ?? null, prefixUpdateQueued: held.length > 0 }, expected)
}

interface RouteConfig {
  readonly engine: string
  readonly connector?: string
  readonly bucketing?: boolean
  readonly prefillPodExtraLabels?: Readonly<Record<string, string>>
  readonly timeoutSeconds?: number
}
interface RouteInput {
  readonly body?: string
  readonly path?: string
  /** The fixed pair in words, or a list. */
  readonly pods: string | readonly PodCase[]
  readonly prefillServer?: StubReply
  readonly requestHeaders?: Readonly<Record<string, string>> | null
}
interface RouteExpected {
  readonly address: string
  readonly activePrefillAfter?: number
  readonly pendingDecodeAfter: number
  readonly decodeBody?: unknown
  readonly error?: string
  readonly metrics: readonly string[]
  readonly prefillRequest?: { readonly body: unknown; readonly headers: Readonly<Record<string, string>>; readonly method: string; readonly path: string } | null
  readonly responseHeaders?: unknown
}

/** A body as a value, with the file's words for numbers that nobody can know; text that is no JSON stays text. */
const valueOf = (body: string): unknown => {
  try {
    return JSON.parse(body.replace(/"bootstrap_room":\d+/, '"bootstrap_room":"<random room>"').replace(/"disagg_request_id":\d+/, '"disagg_request_id":"<unique id>"'))
  } catch {
    return body
  }
}

const endpointsOf = ({ engine, prefillPodExtraLabels = {} }: RouteConfig, { pods }: RouteInput, port: number): readonly Input[] => {
  const labels = { [LABELS.engine]: engine }
  const at = (input: Input, address: string, onPort: number): Input => {
    if (input.input?.kind === 'endpointJoined' && input.input.value.endpoint !== undefined) Object.assign(input.input.value.endpoint, { address, port: onPort })
    return input
  }
  if (typeof pods !== 'string') return pods.map((pod) => at(pdEndpoint(pod.name, pod.role ?? '', pod.roleset ?? 'none', { labels, annotations: pod.annotations ?? {} }), pod.ip ?? '', 8000))
  return [
    at(pdEndpoint('prefill-1', 'prefill', 'test', { labels: { ...labels, ...prefillPodExtraLabels } }), '127.0.0.1', port),
    at(pdEndpoint('decode-1', 'decode', 'test', { labels }), '127.0.0.2', 8000),
  ]
}

const route = async ({ config, input, expected }: Case<RouteConfig, RouteInput, RouteExpected>): Promise<void> => {
  const stub = new PrefillStub(input.prefillServer ?? { status: 200, reply: '{}', reachable: true, delayMs: 0 })
  const port = await stub.listen()
  if (input.prefillServer?.reachable === false) await stub.close()
  const parameters = { kvConnectorType: config.connector ?? 'shfs', promptLengthBucketing: config.bucketing ?? false, prefillRequestTimeout: config.timeoutSeconds ?? 30 }
  const world = new RouteWorld(parameters, endpointsOf(config, input, port))
  const headers = Object.entries(input.requestHeaders ?? {}).flat()
  const routed = await world.route(prompted('req-7', 'test'), input.body ?? '{}', input.path ?? '/v1/chat/completions', headers)
  if (input.prefillServer?.reachable !== false) await stub.close()
  expect(routed.error === undefined).toBe(expected.error === undefined)
  expect(routed.address).toBe(expected.address)
  expect(routed.pendingDecodeAfter).toBe(expected.pendingDecodeAfter)
  if (expected.activePrefillAfter !== undefined) expect(routed.activePrefillAfter).toBe(expected.activePrefillAfter)
  if (expected.decodeBody !== undefined) expect(valueOf(routed.decodeBody)).toEqual(config.engine === 'sglang' && expected.error !== undefined ? valueOf(input.body ?? '') : expected.decodeBody)
  if (expected.responseHeaders !== undefined) expect(routed.responseHeaders).toEqual(expected.responseHeaders)
  const sorted = (metrics: readonly string[]): readonly string[] => (config.engine === 'sglang' ? [...metrics].sort() : metrics)
  expect(sorted(routed.metrics)).toEqual(sorted(expected.metrics))
  if (expected.prefillRequest === undefined) return
  const [asked] = stub.asked
  if (expected.prefillRequest === null) expect(asked).toBeUndefined()
  else expect({ ...asked, body: valueOf(asked?.body ?? '') }).toMatchObject(expected.prefillRequest)
}

forEachCase('aibrix-router-scenarios.json', {
  select,
  engineOf: ({ input, expected }: Case<unknown, { pods: readonly PodCase[] }, { error?: string }>): void => {
    const run = () => commonEngine(input.pods.map(podOf))
    if (expected.error === undefined) expectAsFile({ engine: run() }, expected)
    else expect(messageOf(run)).toBe(expected.error)
  },
  route,
})
