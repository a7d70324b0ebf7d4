import type { PluginType, ProfileHandler, TypedName } from '../../../core/contract.ts'
import { decodeParametersOf, int, ParameterError } from '../../../core/parameters.ts'
import type { ProfileResults, Request, SchedulingResult, Stage } from '../../../core/request.ts'
import { atPort, DATA_PARALLEL_HEADER } from '../endpoint-at-port.ts'

const TYPE = 'data-parallel-profile-handler'

/**
 * Runs the only profile, tells the chosen rank's address by a header and sends the request to the node's one port.
 * (llm-d: data-parallel-profile-handler)
 */
export class DataParallelProfileHandler implements ProfileHandler {
  readonly typedName: TypedName
  readonly primaryPort: number

  constructor(name: string, primaryPort: number) {
    this.typedName = { type: TYPE, name }
    this.primaryPort = primaryPort
  }

  pick(_request: Request, profiles: readonly string[], results: ProfileResults): readonly string[] {
    return results.size >= profiles.length ? [] : profiles
  }

  stageOf(): Stage {
    return 'decode'
  }

  processResults(request: Request, results: ProfileResults): SchedulingResult {
    if (results.size !== 1) throw new Error('data parallel profile handler is intended to be used with a single profile, failed to process multiple profiles')
    const [[profile, result] = ['', null]] = results
    const first = result?.endpoints[0]
    // Without a status of its own: the failed run's error has one.
    if (result === null || first === undefined) throw new Error(`failed to run scheduler profile '${profile}'`)
    request.headers.set(DATA_PARALLEL_HEADER, first.hostPort)
    const endpoints = result.endpoints.map((endpoint) => atPort(endpoint, this.primaryPort))
    return { primary: profile, results: new Map([[profile, { endpoints }]]) }
  }
}

export const dataParallelProfileHandler: PluginType = {
  type: TYPE,
  kinds: ['profile-handler'],
  stability: 'beta',
  create: (context) => {
    const fields = { primaryPort: int(8000) }
    const { primaryPort } = decodeParametersOf(`failed to parse the parameters of the '${TYPE}' profile handler - `, context.parameters, fields)
    if (primaryPort < 1 || primaryPort > 65_535) {
      throw new ParameterError(`invalid primaryPort: must be between 1 and 65535, got ${primaryPort}`, ['primaryPort'])
    }
    return new DataParallelProfileHandler(context.name, primaryPort)
  },
}
