import { fromProducer, IN_FLIGHT_LOAD, UNCACHED_REQUEST_TOKENS, type InFlightLoad, type Reader, type UncachedRequestTokens } from '../../../core/attribute.ts'
import type { Consumption, PluginType, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'token-load-scorer'
const DEFAULT_THRESHOLD = 4_194_304

const FIELDS = { queueThresholdTokens: int(DEFAULT_THRESHOLD), inFlightLoadProducerName: text('') }

/**
 * Prefers endpoints with fewer tokens in flight, this request's own uncached ones included: 1 - min(tokens, threshold) /
 * threshold. What is not known counts 0. (llm-d: token-load-scorer)
 */
export class TokenLoadScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'
  /** Tokens from which the score is 0. */
  readonly threshold: number
  private readonly producer: string
  private inFlight: Reader<InFlightLoad> | undefined = undefined
  private uncached: Reader<UncachedRequestTokens> | undefined = undefined

  constructor(name: string, threshold: number, producer: string) {
    this.typedName = { type: TYPE, name }
    this.threshold = threshold > 0 ? threshold : DEFAULT_THRESHOLD
    this.producer = producer
  }

  consumes(): Consumption {
    return { required: [fromProducer(IN_FLIGHT_LOAD, this.producer), fromProducer(UNCACHED_REQUEST_TOKENS, this.producer)] }
  }

  setup(services: Services): void {
    this.inFlight = services.reader(fromProducer(IN_FLIGHT_LOAD, this.producer))
    this.uncached = services.reader(fromProducer(UNCACHED_REQUEST_TOKENS, this.producer))
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const inFlight = this.inFlight as Reader<InFlightLoad>
    const uncached = this.uncached as Reader<UncachedRequestTokens>
    const threshold = this.threshold
    for (let i = 0; i < candidates.length; i++) {
      const endpoint = candidates[i] as Endpoint
      const tokens = (inFlight.get(endpoint)?.tokens ?? 0) + (uncached.get(endpoint)?.tokens ?? 0)
      out[i] = tokens <= 0 ? 1 : 1 - Math.min(tokens, threshold) / threshold
    }
  }
}

export const tokenLoadScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => {
    const { queueThresholdTokens, inFlightLoadProducerName } = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' scorer - `, context.parameters, FIELDS)
    if (queueThresholdTokens <= 0) context.warn(`${TYPE}: queueThresholdTokens ${queueThresholdTokens} is not positive, ${DEFAULT_THRESHOLD} is used`)
    return new TokenLoadScorer(context.name, queueThresholdTokens, inFlightLoadProducerName)
  },
}
