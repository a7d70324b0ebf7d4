import { fromProducer, IN_FLIGHT_LOAD, type InFlightLoad, type Reader } from '../../../core/attribute.ts'
import type { Consumption, Detector, Filter, PluginContext, PluginType, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int, number, ParameterError, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'concurrency-detector'

type ConcurrencyMode = 'requests' | 'tokens' | 'hybrid'

export interface ConcurrencyDetectorSettings {
  readonly concurrencyMode: ConcurrencyMode
  /** Requests in flight at which an endpoint is full. */
  readonly maxConcurrency: number
  /** Tokens in flight at which an endpoint is full. */
  readonly maxTokenConcurrency: number
  /** How far beyond full the filter lets an endpoint go: 0.2 is 20 %. */
  readonly headroom: number
  readonly inFlightLoadProducerName: string
}

const FIELDS = {
  concurrencyMode: text('requests'),
  maxConcurrency: int(100),
  maxTokenConcurrency: int(1_000_000),
  headroom: number(0),
  inFlightLoadProducerName: text(''),
}

const NO_LOAD: InFlightLoad = { requests: 0, tokens: 0 }

/**
 * Judges by what is in flight: the sum over the sum of capacities, or in hybrid mode the mean of each endpoint's fuller
 * side. As a filter it keeps endpoints under their limit, and may keep none. (llm-d: concurrency-detector)
 */
export class ConcurrencyDetector implements Detector, Filter {
  readonly typedName: TypedName
  readonly settings: ConcurrencyDetectorSettings
  private readonly requestLimit: number
  private readonly tokenLimit: number
  private reader: Reader<InFlightLoad> | undefined = undefined

  constructor(name: string, settings: ConcurrencyDetectorSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    this.requestLimit = Math.trunc(settings.maxConcurrency * (1 + settings.headroom))
    this.tokenLimit = Math.trunc(settings.maxTokenConcurrency * (1 + settings.headroom))
  }

  consumes(): Consumption {
    return { required: [fromProducer(IN_FLIGHT_LOAD, this.settings.inFlightLoadProducerName)] }
  }

  setup(services: Services): void {
    this.reader = services.reader(fromProducer(IN_FLIGHT_LOAD, this.settings.inFlightLoadProducerName))
  }

  saturation(endpoints: readonly (Endpoint | undefined)[]): number {
    const { concurrencyMode, maxConcurrency, maxTokenConcurrency } = this.settings
    let present = 0
    let requests = 0
    let tokens = 0
    let fullness = 0
    for (const endpoint of endpoints) {
      if (endpoint === undefined) continue
      const load = this.loadOf(endpoint)
      present += 1
      requests += load.requests
      tokens += load.tokens
      fullness += Math.max(load.requests / maxConcurrency, load.tokens / maxTokenConcurrency)
    }
    if (present === 0) return 1
    if (concurrencyMode === 'requests') return requests / (present * maxConcurrency)
    if (concurrencyMode === 'tokens') return tokens / (present * maxTokenConcurrency)
    return fullness / present
  }

  filter(_request: Request, candidates: readonly (Endpoint | undefined)[]): readonly Endpoint[] {
    const kept: Endpoint[] = []
    for (const endpoint of candidates) if (endpoint !== undefined && this.hasRoom(this.loadOf(endpoint))) kept.push(endpoint)
    return kept.length === candidates.length ? (candidates as readonly Endpoint[]) : kept
  }

  private loadOf(endpoint: Endpoint): InFlightLoad {
    return this.reader?.get(endpoint) ?? NO_LOAD
  }

  private hasRoom({ requests, tokens }: InFlightLoad): boolean {
    const { concurrencyMode } = this.settings
    return (concurrencyMode === 'tokens' || requests < this.requestLimit) && (concurrencyMode === 'requests' || tokens < this.tokenLimit)
  }
}

const isMode = (word: string): word is ConcurrencyMode => word === 'requests' || word === 'tokens' || word === 'hybrid'

const settingsOf = (context: PluginContext): ConcurrencyDetectorSettings => {
  const given = decodeParametersOf('failed to unmarshal concurrency detector config: ', context.parameters, FIELDS)
  const { concurrencyMode, maxConcurrency, maxTokenConcurrency, headroom } = given
  const faults: string[] = []
  if (maxConcurrency <= 0) faults.push(`maxConcurrency must be strictly positive, got ${maxConcurrency}`)
  if (headroom < 0) faults.push(`headroom must be a non-negative value, got ${headroom}`)
  if (maxTokenConcurrency <= 0) faults.push(`maxTokenConcurrency must be strictly positive, got ${maxTokenConcurrency}`)
  if (!isMode(concurrencyMode)) faults.push(`unsupported concurrencyMode: "${concurrencyMode}"`)
  if (faults.length > 0 || !isMode(concurrencyMode)) throw new ParameterError(`invalid concurrency detector configuration: ${faults.join('; ')}`)
  if (headroom > 1) context.warn(`${TYPE}: headroom ${headroom} is ${headroom * 100} %; it is a fraction, not a percentage`)
  return { ...given, concurrencyMode }
}

export const concurrencyDetector: PluginType = {
  type: TYPE,
  kinds: ['detector', 'filter'],
  stability: 'beta',
  create: (context) => new ConcurrencyDetector(context.name, settingsOf(context)),
}
