import { decodePolicies, hashSeedOf, positiveInteger, positiveNumber, prefillPolicies, textOr, truth, wrapped32, type Environment } from '../../../aibrix/index.ts'

/** A parameter that an environment variable tells; undefined where the variable is not set or says nothing usable. */
type Read = (raw: string) => unknown

const ABSENT = -1n

const whole: Read = (raw) => {
  const value = positiveInteger(raw, ABSENT)
  if (value === ABSENT) return undefined
  return Number(value > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : value)
}

/** Narrowed to 32 bits with its sign, as AIBrix does: a very large spread becomes a negative one. */
const spread: Read = (raw) => {
  const value = positiveInteger(raw, ABSENT)
  return value === ABSENT ? undefined : wrapped32(value)
}

const real: Read = (raw) => {
  const value = positiveNumber(raw, -1)
  if (value === -1) return undefined
  return Number.isNaN(value) ? 'NaN' : value === Infinity ? '+Inf' : value
}

const switched: Read = (raw) => (truth(raw, false) === truth(raw, true) ? truth(raw, false) : undefined)
const asItStands: Read = (raw) => raw

const VARIABLES: Readonly<Record<string, readonly [parameter: string, read: Read]>> = {
  AIBRIX_PREFILL_SCORE_POLICY: ['prefillScorePolicy', (raw) => (prefillPolicies.names().includes(raw) ? raw : undefined)],
  AIBRIX_DECODE_SCORE_POLICY: ['decodeScorePolicy', (raw) => (decodePolicies.resolve(raw).unknown ? undefined : raw)],
  AIBRIX_PREFILL_LOAD_IMBALANCE_MIN_SPREAD: ['prefillLoadImbalanceMinSpread', spread],
  AIBRIX_DECODE_LOAD_IMBALANCE_MIN_SPREAD: ['decodeLoadImbalanceMinSpread', real],
  AIBRIX_DECODE_THROUGHPUT_IMBALANCE_MIN_SPREAD: ['decodeThroughputImbalanceMinSpread', real],
  AIBRIX_DECODE_SCORE_RATIO_THRESHOLD: ['decodeScoreRatioThreshold', real],
  AIBRIX_DECODE_LB_WEIGHT_RUNNING: ['decodeLbWeightRunning', real],
  AIBRIX_DECODE_LB_WEIGHT_THROUGHPUT: ['decodeLbWeightThroughput', real],
  AIBRIX_PREFILL_REQUEST_TIMEOUT: ['prefillRequestTimeout', whole],
  AIBRIX_PROMPT_LENGTH_BUCKETING: ['promptLengthBucketing', switched],
  AIBRIX_KV_CONNECTOR_TYPE: ['kvConnectorType', asItStands],
  AIBRIX_TRT_MACHINE_ID: ['trtMachineId', whole],
  AIBRIX_PREFIX_CACHE_STANDARD_DEVIATION_FACTOR: ['prefixCacheStandardDeviationFactor', whole],
  AIBRIX_PREFIX_CACHE_TOKENIZER_TYPE: ['prefixCacheTokenizerType', asItStands],
  AIBRIX_PREFIX_CACHE_BLOCK_SIZE: ['prefixCacheBlockSize', whole],
  AIBRIX_PREFIX_CACHE_BLOCK_NUMBER: ['prefixCacheBlockNumber', whole],
  AIBRIX_PREFIX_CACHE_EVICTION_INTERVAL_SECONDS: ['prefixCacheEvictionIntervalSeconds', whole],
  AIBRIX_PREFIX_CACHE_EVICTION_DURATION_MINS: ['prefixCacheEvictionDurationMins', whole],
  AIBRIX_TTFT_THRESHOLD_S: ['firstTokenThreshold', whole],
  POD_NAME: ['gatewayPod', asItStands],
}

/** What the environment told, and what of it was passed over. */
export interface EnvironmentParameters {
  readonly parameters: Readonly<Record<string, unknown>>
  /** The variable that told each parameter. */
  readonly variables: Readonly<Record<string, string>>
  readonly warnings: readonly string[]
}

/** The parameters of the handler that an environment tells. (AIBrix: environment variables) */
export const environmentParameters = (environment: Environment): EnvironmentParameters => {
  const parameters: Record<string, unknown> = {}
  const variables: Record<string, string> = {}
  const warnings: string[] = []
  for (const [name, [parameter, read]] of Object.entries(VARIABLES)) {
    const raw = textOr(environment[name], '')
    if (raw === '') continue
    const value = read(raw)
    if (value === undefined) {
      warnings.push(`${name}="${raw}" is not usable: the default stands`)
      continue
    }
    parameters[parameter] = value
    variables[parameter] = name
  }
  const seed = hashSeedOf(environment)
  if (seed !== undefined) parameters['prefixCacheHashSeed'] = seed.toString()
  return { parameters, variables, warnings }
}
