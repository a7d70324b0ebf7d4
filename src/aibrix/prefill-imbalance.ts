import type { RandomStream } from '../core/random.ts'
import type { Pod } from './pod.ts'

/** What the fast path found; `pod` is undefined where the load is balanced. */
export interface PrefillImbalance<P> {
  readonly imbalanced: boolean
  readonly pod: P | undefined
}

/**
 * Whether prefill requests are spread so unevenly that the least loaded pod takes the next one whatever it has cached:
 * spread > minSpread. One of equally loaded pods by the die. (AIBrix: prefill load imbalance)
 */
export const prefillImbalance = <P extends Pod>(pods: readonly P[], counts: ReadonlyMap<string, number>, minSpread: number, die: RandomStream): PrefillImbalance<P> => {
  let min = Infinity
  let max = -Infinity
  for (const count of counts.values()) {
    if (count < min) min = count
    if (count > max) max = count
  }
  if (!(max - min > minSpread)) return { imbalanced: false, pod: undefined }
  const least = pods.filter(({ id }) => counts.get(id) === min)
  return { imbalanced: true, pod: least.length > 1 ? least[die.below(least.length)] : least[0] }
}
