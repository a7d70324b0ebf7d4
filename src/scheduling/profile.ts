import type { Filter, Picker, Scorer } from '../core/contract.ts'

/** A named list of filters, weighted scorers and one picker. */
export interface Profile {
  readonly name: string
  readonly filters: readonly Filter[]
  readonly scorers: readonly WeightedScorer[]
  readonly picker: Picker
}

export interface WeightedScorer {
  readonly scorer: Scorer
  /** Any number, also negative. Totals are not divided by the sum of the weights. */
  readonly weight: number
}
