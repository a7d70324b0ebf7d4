import { TOKENIZED_PROMPT } from '../../../core/attribute.ts'
import type { Consumption, Filter, PluginType, Scorer, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, flag, ParameterError, text } from '../../../core/parameters.ts'
import { tokensOf, type Request } from '../../../core/request.ts'
import { keep } from '../../filter/keep.ts'
import { includes, parseContextRange, rateContextRange, type ContextRange } from './context-range.ts'

const TYPE = 'context-length-aware'
const LABEL = 'llm-d.ai/context-length-range'
const NEUTRAL = 0.5
// Labels are few; whoever makes them up anew all the time costs time, not memory.
const RANGES_KEPT_MAX = 1024

/** Prefers endpoints whose labelled range fits the prompt, the narrower the better; may also filter by it. (llm-d: context-length-aware) */
export class ContextLengthAware implements Scorer, Filter {
  readonly typedName: TypedName
  readonly category = 'affinity'
  readonly label: string
  readonly enableFiltering: boolean
  private readonly ranges = new Map<string, ContextRange | undefined>()

  constructor(name: string, label: string, enableFiltering: boolean) {
    this.typedName = { type: TYPE, name }
    this.label = label
    this.enableFiltering = enableFiltering
  }

  consumes(): Consumption {
    return { required: [], optional: [TOKENIZED_PROMPT] }
  }

  score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const tokens = tokensOf(request)
    for (let i = 0; i < candidates.length; i++) {
      const label = (candidates[i] as Endpoint).labels.get(this.label)
      const range = label === undefined ? undefined : this.rangeOf(label)
      out[i] = label === undefined ? NEUTRAL : range === undefined ? 0 : rateContextRange(range, tokens)
    }
  }

  filter(request: Request, candidates: readonly Endpoint[]): readonly Endpoint[] {
    if (!this.enableFiltering) return candidates
    const tokens = tokensOf(request)
    return keep(candidates, (endpoint) => {
      const label = endpoint.labels.get(this.label)
      if (label === undefined) return true
      const range = this.rangeOf(label)
      return range !== undefined && includes(range, tokens)
    })
  }

  private rangeOf(label: string): ContextRange | undefined {
    if (this.ranges.has(label)) return this.ranges.get(label)
    if (this.ranges.size >= RANGES_KEPT_MAX) this.ranges.clear()
    const range = parseContextRange(label)
    this.ranges.set(label, range)
    return range
  }
}

export const contextLengthAware: PluginType = {
  type: TYPE,
  kinds: ['scorer', 'filter'],
  stability: 'beta',
  create: (context) => {
    const fields = { label: text(LABEL), enableFiltering: flag(false) }
    const { label, enableFiltering } = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' plugin - `, context.parameters, fields)
    if (label === '') throw new ParameterError(`invalid configuration for '${TYPE}' plugin: 'label' must be specified`, ['label'])
    return new ContextLengthAware(context.name, label, enableFiltering)
  },
}
