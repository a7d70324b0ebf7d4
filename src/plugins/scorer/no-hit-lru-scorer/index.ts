import { fromProducer, PREFIX_CACHE_MATCH_INFO, type PrefixCacheMatchInfo, type Reader } from '../../../core/attribute.ts'
import type { Consumption, PluginContext, PluginType, PreRequest, Scorer, Services, TypedName } from '../../../core/contract.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import { decodeParametersOf, int, text } from '../../../core/parameters.ts'
import type { Request, SchedulingResult } from '../../../core/request.ts'
import { loadJson, saveJson } from '../../saved-json.ts'

const TYPE = 'no-hit-lru-scorer'
const DEFAULT_SIZE = 1024
const NEUTRAL = 0.5
// The literal name, whatever the handler calls its stages. (llm-d does the same)
const PREFILL_PROFILE = 'prefill'

/**
 * Spreads requests that nobody has in cache: the endpoint that longest had no such request scores highest, so caches grow
 * evenly. Other requests score 0.5 everywhere. (llm-d: no-hit-lru-scorer)
 */
export class NoHitLruScorer implements Scorer, PreRequest {
  readonly typedName: TypedName
  readonly category = 'distribution'
  readonly size: number
  private readonly producer: string
  private reader: Reader<PrefixCacheMatchInfo> | undefined = undefined
  /** Ids of endpoints that had a cold request, the longest ago first. */
  private readonly used = new Map<string, true>()
  /** The request scored last; scoring and hooks of a request happen in one turn. */
  private coldKey = -1

  constructor(name: string, size: number, producer: string) {
    this.typedName = { type: TYPE, name }
    this.size = size
    this.producer = producer
  }

  consumes(): Consumption {
    return { required: [fromProducer(PREFIX_CACHE_MATCH_INFO, this.producer)] }
  }

  setup(services: Services): void {
    this.reader = services.reader(fromProducer(PREFIX_CACHE_MATCH_INFO, this.producer))
  }

  score(request: Request, candidates: readonly Endpoint[], out: Float64Array): void {
    const cold = candidates.every((endpoint) => !((this.reader?.get(endpoint)?.matchBlocks ?? 0) > 0))
    this.coldKey = cold ? request.key : -1
    if (!cold) out.fill(NEUTRAL, 0, candidates.length)
    else if (candidates.length === 1) out[0] = 1
    else this.rank(candidates, out)
  }

  /** Only a cold request makes an endpoint the one used last. */
  preRequest(request: Request, result: SchedulingResult): void {
    if (this.coldKey !== request.key) return
    this.coldKey = -1
    for (const profile of new Set([result.primary, PREFILL_PROFILE])) {
      const endpoint = result.results.get(profile)?.endpoints[0]
      if (endpoint !== undefined) this.use(endpoint.id)
    }
  }

  save(): Uint8Array {
    return saveJson([...this.used.keys()])
  }

  load(state: Uint8Array): void {
    this.used.clear()
    for (const id of loadJson(state, `a ${TYPE}`, areIds)) this.used.set(id, true)
  }

  private use(id: string): void {
    this.used.delete(id)
    this.used.set(id, true)
    const [oldest] = this.used.keys()
    if (this.used.size > this.size && oldest !== undefined) this.used.delete(oldest)
  }

  /** Never used ones in order, then used ones from the one used longest ago; the place among all decides. */
  private rank(candidates: readonly Endpoint[], out: Float64Array): void {
    const last = candidates.length - 1
    const places = new Map<string, number>()
    for (const id of this.used.keys()) places.set(id, places.size)
    let fresh = 0
    for (let i = 0; i < candidates.length; i++) {
      if (places.has((candidates[i] as Endpoint).id)) continue
      out[i] = 1 - fresh / last
      fresh += 1
    }
    for (let i = 0; i < candidates.length; i++) {
      const place = places.get((candidates[i] as Endpoint).id)
      if (place !== undefined) out[i] = Math.max(0, 1 - (fresh + place) / last)
    }
  }
}

const areIds = (value: unknown): value is readonly string[] => Array.isArray(value) && value.every((id) => typeof id === 'string')

const create = (context: PluginContext): NoHitLruScorer => {
  const fields = { lruSize: int(DEFAULT_SIZE), prefixMatchInfoProducerName: text(''), prefixPluginType: text(''), prefixPluginName: text('') }
  const given = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' scorer - `, context.parameters, fields)
  if (given.prefixPluginType !== '' || given.prefixPluginName !== '') {
    context.warn(`${TYPE}: prefixPluginType and prefixPluginName have no effect; use prefixMatchInfoProducerName`)
  }
  if (given.lruSize <= 0) context.warn(`${TYPE}: lruSize ${given.lruSize} is not positive, ${DEFAULT_SIZE} is used`)
  return new NoHitLruScorer(context.name, given.lruSize > 0 ? given.lruSize : DEFAULT_SIZE, given.prefixMatchInfoProducerName)
}

export const noHitLruScorer: PluginType = { type: TYPE, kinds: ['scorer', 'pre-request'], stability: 'beta', create }
