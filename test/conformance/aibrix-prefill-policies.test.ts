import {
  blockHashBytes, conductorMs, hashesOf, LeastRequestPrefillPolicy, prefillPolicies, PrefixTable, scorePrefillPods, UNMEASURED, type PrefillScorePolicy, type PrefillTime,
} from '../../src/aibrix/index.ts'
import { die, expectAsFile, podOf, tally, type PodCase } from './aibrix-cases.ts'
import { forEachCase, type Case } from './runner.ts'

const SEED = 0n
const MODEL = 'm'

interface ScoreInput {
  readonly policy: string
  readonly activeCount: number
  readonly maxActiveCount: number
  readonly matchPercent?: number
  readonly totalTokens?: number
  readonly prefillTimeHistogram?: { readonly count?: number; readonly sumSeconds?: number; readonly simpleValue?: number } | string | null
}

/** What is no histogram was not measured. */
const prefillTimeOf = (given: ScoreInput['prefillTimeHistogram']): PrefillTime | undefined =>
  typeof given === 'object' && given !== null && given.count !== undefined && given.sumSeconds !== undefined ? { count: given.count, sumSeconds: given.sumSeconds } : undefined

/** A table in which a pod holds exactly this percent of a prompt of 100 blocks. */
const matching = (percent: number): { table: PrefixTable; hashes: readonly bigint[] } => {
  const table = newTable()
  const hashes = Array.from({ length: 100 }, (_, i) => BigInt(i + 1))
  table.addPrefix(hashes.slice(0, percent), MODEL, 'p', 0)
  return { table, hashes }
}

const newTable = (): PrefixTable => new PrefixTable({ blocks: 200_000, timeToLiveUs: 1e9, sweepIntervalUs: 1e6 })

const score = ({ input, expected }: Case<unknown, ScoreInput>): void => {
  if (input.policy === 'conductor') {
    expectAsFile({ score: conductorMs(input.totalTokens ?? 0, input.matchPercent ?? 0, input.activeCount, prefillTimeOf(input.prefillTimeHistogram)) }, expected)
    return
  }
  const { table, hashes } = matching(input.matchPercent ?? 0)
  const policy = prefillPolicies.resolve(input.policy, { table, metricsOf: () => UNMEASURED }).policy
  const scorer = policy.prepare({ requestId: 'r', model: MODEL, prompt: { hashes, bytes: 400 } }, [], new Set(['p']))
  const given = scorer.scorePod(podOf({ name: 'p' }), input.activeCount, input.maxActiveCount)
  expectAsFile(input.policy === 'least_request' ? { score: given, hashes: scorer.prefixHashes() } : { score: given }, expected)
}

interface RankConfig {
  readonly blockSize: number
  readonly policyArg: string | null
  readonly routerDefault: string | null
  readonly stdDevFactor: number
}
interface RankInput {
  readonly pods: readonly PodCase[]
  readonly prompt: string
  readonly cachedPrompts: Readonly<Record<string, string>>
}

const FAILING: PrefillScorePolicy = {
  name: () => 'error_policy',
  prepare: () => {
    throw new Error('cannot prepare')
  },
}

const rank = ({ config, input, expected }: Case<RankConfig, RankInput>): void => {
  const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
  const hashes = (text: string): readonly bigint[] => hashesOf(blockHashBytes(bytes(text), config.blockSize, SEED))
  const table = newTable()
  for (const [pod, prompt] of Object.entries(input.cachedPrompts)) table.addPrefix(hashes(prompt), MODEL, pod, 0)
  const pods = input.pods.map(podOf)
  const named = config.policyArg ?? config.routerDefault ?? 'prefix_cache'
  const result = scorePrefillPods({
    context: { requestId: 'r', model: MODEL, prompt: { hashes: hashes(input.prompt), bytes: bytes(input.prompt).length } },
    pods,
    policy: named === 'error_policy' ? FAILING : (prefillPolicies.find(named, { table, metricsOf: () => UNMEASURED }) ?? new LeastRequestPrefillPolicy()),
    counts: tally(pods),
    deviationFactor: config.stdDevFactor,
    die: die(),
  })
  const perRoleset = result.perRoleset === null ? null : Object.fromEntries([...result.perRoleset].map(([roleset, pick]) => [roleset, { pod: pick.pod.id, score: pick.score }]))
  expectAsFile({ hashCount: result.hashes?.length ?? null, maxScore: result.maxScore, perRoleset }, expected)
}

forEachCase('aibrix-prefill-policies.json', { score, rank })
