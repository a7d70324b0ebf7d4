import { expect } from 'vitest'
import {
  decodePolicies, DecodePolicies, effectivePolicies, isInvalidScore, LeastRequestPrefillPolicy, parseRoutingConfig, prefillPolicies, PrefixTable, scoreDecodePods,
  UNMEASURED, DEFAULT_ROUTER_SETTINGS, type DecodePodInput, type DecodeScorePolicy,
} from '../../src/aibrix/index.ts'
import { die, expectAsFile, numberOf, podOf, type PodCase } from './aibrix-cases.ts'
import { forEachCase, messageOf, type Case } from './runner.ts'

interface Registered {
  readonly name: string
  readonly factory: string | null
}

const ALWAYS_NAN: DecodeScorePolicy = { name: () => 'always_nan', describe: () => 'always NaN', scoreDecodePod: () => NaN }
const NAN_FOR_DA: DecodeScorePolicy = { name: () => 'always_nan', describe: () => 'NaN for one pod', scoreDecodePod: (_context, pod, input) => (pod.id === 'da' ? NaN : input.runningReqs) }
const DOUBLES: Readonly<Record<string, DecodeScorePolicy>> = { always_nan: ALWAYS_NAN, nan_for_da_else_running_count: NAN_FOR_DA }
const CONTEXT = { requestId: 'r', model: 'm', prompt: { hashes: [], bytes: 0 } }

const registryOf = (registered: readonly Registered[] = []): DecodePolicies => {
  const policies = new DecodePolicies()
  for (const { name, factory } of registered) {
    const make = factory === null ? null : factory === 'returns null' ? () => null : () => ALWAYS_NAN
    expect(policies.register(name, make)).toBe(factory !== null)
  }
  return policies
}

interface RunConfig {
  readonly policyArg: string | null
  readonly routerDefault: string | null
  readonly weightRunning: number
  readonly weightThroughput: number
}
interface RunInput {
  readonly pods: readonly PodCase[]
  readonly runningByPod: Readonly<Record<string, number>>
  readonly throughputByPod: Readonly<Record<string, number>>
  readonly freeGpuByPod: Readonly<Record<string, number>>
  readonly maxRunningReqs: number
  readonly maxThroughput: number
  readonly maxFreeGpuPercent: number
}

const run = ({ config, input, expected }: Case<RunConfig, RunInput>): void => {
  const weights = { running: numberOf(config.weightRunning), throughput: numberOf(config.weightThroughput) }
  const named = config.policyArg ?? config.routerDefault ?? ''
  const result = scoreDecodePods({
    context: CONTEXT,
    pods: input.pods.map(podOf),
    policy: DOUBLES[named] ?? decodePolicies.resolve(named, weights).policy,
    weights,
    loads: {
      counts: new Map(Object.entries(input.runningByPod)),
      throughputs: new Map(Object.entries(input.throughputByPod)),
      freeGPUPercents: new Map(Object.entries(input.freeGpuByPod)),
      maxRequestCount: input.maxRunningReqs,
      maxThroughput: input.maxThroughput,
      maxFreeGPUUsage: input.maxFreeGpuPercent,
    },
    isWarm: (pod) => pod.metrics.runningRequests !== undefined,
    pendingOn: (pod) => pod.pendingDecode,
    die: die(),
  })
  const perRoleset = Object.fromEntries([...result.perRoleset].map(([roleset, { pod, score }]) => [roleset, { pod: pod.id, score }]))
  const { maxScore, fallbackUsed, policy } = result
  expectAsFile({ err: result.err?.message ?? null, fallbackUsed, maxScore, perRoleset, policy }, expected)
}

const effective = ({ config, input, expected }: Case<{ envDecode: string; envPrefill: string }, { routingConfigJson: string | null }, { error?: string }>): void => {
  const parts = { table: new PrefixTable({ blocks: 1, timeToLiveUs: 1, sweepIntervalUs: 1 }), metricsOf: () => UNMEASURED }
  const policies = {
    prefill: prefillPolicies.find(config.envPrefill, parts) ?? new LeastRequestPrefillPolicy(),
    decode: decodePolicies.resolve(config.envDecode).policy,
    prefillPolicies, decodePolicies, parts,
  }
  const routing = input.routingConfigJson === null ? undefined : parseRoutingConfig(input.routingConfigJson)
  const choose = () => effectivePolicies({ routing, settings: DEFAULT_ROUTER_SETTINGS, policies })
  if (expected.error !== undefined) {
    expect(messageOf(choose)).toBe(expected.error)
    return
  }
  const { prefill, decode } = choose()
  expectAsFile({ prefill: prefill.name(), decode: decode.name() }, expected)
}

forEachCase('aibrix-decode-policies.json', {
  score: ({ config, input, expected }: Case<{ weightRunning?: number; weightThroughput?: number }, { policy: string; pod: Record<string, number | string> }>): void => {
    const of = (name: string): number => numberOf(input.pod[name] ?? NaN)
    const pod: DecodePodInput = {
      runningReqs: of('runningReqs'), throughput: of('throughput'), freeGPUPercent: of('freeGpuPercent'),
      maxRequestCount: of('maxRunningReqs'), maxThroughput: of('maxThroughput'), maxFreeGPUUsage: of('maxFreeGpuPercent'),
    }
    const weights = { running: numberOf(config.weightRunning ?? 1), throughput: numberOf(config.weightThroughput ?? 1) }
    expectAsFile({ score: decodePolicies.resolve(input.policy, weights).policy.scoreDecodePod(CONTEXT, podOf({ name: 'p' }), pod) }, expected)
  },
  resolve: ({ config, input, expected }: Case<{ registered?: readonly Registered[] }, { raw: string }>): void => {
    const { policy, canonical, unknown } = registryOf(config.registered).resolve(input.raw)
    expectAsFile({ canonical, policyName: policy.name(), unknown }, expected)
  },
  validNames: ({ config, expected }: Case<{ registered: readonly Registered[] }>): void => expectAsFile(registryOf(config.registered).names(), expected),
  isInvalidScore: ({ input, expected }: Case<unknown, { score: number | string }>): void => expectAsFile({ invalid: isInvalidScore(numberOf(input.score)) }, expected),
  run,
  effectivePolicies: effective,
})

