import type { PluginContext } from '../../../core/contract.ts'
import { decodeParameters, object, ParameterError, text } from '../../../core/parameters.ts'

type StageOrder = 'decode-first' | 'prefill-first'

export interface DisaggSettings {
  readonly stageOrder: StageOrder
  readonly profiles: { readonly decode: string; readonly prefill: string; readonly encode: string }
  /** Names of the deciders; '' for none. */
  readonly deciders: { readonly prefill: string; readonly encode: string }
}

const NESTED = {
  stageOrder: text(''),
  profiles: object({ decode: text(''), prefill: text(''), encode: text('') }),
  deciders: object({ prefill: text(''), encode: text('') }),
}

const LEGACY = {
  stageOrder: text(''),
  decodeProfile: text(''),
  prefillProfile: text(''),
  encodeProfile: text(''),
  prefillDeciderPluginName: text(''),
  encodeDeciderPluginName: text(''),
  deciderPluginName: text(''),
}

/** Reads the parameters in their nested form, else in the old flat one. Throws a ParameterError that quotes both faults. */
export const disaggSettingsOf = (context: PluginContext): DisaggSettings => {
  const given = nestedOrLegacy(context.parameters)
  const { profiles, deciders } = given
  const stageOrder = stageOrderOf(given.stageOrder)
  if (stageOrder === 'prefill-first' && deciders.prefill !== '') {
    throw new ParameterError('prefill decider is not supported in prefill-first stage order', ['stageOrder'])
  }
  return {
    stageOrder,
    profiles: { decode: profiles.decode || 'decode', prefill: profiles.prefill || 'prefill', encode: profiles.encode || 'encode' },
    deciders,
  }
}

interface Given {
  readonly stageOrder: string
  readonly profiles: DisaggSettings['profiles']
  readonly deciders: DisaggSettings['deciders']
}

const nestedOrLegacy = (parameters: unknown): Given => {
  try {
    return decodeParameters(parameters, NESTED)
  } catch (nested) {
    if (!(nested instanceof ParameterError)) throw nested
    return legacy(parameters, nested)
  }
}

const legacy = (parameters: unknown, nested: ParameterError): Given => {
  try {
    const flat = decodeParameters(parameters, LEGACY)
    return {
      stageOrder: flat.stageOrder,
      profiles: { decode: flat.decodeProfile, prefill: flat.prefillProfile, encode: flat.encodeProfile },
      deciders: { prefill: flat.prefillDeciderPluginName || flat.deciderPluginName, encode: flat.encodeDeciderPluginName },
    }
  } catch (error) {
    if (!(error instanceof ParameterError)) throw error
    throw new ParameterError(
      `failed to parse parameters of the disagg-profile-handler: nested schema error: ${nested.message}; legacy schema error: ${error.message}`,
      nested.path,
    )
  }
}

/** The order that a word means: "-" and "_" and case do not count. (llm-d: stageOrder) */
const stageOrderOf = (word: string): StageOrder => {
  switch (word.replace(/[-_]/g, '').toLowerCase()) {
    case '':
    case 'decodefirst':
    case 'decode':
      return 'decode-first'
    case 'prefillfirst':
    case 'prefill':
      return 'prefill-first'
    default:
      throw new ParameterError(`invalid stage order "${word}", must be "decode-first" or "prefill-first"`, ['stageOrder'])
  }
}
