import { fromProducer, PREFIX_CACHE_MATCH_INFO, TOKENIZED_PROMPT } from '../../../core/attribute.ts'
import type { Consumption, Decider, PluginContext, PluginType, ProfileHandler, Services, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, int, ParameterError, text } from '../../../core/parameters.ts'
import type { ProfileResult, ProfileResults, Request, SchedulingResult, Stage } from '../../../core/request.ts'
import { deciderNamed } from '../decider-reference.ts'
import { atPort, DATA_PARALLEL_HEADER } from '../endpoint-at-port.ts'
import { countDecision, decisionTypeOf, type DecisionType } from '../stage-decision.ts'

const TYPE = 'pd-profile-handler'

export interface PdSettings {
  readonly decodeProfile: string
  readonly prefillProfile: string
  /** 0 leaves ports alone; else from 1 to 65535. */
  readonly primaryPort: number
  readonly deciderPluginName: string
  readonly prefixMatchInfoProducerName: string
}

const FIELDS = {
  decodeProfile: text('decode'),
  prefillProfile: text('prefill'),
  prefixPluginType: text(''),
  prefixPluginName: text(''),
  primaryPort: int(0),
  deciderPluginName: text('prefix-based-pd-decider'),
  prefixMatchInfoProducerName: text(''),
}

const NOTHING: readonly string[] = []

/** Chooses decode, and prefill where the decider says so. The older form of disagg-profile-handler. (llm-d: pd-profile-handler) */
export class PdProfileHandler implements ProfileHandler {
  readonly typedName: TypedName
  readonly settings: PdSettings
  private readonly decider: Decider
  private services: Services | undefined = undefined

  constructor(name: string, settings: PdSettings, decider: Decider) {
    this.typedName = { type: TYPE, name }
    this.settings = settings
    this.decider = decider
  }

  consumes(): Consumption {
    return { required: [fromProducer(PREFIX_CACHE_MATCH_INFO, this.settings.prefixMatchInfoProducerName), TOKENIZED_PROMPT] }
  }

  setup(services: Services): void {
    this.services = services
  }

  pick(request: Request, profiles: readonly string[], results: ProfileResults): readonly string[] {
    const { decodeProfile, prefillProfile } = this.settings
    const decoded = results.get(decodeProfile)
    if (decoded === undefined) return [decodeProfile]
    const target = decoded?.endpoints[0]
    // Prefill runs once, however many profiles there are.
    if (target === undefined || results.has(prefillProfile) || !profiles.includes(prefillProfile)) return NOTHING
    const prefills = this.decider.runs(request, target)
    if (this.services === undefined) throw new Error(`${TYPE}: setup() was not called`)
    countDecision(this.services, 'pd', this.typedName, request.targetModel, decisionTypeOf(false, prefills))
    return prefills ? [prefillProfile] : NOTHING
  }

  stageOf(profile: string): Stage {
    return profile === this.settings.prefillProfile ? 'prefill' : 'decode'
  }

  processResults(request: Request, results: ProfileResults): SchedulingResult {
    const { decodeProfile, prefillProfile, primaryPort } = this.settings
    const decoded = results.get(decodeProfile)
    if (!decoded) throw new Error('failed to find available decode workers')
    const kept = new Map<string, ProfileResult>([[decodeProfile, decoded]])
    if (primaryPort !== 0) {
      const [first] = decoded.endpoints
      if (first === undefined) throw new Error('failed to find available decode workers')
      request.headers.set(DATA_PARALLEL_HEADER, first.hostPort)
      kept.set(decodeProfile, { endpoints: decoded.endpoints.map((endpoint) => atPort(endpoint, primaryPort)) })
    }
    const prefilled = results.get(prefillProfile)
    if (prefilled) kept.set(prefillProfile, prefilled)
    return { primary: decodeProfile, results: kept }
  }

  decisionType(result: SchedulingResult): DecisionType {
    return decisionTypeOf(false, result.results.has(this.settings.prefillProfile))
  }
}

const create = (context: PluginContext): PdProfileHandler => {
  const given = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' profile handler - `, context.parameters, FIELDS)
  const { decodeProfile, prefillProfile, primaryPort, deciderPluginName, prefixMatchInfoProducerName } = given
  if (primaryPort !== 0 && (primaryPort < 1 || primaryPort > 65_535)) {
    throw new ParameterError(`invalid primaryPort: must be between 1 and 65535, got ${primaryPort}`, ['primaryPort'])
  }
  if (deciderPluginName === '') throw new ParameterError('decider plugin name is not defined', ['deciderPluginName'])
  const decider = deciderNamed(context, deciderPluginName, {
    notFound: `invalid decider plugin type: ${deciderPluginName}`,
    notDecider: `decider plugin of type: ${deciderPluginName} does not implement pdDeciderPlugin`,
    path: ['deciderPluginName'],
  })
  return new PdProfileHandler(context.name, { decodeProfile, prefillProfile, primaryPort, deciderPluginName, prefixMatchInfoProducerName }, decider)
}

export const pdProfileHandler: PluginType = {
  type: TYPE,
  kinds: ['profile-handler'],
  stability: 'beta',
  deprecated: { since: 'v0.7.0', removal: 'v0.9.0', replacement: 'disagg-profile-handler' },
  references: ['deciderPluginName'],
  create,
}
