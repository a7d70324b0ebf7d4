import type { Filter, PluginType, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, flag, list, ParameterError, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'
import { keep } from '../keep.ts'

const TYPE = 'by-label'

const FIELDS = { label: text(''), validValues: list(text('')), allowsNoLabel: flag(false) }

/** Keeps endpoints whose label has one of the values; those without it only where that is allowed. (llm-d: by-label) */
export class ByLabel implements Filter {
  readonly typedName: TypedName
  private readonly passes: (endpoint: Endpoint) => boolean

  constructor(name: string, label: string, validValues: readonly string[], allowsNoLabel: boolean) {
    this.typedName = { type: TYPE, name }
    const valid = new Set(validValues)
    this.passes = ({ labels }) => {
      const value = labels.get(label)
      return value === undefined ? allowsNoLabel : valid.has(value)
    }
  }

  filter(_request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    return keep(candidates, this.passes)
  }
}

export const byLabel: PluginType = {
  type: TYPE,
  kinds: ['filter'],
  stability: 'beta',
  deprecated: { since: 'v0.9.0', removal: 'v0.11.0', replacement: 'label-selector-filter' },
  create: (context) => {
    const { label, validValues, allowsNoLabel } = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' filter - `, context.parameters, FIELDS)
    if (label === '') throw new ParameterError("invalid configuration for 'by-label' filter: 'label' must be specified", ['label'])
    if (validValues.length === 0 && !allowsNoLabel) {
      throw new ParameterError("invalid configuration for 'by-label' filter: either 'validValues' must be non-empty or 'allowsNoLabel' must be true", ['validValues'])
    }
    return new ByLabel(context.name, label, validValues, allowsNoLabel)
  },
}
