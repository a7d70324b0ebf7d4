import { type Decoded, decodeParametersOf, flag, int, ParameterError } from '../../../core/parameters.ts'

/** Engines report small blocks; matching is not worth its cost below this many tokens. */
export const MIN_BLOCK_TOKENS = 64
const DEFAULT_BLOCK_TOKENS = 16
const DEFAULT_CAPACITY = 31_250
/** Saved as 32 bits; memory ends long before. */
const CAPACITY_MAX = 2_147_483_647

const FIELDS = {
  autoTune: flag(true),
  blockSizeTokens: int(DEFAULT_BLOCK_TOKENS),
  blockSize: int(0),
  maxPrefixTokensToMatch: int(131_072),
  maxPrefixBlocksToMatch: int(2048),
  lruCapacityPerServer: int(DEFAULT_CAPACITY),
}

export type ApproxParameters = Decoded<typeof FIELDS>

/** @throws ParameterError */
export const approxParameters = (parameters: unknown): ApproxParameters => {
  const decoded = decodeParametersOf('failed to unmarshal prefix cache parameters: ', parameters, FIELDS)
  if (decoded.blockSize > 0) {
    if (decoded.blockSizeTokens === DEFAULT_BLOCK_TOKENS) decoded.blockSizeTokens = decoded.blockSize
    decoded.blockSize = 0
  }
  return checked(decoded)
}

/** @throws ParameterError */
export const checked = (parameters: ApproxParameters): ApproxParameters => {
  const { autoTune, blockSizeTokens, maxPrefixTokensToMatch } = parameters
  if (!autoTune && blockSizeTokens <= 0) {
    throw invalid(`BlockSizeTokens must be > 0 when AutoTune is disabled (current value: ${blockSizeTokens})`, 'blockSizeTokens')
  }
  if (maxPrefixTokensToMatch < 0) {
    throw invalid(`MaxPrefixTokensToMatch must be >= 0 (current value: ${maxPrefixTokensToMatch})`, 'maxPrefixTokensToMatch')
  }
  return parameters
}

const invalid = (message: string, field: string): ParameterError => new ParameterError(`invalid configuration: ${message}`, [field])

/** Tokens a block, given what the first candidate reports of itself; 0 is nothing. */
export const blockTokensOf = (parameters: ApproxParameters, reported: number, min: number): number =>
  Math.max(min, parameters.autoTune && reported > 0 ? Math.floor(reported) : parameters.blockSizeTokens)

/** Blocks at most per prompt; undefined for no bound. */
export const maxBlocksOf = ({ maxPrefixTokensToMatch, maxPrefixBlocksToMatch }: ApproxParameters, blockTokens: number): number | undefined => {
  if (maxPrefixTokensToMatch > 0) return Math.floor(maxPrefixTokensToMatch / blockTokens)
  return maxPrefixBlocksToMatch === 0 ? undefined : Math.max(0, maxPrefixBlocksToMatch)
}

/** Blocks an endpoint is taken to hold, given what it reports of itself; 0 is nothing. */
export const capacityOf = ({ autoTune, lruCapacityPerServer }: ApproxParameters, reported: number): number => {
  const capacity = autoTune && reported > 0 ? Math.ceil(reported) : lruCapacityPerServer
  return capacity > 0 ? Math.min(capacity, CAPACITY_MAX) : DEFAULT_CAPACITY
}
