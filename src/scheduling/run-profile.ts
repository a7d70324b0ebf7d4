import type { Filter } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { ProfileResult, Request, Stage } from '../core/request.ts'
import { denial, REJECTED_SATURATED, SchedulingError } from '../core/scheduling-error.ts'
import type { Instant } from '../core/instant.ts'
import type { Chance } from './chance.ts'
import type { Profile } from './profile.ts'
import type { Piece, SlabRing } from './slab.ts'

/** One filter's work: who was left after it. */
export interface FilterRun {
  readonly filter: Filter
  readonly survivors: readonly Endpoint[]
}

/**
 * All that one profile run saw and did; the receipt is written from it when somebody asks.
 *
 * `numbers` holds, for n survivors: n raw scores a scorer in the profile's order, then n totals, then n ages of metrics
 * in microseconds (-1: never heard).
 */
export interface ProfileRun {
  readonly profile: Profile
  readonly stage: Stage
  readonly candidates: readonly Endpoint[]
  readonly filters: readonly FilterRun[]
  readonly survivors: readonly Endpoint[]
  readonly numbers: Piece | undefined
  readonly picks: readonly Endpoint[]
  readonly scores: readonly number[]
  readonly margin: number
  readonly runnerUp: string
  readonly ties: number
  readonly draws: readonly number[]
  readonly error: string
  /** True where the lowest score is the best. */
  readonly lowerWins?: boolean
}

export interface RunContext {
  readonly slabs: SlabRing
  readonly chance: Chance
  now(): Instant
}

const NO_ENDPOINTS_LEFT = 'no endpoints available for the given request'

/**
 * Runs one profile: filters in order, scorers summed in order, one picker.
 *
 * total(e) = sum over scorers of clamp(score(e), 0, 1) x weight, NaN as 0, not divided by the sum of weights.
 * (llm-d: scheduling loop)
 */
export const runProfile = (profile: Profile, stage: Stage, request: Request, candidates: readonly Endpoint[], context: RunContext): ProfileRun => {
  context.chance.enter(profile.name)
  const filters: FilterRun[] = []
  let survivors = candidates
  for (const filter of profile.filters) {
    if (survivors.length === 0) break
    survivors = filter.filter(request, survivors)
    filters.push({ filter, survivors })
  }
  if (survivors.length === 0) return emptyRun(profile, stage, candidates, filters, NO_ENDPOINTS_LEFT)
  const numbers = score(profile, request, survivors, context)
  const totalsAt = numbers.offset + profile.scorers.length * survivors.length
  const totals = numbers.numbers.subarray(totalsAt, totalsAt + survivors.length)
  const picks = profile.picker.pick(request, { endpoints: survivors, totals }, context.chance.die(profile.picker.typedName.name))
  if (picks.length === 0) return emptyRun(profile, stage, candidates, filters, `picker ${profile.picker.typedName.name} picked nothing`)
  return { profile, stage, candidates, filters, survivors, numbers, picks, draws: context.chance.drawn(), error: '', ...compare(survivors, totals, picks) }
}

/** What a run came to, for the profile handler; null where it gave nothing. */
export const resultOf = (run: ProfileRun): ProfileResult | null => (run.picks.length === 0 ? null : { endpoints: run.picks })

/** The error a run that gave nothing stands for. */
export const errorOf = (run: ProfileRun): SchedulingError =>
  new SchedulingError(denial(run.error === NO_ENDPOINTS_LEFT ? 'ResourceExhausted' : 'Internal', run.error, run.error === NO_ENDPOINTS_LEFT ? REJECTED_SATURATED : ''))

/** A run that a plugin's error ended. */
export const failedRun = (profile: Profile, stage: Stage, candidates: readonly Endpoint[], error: string): ProfileRun => emptyRun(profile, stage, candidates, [], error)

const emptyRun = (profile: Profile, stage: Stage, candidates: readonly Endpoint[], filters: readonly FilterRun[], error: string): ProfileRun => ({
  profile, stage, candidates, filters, survivors: [], numbers: undefined, picks: [], draws: [], error,
  scores: [], margin: 0, runnerUp: '', ties: 0,
})

const score = (profile: Profile, request: Request, survivors: readonly Endpoint[], context: RunContext): Piece => {
  const n = survivors.length
  const piece = context.slabs.take((profile.scorers.length + 2) * n)
  const { numbers, offset } = piece
  const totalsAt = offset + profile.scorers.length * n
  let at = offset
  for (const { scorer, weight } of profile.scorers) {
    scorer.score(request, survivors, numbers.subarray(at, at + n))
    for (let i = 0; i < n; i++) {
      const raw = numbers[at + i] as number
      // NaN fails both comparisons and counts 0.
      const clamped = raw > 0 ? (raw < 1 ? raw : 1) : 0
      numbers[totalsAt + i] = (numbers[totalsAt + i] as number) + clamped * weight
    }
    at += n
  }
  const now = context.now()
  const agesAt = totalsAt + n
  for (let i = 0; i < n; i++) {
    const heardAt = (survivors[i] as Endpoint).heardAt
    numbers[agesAt + i] = heardAt === 0 ? -1 : now - heardAt
  }
  return piece
}

/** Scores of the picks, the margin to the best of the others, and how many shared the best total. */
const compare = (survivors: readonly Endpoint[], totals: Float64Array, picks: readonly Endpoint[]): Pick<ProfileRun, 'scores' | 'margin' | 'runnerUp' | 'ties'> => {
  const scores = picks.map(() => 0)
  let best = -Infinity
  let ties = 0
  let bestPicked = -Infinity
  let bestOther = -Infinity
  let runnerUp = ''
  for (let i = 0; i < survivors.length; i++) {
    const endpoint = survivors[i] as Endpoint
    const total = totals[i] as number
    if (total > best) {
      best = total
      ties = 1
    } else if (total === best) ties += 1
    const picked = picks.length === 1 ? (picks[0] === endpoint ? 0 : -1) : picks.indexOf(endpoint)
    if (picked >= 0) {
      scores[picked] = total
      if (total > bestPicked) bestPicked = total
    } else if (total > bestOther || runnerUp === '') {
      bestOther = total
      runnerUp = endpoint.id
    }
  }
  return { scores, ties, runnerUp, margin: runnerUp === '' ? 0 : bestPicked - bestOther }
}
