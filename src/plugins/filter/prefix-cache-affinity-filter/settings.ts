import type { PluginContext } from '../../../core/contract.ts'
import { decodeParametersOf, number, ParameterError, text } from '../../../core/parameters.ts'

type TtftSource = 'prefillThroughput' | 'latencyPredictor'

export interface AffinityFilterSettings {
  /** Share of the prompt from which an endpoint is sticky; 0 or less turns the filter off. */
  readonly affinityThreshold: number
  /** Share of the requests that see all endpoints, from 0 to 1. */
  readonly explorationProbability: number
  /** Milliseconds that sticky endpoints may be slower to the first token than others; 0 for any. */
  readonly maxTTFTPenaltyMs: number
  readonly ttftSource: TtftSource
  /** Tokens per second that an endpoint prefills. */
  readonly peakPrefillThroughput: number
  readonly prefixMatchInfoProducerName: string
  readonly latencyPredictionInfoProducerName: string
  readonly inFlightLoadProducerName: string
}

const FIELDS = {
  affinityThreshold: number(0.8),
  explorationProbability: number(0),
  maxTTFTPenaltyMs: number(18_000),
  ttftSource: text('prefillThroughput'),
  peakPrefillThroughput: number(15_928),
  prefixMatchInfoProducerName: text(''),
  latencyPredictionInfoProducerName: text(''),
  inFlightLoadProducerName: text(''),
}

export const affinitySettingsOf = (context: PluginContext): AffinityFilterSettings => {
  const given = decodeParametersOf('failed to parse the parameters of prefix-cache-affinity-filter: ', context.parameters, FIELDS)
  const { ttftSource } = given
  const wrong = (message: string, field: string): ParameterError => new ParameterError(`invalid config: ${message}`, [field])
  if (given.affinityThreshold > 1) throw wrong(`affinityThreshold must be <= 1.0, got ${given.affinityThreshold}`, 'affinityThreshold')
  if (given.explorationProbability < 0 || given.explorationProbability > 1) {
    throw wrong(`explorationProbability must be in [0, 1], got ${given.explorationProbability}`, 'explorationProbability')
  }
  if (given.maxTTFTPenaltyMs < 0) throw wrong(`maxTTFTPenaltyMs must be >= 0, got ${given.maxTTFTPenaltyMs}`, 'maxTTFTPenaltyMs')
  if (given.peakPrefillThroughput < 0) throw wrong(`peakPrefillThroughput must be >= 0, got ${given.peakPrefillThroughput}`, 'peakPrefillThroughput')
  if (ttftSource !== 'latencyPredictor' && ttftSource !== 'prefillThroughput') {
    throw wrong(`ttftSource must be "latencyPredictor" or "prefillThroughput", got "${ttftSource}"`, 'ttftSource')
  }
  if (ttftSource === 'prefillThroughput' && given.maxTTFTPenaltyMs > 0 && given.peakPrefillThroughput === 0) {
    throw wrong('peakPrefillThroughput must be > 0 when ttftSource is prefillThroughput', 'peakPrefillThroughput')
  }
  return { ...given, ttftSource }
}
