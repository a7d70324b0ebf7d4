import type { Filter, ProfileHandler, Scorer } from '../core/contract.ts'
import type { Endpoint } from '../core/endpoint.ts'
import type { ChosenRun } from '../core/joint-choice.ts'
import type { Request, Stage } from '../core/request.ts'
import type { Profile } from './profile.ts'
import type { FilterRun, ProfileRun, RunContext } from './run-profile.ts'
import type { Piece } from './slab.ts'

/** What a profile's filters left of the candidates. */
export interface Offer {
  readonly candidates: readonly Endpoint[]
  readonly filters: readonly FilterRun[]
  readonly survivors: readonly Endpoint[]
}

/** Runs the filters of a profile; all candidates where there is no such profile. */
export const offerOf = (profile: Profile | undefined, request: Request, candidates: readonly Endpoint[]): Offer => {
  const filters: FilterRun[] = []
  let survivors = candidates
  for (const filter of profile?.filters ?? NO_FILTERS) {
    if (survivors.length === 0) break
    survivors = filter.filter(request, survivors)
    filters.push({ filter, survivors })
  }
  return { candidates, filters, survivors }
}

/** What a handler picked for a stage as the run that it stands for. */
export const jointRun = (chosen: ChosenRun, stage: Stage, offer: Offer, handler: ProfileHandler, draws: readonly number[], context: RunContext): ProfileRun => {
  const { profile: name, scorer, scored, scores, picked } = chosen
  const { runnerUp, margin, ties } = compare(scored, scores, picked)
  const scorers = scorer === '' ? [] : [{ scorer: stub(scorer, handler), weight: 1 }]
  return {
    profile: { name, filters: offer.filters.map(({ filter }) => filter), scorers, picker: { typedName: handler.typedName, pick: () => [picked] } },
    stage,
    candidates: offer.candidates,
    filters: offer.filters,
    survivors: scored,
    numbers: numbersOf(scored, scores, scorers.length, context),
    picks: [picked],
    scores: [scores[scored.indexOf(picked)] ?? 0],
    margin, runnerUp, ties, draws,
    error: '',
    lowerWins: true,
  }
}

/** A scorer that has scored already: only its name is asked for. */
const stub = (name: string, handler: ProfileHandler): Scorer => ({ typedName: { type: handler.typedName.type, name }, category: 'balance', score: () => undefined })

const numbersOf = (scored: readonly Endpoint[], scores: readonly number[], scorers: number, context: RunContext): Piece => {
  const n = scored.length
  const piece = context.slabs.take((scorers + 2) * n)
  const { numbers, offset } = piece
  const now = context.now()
  for (let i = 0; i < n; i++) {
    const { heardAt } = scored[i] as Endpoint
    const score = scores[i] ?? 0
    // One bit pattern for every NaN, as the digest reads bits.
    const told = score === score ? score : NaN
    if (scorers > 0) numbers[offset + i] = told
    numbers[offset + scorers * n + i] = told
    numbers[offset + (scorers + 1) * n + i] = heardAt === 0 ? -1 : now - heardAt
  }
  return piece
}

/** The best of the others, by how much the pick is better, and how many share the best score. */
const compare = (scored: readonly Endpoint[], scores: readonly number[], picked: Endpoint): Pick<ProfileRun, 'runnerUp' | 'margin' | 'ties'> => {
  const own = scores[scored.indexOf(picked)] ?? 0
  let runnerUp = ''
  let best = Infinity
  scored.forEach((endpoint, i) => {
    const score = scores[i] ?? NaN
    if (endpoint === picked || !(score < best)) return
    best = score
    runnerUp = endpoint.id
  })
  return { runnerUp, margin: runnerUp === '' ? 0 : best - own, ties: scores.filter((score) => score === own).length }
}

const NO_FILTERS: readonly Filter[] = []
