import { decodePolicies, isMachineId, prefillPolicies, type RouterSettings } from '../../../aibrix/index.ts'
import { didYouMean } from '../../../core/nearest.ts'
import { decodeParameters, flag, int, object, ParameterError, text, type Field } from '../../../core/parameters.ts'

/** Who runs the prefill: the front door itself, or whatever stands before the decode endpoint and reads headers. */
export type PrefillExecution = 'gateway' | 'headers'

/** All that the handler goes by. */
export interface AibrixPdSettings extends RouterSettings {
  readonly profiles: { readonly prefill: string; readonly decode: string }
  readonly execution: PrefillExecution
  readonly prefillTimeoutSeconds: number
  /** KV connector of vLLM endpoints without a label of their own; what it is is found out when it is used. */
  readonly kvConnectorType: string
  readonly trtMachineId: number
  readonly tokenizer: 'character' | 'tiktoken'
  /** Bytes a block. */
  readonly blockBytes: number
  readonly blocksMax: number
  readonly sweepSeconds: number
  readonly timeToLiveMinutes: number
  /** An unsigned 64-bit number in decimal. */
  readonly hashSeed: string
  /** A first token later than this is counted with its phases. */
  readonly firstTokenThresholdSeconds: number
  /** Value of the metric label gateway_pod. */
  readonly gatewayPod: string
}

const UINT64_MAX = 18_446_744_073_709_551_615n

/** A number above 0; "NaN" and "+Inf" too, as the environment may hold them and JSON cannot. */
const positive = (fallback: number): Field<number> => ({
  fallback,
  read: (value, path) => {
    if (value === 'NaN') return NaN
    if (value === '+Inf') return Infinity
    if (typeof value === 'number' && value > 0) return value
    throw new ParameterError(`${path.at(-1) ?? 'value'} must be a number above 0, got ${JSON.stringify(value)}`, path)
  },
})

const wholeFromOne = (fallback: number): Field<number> => ({
  fallback,
  read: (value, path) => {
    if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
    throw new ParameterError(`${path.at(-1) ?? 'value'} must be a whole number above 0, got ${JSON.stringify(value)}`, path)
  },
})

const FIELDS = {
  profiles: object({ prefill: text('prefill'), decode: text('decode') }),
  execution: text('gateway'),
  prefillScorePolicy: text('prefix_cache'),
  decodeScorePolicy: text('load_balancing'),
  prefillLoadImbalanceMinSpread: int(16),
  decodeLoadImbalanceMinSpread: positive(16),
  decodeThroughputImbalanceMinSpread: positive(2048),
  decodeScoreRatioThreshold: positive(1.5),
  decodeLbWeightRunning: positive(1),
  decodeLbWeightThroughput: positive(1),
  prefillRequestTimeout: wholeFromOne(30),
  promptLengthBucketing: flag(false),
  kvConnectorType: text('shfs'),
  trtMachineId: int(0),
  prefixCacheStandardDeviationFactor: wholeFromOne(1),
  prefixCacheTokenizerType: text('character'),
  prefixCacheBlockSize: wholeFromOne(4),
  prefixCacheBlockNumber: wholeFromOne(200_000),
  prefixCacheEvictionIntervalSeconds: wholeFromOne(1),
  prefixCacheEvictionDurationMins: wholeFromOne(20),
  prefixCacheHashSeed: text('0'),
  firstTokenThreshold: wholeFromOne(1),
  gatewayPod: text(''),
}

/** Reads the parameters; what is not said has AIBrix's default. */
export const aibrixPdSettingsOf = (parameters: unknown): AibrixPdSettings => {
  const given = decodeParameters(parameters, FIELDS)
  if (given.execution !== 'gateway' && given.execution !== 'headers') throw new ParameterError(`execution must be "gateway" or "headers", got "${given.execution}"`, ['execution'])
  if (!isMachineId(given.trtMachineId)) throw new ParameterError(`trtMachineId must be from 0 to 1023, got ${given.trtMachineId}`, ['trtMachineId'])
  if (!/^\d+$/.test(given.prefixCacheHashSeed) || BigInt(given.prefixCacheHashSeed) > UINT64_MAX) {
    throw new ParameterError(`prefixCacheHashSeed must be an unsigned 64-bit number in decimal, got "${given.prefixCacheHashSeed}"`, ['prefixCacheHashSeed'])
  }
  requireKnown('prefillScorePolicy', given.prefillScorePolicy, prefillPolicies.names(), prefillPolicies.names().includes(given.prefillScorePolicy))
  requireKnown('decodeScorePolicy', given.decodeScorePolicy, decodePolicies.names(), !decodePolicies.resolve(given.decodeScorePolicy).unknown)
  return {
    profiles: given.profiles,
    execution: given.execution,
    prefillScorePolicy: given.prefillScorePolicy,
    decodeScorePolicy: given.decodeScorePolicy,
    weights: { running: given.decodeLbWeightRunning, throughput: given.decodeLbWeightThroughput },
    prefillMinSpread: given.prefillLoadImbalanceMinSpread,
    decodeSpreads: {
      minSpread: given.decodeLoadImbalanceMinSpread,
      throughputMinSpread: given.decodeThroughputImbalanceMinSpread,
      scoreRatioThreshold: given.decodeScoreRatioThreshold,
    },
    deviationFactor: given.prefixCacheStandardDeviationFactor,
    bucketing: given.promptLengthBucketing,
    prefillTimeoutSeconds: given.prefillRequestTimeout,
    kvConnectorType: given.kvConnectorType,
    trtMachineId: given.trtMachineId,
    tokenizer: given.prefixCacheTokenizerType === 'tiktoken' ? 'tiktoken' : 'character',
    blockBytes: given.prefixCacheBlockSize,
    blocksMax: given.prefixCacheBlockNumber,
    sweepSeconds: given.prefixCacheEvictionIntervalSeconds,
    timeToLiveMinutes: given.prefixCacheEvictionDurationMins,
    hashSeed: given.prefixCacheHashSeed,
    firstTokenThresholdSeconds: given.firstTokenThreshold,
    gatewayPod: given.gatewayPod,
  }
}

const requireKnown = (field: string, name: string, names: readonly string[], isKnown: boolean): void => {
  if (!isKnown) throw new ParameterError(`unknown ${field} "${name}"${didYouMean(name, names)} (there are: ${names.join(', ')})`, [field])
}
