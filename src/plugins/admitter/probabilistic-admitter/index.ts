import type { Admitter, Denial, PluginContext, PluginType, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { power } from '../../../core/numeric.ts'
import { decodeParametersOf, int, number, ParameterError } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'
import { denial } from '../../../core/scheduling-error.ts'

const TYPE = 'probabilistic-admitter'

const FIELDS = { queueDepthThreshold: int(5), kvCacheUtilThreshold: number(0.8), power: number(5), k: number(300) }

export interface ProbabilisticAdmitterSettings {
  /** Waiting requests at which an endpoint is full. */
  readonly queueDepthThreshold: number
  /** Fraction of the cache at which an endpoint is full. */
  readonly kvCacheUtilThreshold: number
  readonly power: number
  readonly k: number
}

/**
 * Turns sheddable requests (priority below 0) away, the likelier the fuller the endpoints: min(saturation^power k, 1),
 * saturation being the mean of max(waiting / threshold, cache / threshold). (llm-d: probabilistic-admitter)
 */
export class ProbabilisticAdmitter implements Admitter {
  readonly typedName: TypedName
  readonly settings: ProbabilisticAdmitterSettings
  private services: Services | undefined = undefined

  constructor(name: string, settings: ProbabilisticAdmitterSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  setup(services: Services): void {
    this.services = services
  }

  admit(request: Request, candidates: readonly Endpoint[]): Denial | undefined {
    if (request.priority >= 0 || candidates.length === 0) return undefined
    if (this.services === undefined) throw new Error(`${TYPE}: setup() was not called`)
    const saturation = this.saturation(candidates)
    const probability = Math.min(power(saturation, this.settings.power) * this.settings.k, 1)
    if (this.services.die().next() >= probability) return undefined
    return denial('ResourceExhausted', `${TYPE}: rejected, saturation=${saturation.toFixed(3)} prob=${probability.toFixed(2)}`)
  }

  private saturation(candidates: readonly Endpoint[]): number {
    const { queueDepthThreshold, kvCacheUtilThreshold } = this.settings
    let sum = 0
    for (const endpoint of candidates) {
      sum += Math.max(endpoint.waitingQueueSize / queueDepthThreshold, endpoint.kvCacheUsage / kvCacheUtilThreshold)
    }
    return sum / candidates.length
  }
}

const settingsOf = (context: PluginContext): ProbabilisticAdmitterSettings => {
  const settings = decodeParametersOf(`failed to parse parameters for '${TYPE}' plugin: `, context.parameters, FIELDS)
  for (const name of ['queueDepthThreshold', 'kvCacheUtilThreshold', 'power', 'k'] as const) {
    if (settings[name] <= 0) throw new ParameterError(`plugin '${TYPE}': ${name} must be > 0, got ${settings[name]}`, [name])
  }
  return settings
}

export const probabilisticAdmitter: PluginType = {
  type: TYPE,
  kinds: ['admitter'],
  stability: 'beta',
  create: (context) => new ProbabilisticAdmitter(context.name, settingsOf(context)),
}
