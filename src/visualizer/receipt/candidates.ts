import { clamp } from '../../replay/sentence.ts'
import type { ProfileReceipt } from '../../wire/decision.ts'

/** One candidate of a profile run, as the table shows it. */
export interface CandidateRow {
  readonly id: string
  /** The filter that removed it; undefined for one that was scored. */
  readonly removedBy: string | undefined
  readonly picked: boolean
  readonly runnerUp: boolean
  readonly raw: readonly number[]
  readonly weighted: readonly number[]
  readonly total: number
  /** Age of its metrics in microseconds; -1: never heard. */
  readonly ageUs: number
}

/** The candidates: the picks, then the others from the best total down, then those that filters removed. */
export const candidateRows = (profile: ProfileReceipt): CandidateRow[] => {
  const picks = (profile.decision?.picks ?? []).map(({ endpoint }) => endpoint)
  const scored = profile.survivors.map((id, i): CandidateRow => {
    const raw = profile.scorers.map((scorer) => scorer.raw[i] ?? 0)
    return {
      id, raw, removedBy: undefined, picked: picks.includes(id), runnerUp: profile.decision?.runnerUp === id && id !== '',
      weighted: raw.map((value, j) => clamp(value) * (profile.scorers[j]?.weight ?? 0)),
      total: profile.totals[i] ?? 0, ageUs: profile.metricAgesUs[i] ?? -1,
    }
  }).sort((a, b) => Number(b.picked) - Number(a.picked) || b.total - a.total || (a.id < b.id ? -1 : 1))
  const removed = profile.filters.flatMap(({ plugin, removed: ids }) => ids.map((id): CandidateRow => ({
    id, removedBy: plugin, picked: false, runnerUp: false, raw: [], weighted: [], total: 0, ageUs: -1,
  })))
  return [...scored, ...removed]
}
