import type { PluginType, ProfileHandler, TypedName } from '../../../core/contract.ts'
import type { ProfileResults, Request, SchedulingResult, Stage } from '../../../core/request.ts'
import { ignoreParameters } from '../../no-parameters.ts'

const TYPE = 'single-profile-handler'

/** Runs the only profile there is, once. (llm-d: single-profile-handler) */
export class SingleProfileHandler implements ProfileHandler {
  readonly typedName: TypedName

  constructor(name: string = TYPE) {
    this.typedName = { type: TYPE, name }
  }

  pick(_request: Request, profiles: readonly string[], results: ProfileResults): readonly string[] {
    return results.size >= profiles.length ? [] : profiles
  }

  stageOf(): Stage {
    return 'decode'
  }

  processResults(_request: Request, results: ProfileResults): SchedulingResult {
    if (results.size !== 1) throw new Error('single profile handler is intended to be used with a single profile, failed to process multiple profiles')
    for (const [profile, result] of results) {
      // Without a status of its own: the failed run's error has one.
      if (result === null) throw new Error(`failed to run scheduler profile '${profile}'`)
      return { primary: profile, results: new Map([[profile, result]]) }
    }
    throw new Error('no profile has run')
  }
}

export const singleProfileHandler: PluginType = {
  type: TYPE,
  kinds: ['profile-handler'],
  stability: 'beta',
  create: (context) => {
    ignoreParameters(TYPE, context)
    return new SingleProfileHandler(context.name)
  },
}
