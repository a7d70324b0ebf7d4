import { durationMs } from '../../../core/duration.ts'
import { SignalboxError } from '../../../core/errors.ts'
import { type EngineHash, isEngineHash } from '../../../core/hash/engine-keys.ts'
import { decodeParametersOf, flag, int, list, number, object, optionalObject, ParameterError, text } from '../../../core/parameters.ts'
import { type KvEventsConfig, kvEventsConfig } from './kv-events-config.ts'

const DEFAULT_BLOCK_TOKENS = 16

const FIELDS = {
  tokenProcessorConfig: object({ blockSizeTokens: int(DEFAULT_BLOCK_TOKENS), blockSize: int(0), hashSeed: text(''), hashAlgorithm: text('cbor-fnv') }),
  indexerConfig: object({
    kvBlockIndexConfig: object({
      inMemoryConfig: object({ size: int(100_000_000), podCacheSize: int(10) }),
      redisConfig: optionalObject({ address: text('') }),
      costAwareMemoryConfig: optionalObject({ size: text('2GiB') }),
      enableMetrics: flag(false),
      metricsLoggingInterval: int(0),
    }),
    kvCacheBackendConfigs: list(object({ name: text(''), weight: number(1) })),
  }),
  kvEventsConfig,
  speculativeIndexing: flag(false),
  speculativeTTL: durationMs(2000),
}

export interface PreciseParameters {
  readonly hash: EngineHash
  readonly blockTokens: number
  readonly seed: string
  /** Blocks held over all endpoints, each counted for every endpoint that holds it. */
  readonly blocksMax: number
  readonly measures: boolean
  /** Weight of a block by the tier in which it lies; 1 where a tier is not named. */
  readonly weights: ReadonlyMap<string, number>
  readonly speculates: boolean
  readonly speculativeMs: number
  readonly events: KvEventsConfig
}

/**
 * Blocks at most: some 72 bytes each, so this is 1.2 GB, and what two hundred endpoints of 80,000 blocks hold. llm-d's own
 * default of 100,000,000 would be no bound.
 */
const BLOCKS_MAX = 16_777_216
/** Memory of one block, for a bound that is given in bytes. */
const BLOCK_BYTES = 72

/** @throws ParameterError, or SignalboxError (config-not-built) for an index outside this process */
export const preciseParameters = (parameters: unknown): PreciseParameters => {
  const { tokenProcessorConfig: tokens, indexerConfig: indexer, ...rest } = decodeParametersOf(
    "failed to parse the parameters of the 'precise-prefix-cache-producer' plugin: ", parameters, FIELDS,
  )
  const { kvBlockIndexConfig: index, kvCacheBackendConfigs: backends } = indexer
  if (index.redisConfig !== undefined) throw new SignalboxError('config-not-built', 'indexerConfig.kvBlockIndexConfig.redisConfig: the index is kept in this process')
  const blockTokens = tokens.blockSizeTokens === DEFAULT_BLOCK_TOKENS && tokens.blockSize > 0 ? tokens.blockSize : tokens.blockSizeTokens
  if (blockTokens < 1) throw new ParameterError(`blockSizeTokens must be greater than 0, got ${blockTokens}`, ['tokenProcessorConfig', 'blockSizeTokens'])
  if (!isEngineHash(tokens.hashAlgorithm)) {
    throw new ParameterError(`hashAlgorithm must be "cbor-fnv" or "xxh64", got "${tokens.hashAlgorithm}"`, ['tokenProcessorConfig', 'hashAlgorithm'])
  }
  return {
    hash: tokens.hashAlgorithm,
    blockTokens,
    seed: tokens.hashSeed,
    blocksMax: Math.max(1, Math.min(BLOCKS_MAX, index.costAwareMemoryConfig === undefined ? index.inMemoryConfig.size : Math.floor(bytesOf(index.costAwareMemoryConfig.size) / BLOCK_BYTES))),
    measures: index.enableMetrics,
    weights: new Map([['gpu', 1], ['cpu', 0.8], ...backends.map(({ name, weight }) => [name.toLowerCase(), weight] as const)]),
    speculates: rest.speculativeIndexing,
    speculativeMs: rest.speculativeTTL,
    events: rest.kvEventsConfig,
  }
}

const UNITS: Readonly<Record<string, number>> = { '': 1, B: 1, KB: 1e3, MB: 1e6, GB: 1e9, KIB: 1024, MIB: 1_048_576, GIB: 1_073_741_824 }

/** Bytes of a size such as "2GiB" or "500MB". */
const bytesOf = (size: string): number => {
  const [, amount = '', unit = ''] = /^\s*(\d+(?:\.\d+)?)\s*([a-z]*)\s*$/i.exec(size) ?? []
  const factor = UNITS[unit.toUpperCase()]
  if (amount === '' || factor === undefined) throw new ParameterError(`size must be a number of bytes such as "2GiB", got "${size}"`, ['indexerConfig', 'kvBlockIndexConfig', 'costAwareMemoryConfig', 'size'])
  return Math.floor(Number(amount) * factor)
}
