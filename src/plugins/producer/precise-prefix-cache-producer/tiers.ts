import { TIERS_MAX } from './kv-index.ts'

/** The tier of what was not told but is taken to be so. (llm-d: speculative indexing) */
export const SPECULATIVE = 'speculative'

/** The tiers by number, in the order in which they were first told of. */
export class Tiers {
  readonly names: string[] = [SPECULATIVE, 'gpu', 'cpu']
  private readonly weights: ReadonlyMap<string, number>

  constructor(weights: ReadonlyMap<string, number>) {
    this.weights = weights
  }

  /** The number of a tier; -1 where it would be one too many. An empty name is the engine's own memory. */
  numberOf(name: string): number {
    const wanted = name === '' ? 'gpu' : name.toLowerCase()
    const known = this.names.indexOf(wanted)
    if (known >= 0 || this.names.length >= TIERS_MAX) return known
    this.names.push(wanted)
    return this.names.length - 1
  }

  /** What a block in it counts; 1 unless configured. */
  weight(tier: number): number {
    return this.weights.get(this.names[tier] ?? '') ?? 1
  }
}
