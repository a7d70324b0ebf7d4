import { fromProducer, IN_FLIGHT_LOAD, type InFlightLoad, type Reader } from '../../../core/attribute.ts'
import type { Consumption, PluginContext, PluginType, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { anything, decodeParametersOf, int, number, text } from '../../../core/parameters.ts'
import type { Request } from '../../../core/request.ts'

const TYPE = 'active-request-scorer'

const FIELDS = { idleThreshold: int(0), maxBusyScore: number(1), requestTimeout: anything, inFlightLoadProducerName: text('') }

interface ActiveRequestScorerSettings {
  /** Requests in flight up to which an endpoint is idle and gets 1. */
  readonly idleThreshold: number
  /** What the least busy of the busy could get at most, from 0 to 1. */
  readonly maxBusyScore: number
  readonly inFlightLoadProducerName: string
}

/** Prefers endpoints with fewer requests in flight: 1 when idle, else (max - n) / max x maxBusyScore. (llm-d: active-request-scorer) */
export class ActiveRequestScorer implements Scorer {
  readonly typedName: TypedName
  readonly category = 'distribution'
  readonly settings: ActiveRequestScorerSettings
  private reader: Reader<InFlightLoad> | undefined = undefined

  constructor(name: string, settings: ActiveRequestScorerSettings) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
  }

  consumes(): Consumption {
    return { required: [fromProducer(IN_FLIGHT_LOAD, this.settings.inFlightLoadProducerName)] }
  }

  setup(services: Services): void {
    this.reader = services.reader(fromProducer(IN_FLIGHT_LOAD, this.settings.inFlightLoadProducerName))
  }

  score(_request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const reader = this.reader as Reader<InFlightLoad>
    const { idleThreshold, maxBusyScore } = this.settings
    let most = 0
    for (let i = 0; i < candidates.length; i++) {
      const requests = reader.get(candidates[i] as Endpoint)?.requests ?? 0
      out[i] = requests
      if (requests > most) most = requests
    }
    for (let i = 0; i < candidates.length; i++) {
      const requests = out[i] as number
      out[i] = requests <= idleThreshold ? 1 : ((most - requests) / most) * maxBusyScore
    }
  }
}

const settingsOf = (context: PluginContext): ActiveRequestScorerSettings => {
  const given = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' scorer - `, context.parameters, FIELDS)
  let { idleThreshold, maxBusyScore } = given
  if (idleThreshold < 0) {
    context.warn(`${TYPE}: idleThreshold ${idleThreshold} is negative, 0 is used`)
    idleThreshold = 0
  }
  if (maxBusyScore < 0 || maxBusyScore > 1) {
    context.warn(`${TYPE}: maxBusyScore ${maxBusyScore} is not in [0, 1], 1 is used`)
    maxBusyScore = 1
  }
  return { idleThreshold, maxBusyScore, inFlightLoadProducerName: given.inFlightLoadProducerName }
}

export const activeRequestScorer: PluginType = {
  type: TYPE,
  kinds: ['scorer'],
  stability: 'beta',
  create: (context) => new ActiveRequestScorer(context.name, settingsOf(context)),
}
