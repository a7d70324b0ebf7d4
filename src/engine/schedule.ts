import type { Denial } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { SchedulingResult } from '../core/request.ts'
import { denial, REJECTED_NO_ENDPOINTS, SchedulingError } from '../core/scheduling-error.ts'
import { byCodeUnit } from '../core/order.ts'
import { jointRun, offerOf } from '../scheduling/joint-run.ts'
import type { Offer } from '../scheduling/joint-run.ts'
import type { Profile } from '../scheduling/profile.ts'
import { errorOf, failedRun, resultOf, runProfile } from '../scheduling/run-profile.ts'
import { requireCached } from './conditional-decode.ts'
import type { EngineContext } from './context.ts'
import { stageOf } from './hooks.ts'
import { Scheduling } from './live-request.ts'
import type { LiveRequest } from './live-request.ts'
import { inSubset } from './subset.ts'

/**
 * Profile runs at most for one attempt: many times what any configuration needs, and a handler that asks for the same
 * profile without end (llm-d's pd-profile-handler with three profiles) stops here.
 */
const STAGE_RUNS_MAX = 64

/** Finds the candidates and runs what does not wait: screeners, then producers in order. */
export const openProducing = (context: EngineContext, request: LiveRequest): void => {
  const scheduling = new Scheduling()
  request.scheduling = scheduling
  request.headers = new Map()
  request.attributes = new Map()
  request.result = undefined
  context.current = request
  context.chance.begin(request.key, request.attempt)
  scheduling.candidates = candidatesFor(context, request)
  if (scheduling.candidates.length === 0) {
    refuse(request, denial('ServiceUnavailable', 'no endpoints available to serve the request', REJECTED_NO_ENDPOINTS))
    return
  }
  const all = scheduling.candidates
  for (const screener of context.pipeline.screeners) {
    const kept = new Set(attempt(request, screener.typedName.name, () => screener.screen(request, all)) ?? all)
    scheduling.candidates = scheduling.candidates.filter((endpoint) => kept.has(endpoint))
  }
  if (scheduling.candidates.length === 0) refuse(request, denial('ServiceUnavailable', 'no endpoint passed screening', REJECTED_NO_ENDPOINTS))
}

/** Endpoints that may serve: reachable where one is, in the caller's subset, not yet tried by this request. */
const candidatesFor = (context: EngineContext, request: LiveRequest): readonly Endpoint[] => {
  const { subset } = request.arrival
  const all = context.fleet.candidates()
  if (subset === undefined && request.excluded.length === 0) return all
  const allowed = (endpoint: Endpoint): boolean => (subset === undefined || inSubset(endpoint, subset.addresses)) && !request.excluded.includes(endpoint.id)
  const found = all.filter(allowed)
  // An unreachable endpoint is better than none.
  return found.length > 0 ? found : context.fleet.ready().filter(allowed)
}

/** Runs the producers; the first error stops the rest, is noted, and the request goes on. (llm-d: request director) */
export const runProducers = (context: EngineContext, request: LiveRequest): void => {
  const { scheduling } = request
  if (scheduling === undefined || request.denial !== undefined) return
  context.current = request
  context.chance.begin(request.key, request.attempt)
  for (const column of context.pipeline.columns.values()) column.clear()
  for (const producer of context.pipeline.producers) {
    try {
      producer.produce(request, scheduling.candidates)
    } catch (error) {
      scheduling.notes.push(`producer ${producer.typedName.name}: ${messageOf(error)}`)
      return
    }
  }
}

/** Admitters, once the data is there: any refusal is a 500 (llm-d: request director). */
export const runAdmitters = (context: EngineContext, request: LiveRequest): void => {
  const { scheduling } = request
  if (scheduling === undefined || request.denial !== undefined) return
  for (const admitter of context.pipeline.admitters) {
    let refused: Denial | undefined
    try {
      refused = admitter.admit(request, scheduling.candidates)
    } catch (error) {
      refused = denial('Internal', messageOf(error))
    }
    if (refused !== undefined) {
      refuse(request, denial('Internal', `request cannot be admitted: ${refused.message}`))
      return
    }
  }
}

/** Asks the handler what to run next, unless something is still to run; when it is done, joins the results. */
export const pick = (context: EngineContext, request: LiveRequest): void => {
  const { scheduling } = request
  if (scheduling === undefined || request.denial !== undefined || scheduling.queue.length > 0) return
  context.current = request
  scheduling.rounds += 1
  if (scheduling.rounds > STAGE_RUNS_MAX) {
    refuse(request, denial('Internal', `profile handler ${context.pipeline.handler.typedName.name} asked for more than ${STAGE_RUNS_MAX} runs`))
    return
  }
  try {
    if (scheduling.rounds === 1) chooseJointly(context, request, scheduling)
    const next = context.pipeline.handler.pick(request, context.pipeline.profileNames, scheduling.results)
    if (next.length > 0) scheduling.queue.push(...next)
    else finish(context, request, scheduling)
  } catch (error) {
    refuse(request, denialOf(error))
  }
}

/** Lets a handler that picks for all stages together do so; its results wait for the machine to enter the stages. */
const chooseJointly = (context: EngineContext, request: LiveRequest, scheduling: Scheduling): void => {
  const { handler, profiles } = context.pipeline
  if (handler.choose === undefined) return
  context.chance.enter('')
  const offers = new Map<string, Offer>()
  const choice = handler.choose(request, (profile) => {
    const offer = offerOf(profiles.get(profile), request, scheduling.candidates)
    offers.set(profile, offer)
    return offer.survivors
  })
  scheduling.pairs = choice.pairs
  scheduling.notes.push(...choice.notes)
  for (const [i, chosen] of choice.runs.entries()) {
    const offer = offers.get(chosen.profile) ?? { candidates: scheduling.candidates, filters: [], survivors: scheduling.candidates }
    // What was drawn decided for all stages; it is told once.
    const draws = i === 0 ? context.chance.drawn() : []
    scheduling.ready.set(chosen.profile, jointRun(chosen, stageOf(context, chosen.profile), offer, handler, draws, context))
  }
}

/** The stage of the profile to run next; undefined when none waits. */
export const nextStage = (context: EngineContext, request: LiveRequest): string | undefined => {
  const profile = request.denial === undefined ? request.scheduling?.queue[0] : undefined
  return profile === undefined ? undefined : stageOf(context, profile)
}

/** Runs the next profile. A run that fails gives null and is remembered. */
export const runStage = (context: EngineContext, request: LiveRequest): void => {
  const { scheduling } = request
  const name = scheduling?.queue.shift()
  if (scheduling === undefined || name === undefined) return
  const ready = scheduling.ready.get(name)
  const profile = context.pipeline.profiles.get(name)
  if (profile === undefined && ready === undefined) {
    scheduling.results.set(name, null)
    scheduling.errors.set(name, new SchedulingError(denial('Internal', `no profile \`${name}\``)))
    return
  }
  const stage = stageOf(context, name)
  let run = ready
  try {
    run ??= runProfile(profile as Profile, stage, request, scheduling.candidates, context)
  } catch (error) {
    run = failedRun(profile as Profile, stage, scheduling.candidates, messageOf(error))
  }
  scheduling.runs.push(run)
  const result = resultOf(run)
  scheduling.results.set(name, result)
  if (result === null) scheduling.errors.set(name, errorOf(run))
  else scheduling.errors.delete(name)
}

const finish = (context: EngineContext, request: LiveRequest, scheduling: Scheduling): void => {
  if (scheduling.results.size === 0) throw new Error(`failed to run any scheduler profile for request ${request.id}`)
  let result: SchedulingResult
  try {
    result = context.pipeline.handler.processResults(request, scheduling.results)
  } catch (error) {
    throw joined(error, scheduling.errors)
  }
  requireCached(context, request, result)
  request.result = result
  const faults = context.pipeline.preRequests.flatMap((hook) => {
    try {
      hook.preRequest(request, result)
      return []
    } catch (error) {
      return [error]
    }
  })
  const [fault] = faults
  if (fault === undefined) return
  if (faults.length === 1 && fault instanceof SchedulingError) throw fault
  throw new SchedulingError(denial('Internal', faults.map(messageOf).join('; ')))
}

/** The handler's error with the profiles' own, by profile name: the first that has a status decides it. */
const joined = (error: unknown, errors: ReadonlyMap<string, Error>): Error => {
  const all = [error, ...[...errors].sort(([a], [b]) => byCodeUnit(a, b)).map(([, each]) => each)]
  const typed = all.find((each) => each instanceof SchedulingError)
  const message = all.map(messageOf).join('; ')
  return typed === undefined ? new Error(message) : new SchedulingError({ ...typed.denial, message })
}

const denialOf = (error: unknown): Denial =>
  error instanceof SchedulingError ? error.denial : denial('ResourceExhausted', `failed to find target endpoint: ${messageOf(error)}`)

const refuse = (request: LiveRequest, why: Denial): void => {
  request.denial ??= why
}

const attempt = <T>(request: LiveRequest, plugin: string, run: () => T): T | undefined => {
  try {
    return run()
  } catch (error) {
    request.scheduling?.notes.push(`${plugin}: ${messageOf(error)}`)
    return undefined
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
