import type { Endpoint } from '../../core/endpoint.ts'
import type { ProfileResult, Request } from '../../core/request.ts'
import type { Engine } from '../../engine/engine.ts'
import type { Profile } from '../../scheduling/profile.ts'
import { resultOf, runProfile } from '../../scheduling/run-profile.ts'

/** What one profile came to. */
export interface StagePick {
  readonly stage: string
  readonly pick: Endpoint | undefined
  /** Id of the best that was not picked; empty where there is none. */
  readonly runnerUp: string
}

/** Profile runs at most, as in the engine. */
const RUNS_MAX = 64

/**
 * Makes a whole decision, deciders included, and gives what each profile that ran came to, in order. Draws are those of
 * the decision, and nothing of it stays. With a handler that picks for all stages together, each profile runs by itself.
 */
export const stagesOf = (engine: Engine, request: Request, candidates: readonly Endpoint[], tried: (profile: Profile) => Profile): ReadonlyMap<string, StagePick> => {
  const { handler, profiles, profileNames } = engine.view.pipeline
  const stages = new Map<string, StagePick>()
  const results = new Map<string, ProfileResult | null>()
  const attributes = new Map(request.attributes)
  const run = (name: string): void => {
    const profile = profiles.get(name)
    const came = profile === undefined ? undefined : attempt(() => runProfile(tried(profile), handler.stageOf(name), request, candidates, engine.view))
    results.set(name, came === undefined ? null : resultOf(came))
    stages.set(name, { stage: handler.stageOf(name), pick: came?.picks[0], runnerUp: came?.runnerUp ?? '' })
  }
  if (handler.choose !== undefined) for (const name of profileNames) run(name)
  else {
    for (let runs = 0; runs < RUNS_MAX;) {
      const next = attempt(() => handler.pick(request, profileNames, results)) ?? []
      if (next.length === 0) break
      for (const name of next) run(name)
      runs += next.length
    }
  }
  request.attributes.clear()
  for (const [key, value] of attributes) request.attributes.set(key, value)
  return stages
}

/** A plugin that throws at a value tried picks nothing there. */
const attempt = <T>(act: () => T): T | undefined => {
  try {
    return act()
  } catch {
    return undefined
  }
}

/** Whom the stages go to, as one text by which decisions are compared. */
export const signatureOf = (stages: ReadonlyMap<string, StagePick>): string =>
  [...stages].map(([profile, { pick }]) => `${profile}=${pick?.id ?? ''}`).join(' ')

/** What is another in a decision, in words; of the profile `own` only whom it picks. */
export const changesIn = (before: ReadonlyMap<string, StagePick>, after: ReadonlyMap<string, StagePick>, own: string): string => {
  const names = [own, ...new Set([...before.keys(), ...after.keys()].filter((name) => name !== own))]
  return names.flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)]
    if (was?.pick?.id === is?.pick?.id) return []
    const stage = is?.stage ?? was?.stage ?? ''
    if (is?.pick === undefined) return [name === own && is !== undefined ? 'nobody' : `no ${stage}`]
    return [name === own ? is.pick.id : `${stage} on ${is.pick.id}`]
  }).join(', ')
}
