import type { Filter, PluginContext, PluginType, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'
import { keep } from '../keep.ts'
import { LABEL_SELECTOR_FIELDS, labelTest, type LabelTest } from './label-selector.ts'

const TYPE = 'label-selector-filter'

/** Keeps endpoints whose labels a Kubernetes label selector matches. (llm-d: label-selector-filter) */
export class LabelSelectorFilter implements Filter {
  readonly typedName: TypedName
  private readonly passes: (endpoint: Endpoint) => boolean

  constructor(name: string, test: LabelTest) {
    this.typedName = { type: TYPE, name }
    this.passes = (endpoint) => test(endpoint.labels)
  }

  filter(_request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    return keep(candidates, this.passes)
  }
}

const create = (context: PluginContext): LabelSelectorFilter => {
  const parameters = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' filter - `, context.parameters, LABEL_SELECTOR_FIELDS)
  return new LabelSelectorFilter(context.name, labelTest(parameters))
}

export const labelSelectorFilter: PluginType = { type: TYPE, kinds: ['filter'], stability: 'beta', create }

/** The old name; what it makes is of the type label-selector-filter. */
export const byLabelSelector: PluginType = {
  type: 'by-label-selector',
  kinds: ['filter'],
  stability: 'beta',
  deprecated: { since: 'v0.9.0', removal: 'v0.11.0', replacement: TYPE },
  create,
}
