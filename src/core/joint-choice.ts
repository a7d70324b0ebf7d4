import type { Endpoint } from './endpoint.ts'

/** What a handler that picks all stages together came to. */
export interface JointChoice {
  /** One for each stage that it picked for; the primary one first. */
  readonly runs: readonly ChosenRun[]
  /** The groups that it weighed against each other, by name; for receipts. */
  readonly pairs: readonly ScoredPair[]
  /** What else is worth knowing, in words. */
  readonly notes: readonly string[]
}

/** The pick for one stage: it stands for a run of this profile. */
export interface ChosenRun {
  readonly profile: string
  /** What scored; shown as the profile's scorer. Empty where nothing did. */
  readonly scorer: string
  /** Those that were scored, and their scores: lower is better, NaN is none. */
  readonly scored: readonly Endpoint[]
  readonly scores: readonly number[]
  readonly picked: Endpoint
}

/** A group with an endpoint for each stage, and how it fared; lower is better. */
export interface ScoredPair {
  readonly group: string
  readonly prefill: string
  readonly decode: string
  readonly prefillScore: number
  readonly decodeScore: number
  readonly finalScore: number
  readonly chosen: boolean
}
