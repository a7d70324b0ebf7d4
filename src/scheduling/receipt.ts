import type { Endpoint } from '../core/endpoint.ts'
import type { ScoredPair } from '../core/joint-choice.ts'
import { emptyReceipt } from '../wire/decision.ts'
import type { Decision, ProfileDecision, ProfileReceipt, Receipt } from '../wire/decision.ts'
import type { Digest } from './digest.ts'
import type { ProfileRun } from './run-profile.ts'
import { isWhole } from './slab.ts'

/** A decider's answer, with its reason. */
export interface DeciderRun {
  readonly plugin: string
  readonly runs: boolean
  readonly reason: string
}

/** What is kept of a decision until its receipt is asked for. */
export interface KeptReceipt {
  readonly position: number
  readonly atUs: number
  readonly request: number
  readonly requestId: string
  readonly attempt: number
  readonly runs: readonly ProfileRun[]
  readonly deciders: readonly DeciderRun[]
  readonly excluded: readonly string[]
  readonly pairs?: readonly ScoredPair[]
  readonly notes: readonly string[]
  readonly decision: Decision
}

/** The part of a run that goes into the journal. */
export const profileDecision = (run: ProfileRun): ProfileDecision => ({
  profile: run.profile.name,
  stage: run.stage,
  picks: run.picks.map((endpoint, i) => ({ endpoint: endpoint.id, score: run.scores[i] as number })),
  margin: run.margin,
  runnerUp: run.runnerUp,
  ties: run.ties,
  draws: [...run.draws],
  candidates: run.candidates.length,
  survivors: run.survivors.length,
  error: run.error,
})

/** Folds a run into a digest: who was offered, who survived each filter, every score, every draw. Totals follow from the scores. */
export const digestRun = (digest: Digest, run: ProfileRun): void => {
  digest.text(run.profile.name)
  for (const { survivors } of run.filters) digest.lives(survivors)
  digest.lives(run.candidates)
  if (run.numbers !== undefined) digest.numbers(run.numbers.numbers, run.numbers.offset, run.profile.scorers.length * run.survivors.length)
  for (const draw of run.draws) digest.number(draw)
}

/** Folds a pair's scores into a digest. */
export const digestPair = (digest: Digest, pair: ScoredPair): void => {
  digest.text(pair.group).text(pair.prefill).text(pair.decode)
  digest.number(pair.prefillScore).number(pair.decodeScore).number(pair.finalScore)
}

/** Whether all numbers of a kept receipt are still there. */
export const isReadable = (kept: KeptReceipt): boolean => kept.runs.every((run) => run.numbers === undefined || isWhole(run.numbers))

/** The receipt in full. */
export const writeReceipt = (kept: KeptReceipt): Receipt => ({
  ...emptyReceipt(),
  position: kept.position,
  atUs: kept.atUs,
  request: kept.request,
  requestId: kept.requestId,
  attempt: kept.attempt,
  profiles: kept.runs.map((run) => profileReceipt(run)),
  deciders: kept.deciders.map((decider) => ({ ...decider })),
  decision: kept.decision,
  excluded: [...kept.excluded],
  notes: [...kept.notes],
  pairs: (kept.pairs ?? []).map((pair) => ({ ...pair })),
})

const ids = (endpoints: readonly Endpoint[]): string[] => endpoints.map((endpoint) => endpoint.id)

const profileReceipt = (run: ProfileRun): ProfileReceipt => {
  const n = run.survivors.length
  const column = (index: number): number[] => {
    if (run.numbers === undefined) return []
    const start = run.numbers.offset + index * n
    return [...run.numbers.numbers.subarray(start, start + n)]
  }
  let before: readonly Endpoint[] = run.candidates
  return {
    profile: run.profile.name,
    stage: run.stage,
    candidates: ids(run.candidates),
    filters: run.filters.map(({ filter, survivors }) => {
      const kept = new Set(survivors)
      const removed = ids(before.filter((endpoint) => !kept.has(endpoint)))
      before = survivors
      return { plugin: filter.typedName.name, removed }
    }),
    survivors: ids(run.survivors),
    scorers: run.profile.scorers.map(({ scorer, weight }, i) => ({ plugin: scorer.typedName.name, weight, raw: column(i) })),
    totals: column(run.profile.scorers.length),
    picker: run.profile.picker.typedName.name,
    decision: profileDecision(run),
    metricAgesUs: column(run.profile.scorers.length + 1),
    lowerWins: run.lowerWins === true,
  }
}
