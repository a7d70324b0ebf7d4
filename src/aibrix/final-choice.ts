import { byCodeUnit } from '../core/order.ts'
import type { RandomStream } from '../core/random.ts'
import type { DecodeScoreRun } from './decode-pass.ts'
import type { PrefillScoreRun } from './prefill-pass.ts'
import { RoutingError } from './routing-error.ts'
import { Lowest } from './ties.ts'

/** How one roleset fared; lower is better all through. */
export interface RolesetScore<P> {
  readonly roleset: string
  readonly prefill: P
  readonly decode: P
  readonly prefillScore: number
  readonly decodeScore: number
  /** prefillScore / largest prefill score + decodeScore / largest decode score. */
  readonly finalScore: number
}

/** The pair, and how all rolesets that have one fared. */
export interface FinalChoice<P> {
  readonly chosen: RolesetScore<P>
  /** By name. */
  readonly rolesets: readonly RolesetScore<P>[]
  /** How many share the lowest final score. */
  readonly ties: number
}

/** One message whatever the reason, as clients of AIBrix know it. */
export const NO_PAIR = 'target prefill pod is nil'

/** The final score of each roleset that has a pick on both sides, by name. (AIBrix: finalPDScore) */
export const finalScores = <P>(prefill: Pick<PrefillScoreRun<P>, 'perRoleset' | 'maxScore'>, decode: Pick<DecodeScoreRun<P>, 'perRoleset' | 'maxScore'>): readonly RolesetScore<P>[] =>
  [...(prefill.perRoleset ?? [])]
    .flatMap(([roleset, prefillPick]) => {
      const decodePick = decode.perRoleset.get(roleset)
      if (decodePick === undefined) return []
      const finalScore = prefillPick.score / prefill.maxScore + decodePick.score / decode.maxScore
      return [{ roleset, prefill: prefillPick.pod, decode: decodePick.pod, prefillScore: prefillPick.score, decodeScore: decodePick.score, finalScore }]
    })
    .sort((a, b) => byCodeUnit(a.roleset, b.roleset))

/**
 * The pair of the roleset with the lowest final score, one of equals by the die; NaN and Infinity never win.
 * @throws RoutingError decode-scoring, no-pair
 */
export const chooseFinal = <P>(
  prefill: Pick<PrefillScoreRun<P>, 'perRoleset' | 'maxScore'>,
  decode: Pick<DecodeScoreRun<P>, 'perRoleset' | 'maxScore' | 'err'>,
  die: RandomStream,
): FinalChoice<P> => {
  if (decode.err !== undefined) throw new RoutingError('decode-scoring', `decode scoring failed: ${decode.err.message}`)
  const rolesets = finalScores(prefill, decode)
  const lowest = new Lowest<RolesetScore<P>>()
  for (const roleset of rolesets) if (roleset.finalScore < Infinity) lowest.offer(roleset, roleset.finalScore)
  const chosen = lowest.pick(die)
  if (chosen === undefined) throw new RoutingError('no-pair', NO_PAIR)
  return { chosen, rolesets, ties: lowest.ties }
}
