import type { RandomStream } from '../core/random.ts'

/**
 * The lowest of many, one of equals by the die: AIBrix shuffles before it looks, which comes to the same and would cost a
 * draw for each pod.
 */
export class Lowest<T> {
  private best = Infinity
  private readonly tied: T[] = []

  /** Takes part unless its score is NaN; Infinity counts as long as nothing lower came. */
  offer(item: T, score: number): void {
    if (score < this.best) {
      this.best = score
      this.tied.length = 0
      this.tied.push(item)
    } else if (score === this.best) this.tied.push(item)
  }

  get score(): number {
    return this.best
  }

  /** How many share the lowest score. */
  get ties(): number {
    return this.tied.length
  }

  /** One of the lowest; draws only where there are several. */
  pick(die: RandomStream): T | undefined {
    return this.tied.length > 1 ? this.tied[die.below(this.tied.length)] : this.tied[0]
  }
}
