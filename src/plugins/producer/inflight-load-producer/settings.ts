import type { PluginContext } from '../../../core/contract.ts'
import { decodeParametersOf, flag, int, number, ParameterError, text } from '../../../core/parameters.ts'

/** What goes when: as the plugin's documents say, or as llm-d's code does. See the README. */
type ReleaseRule = 'documented' | 'llm-d'

export interface InFlightLoadSettings {
  readonly addEstimatedOutputTokens: boolean
  /** Output tokens expected per input token. */
  readonly outputRatio: number
  /** The operator's bound on the estimate; undefined for none. */
  readonly maxEstimatedOutputTokens: number | undefined
  /** '' for the default producer. */
  readonly prefixMatchInfoProducerName: string
  /** Whether peers' loads count as well. */
  readonly syncCrossReplicaState: boolean
  readonly release: ReleaseRule
}

const FIELDS = {
  addEstimatedOutputTokens: flag(false),
  outputRatio: number(1.5),
  maxEstimatedOutputTokens: int(undefined),
  prefixMatchInfoProducerName: text(''),
  syncCrossReplicaState: flag(true),
  release: text('documented'),
}

export const inFlightLoadSettingsOf = (context: PluginContext): InFlightLoadSettings => {
  const { release, ...given } = decodeParametersOf('failed to decode inflight-load-producer parameters: ', context.parameters, FIELDS)
  if (given.outputRatio < 0) throw new ParameterError(`outputRatio must be non-negative, got ${given.outputRatio}`, ['outputRatio'])
  if (given.maxEstimatedOutputTokens !== undefined && given.maxEstimatedOutputTokens < 0) {
    throw new ParameterError(`maxEstimatedOutputTokens must be non-negative, got ${given.maxEstimatedOutputTokens}`, ['maxEstimatedOutputTokens'])
  }
  if (release !== 'documented' && release !== 'llm-d') {
    throw new ParameterError(`release must be "documented" or "llm-d", got "${release}"`, ['release'])
  }
  return { ...given, release }
}
