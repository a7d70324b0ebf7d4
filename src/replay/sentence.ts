import type { Decision, ProfileReceipt, Receipt } from '../wire/decision.ts'

/** One plain sentence: where the request went and why. */
export const sentence = (receipt: Receipt): string => {
  const { decision } = receipt
  if (decision === undefined) return 'No decision.'
  if (decision.outcome !== 'routed') return refusal(decision)
  const stages = receipt.profiles.filter((profile) => (profile.decision?.picks.length ?? 0) > 0).map(stageClause)
  const declined = receipt.deciders.filter((decider) => !decider.runs).map((decider) => `${decider.plugin} said no${decider.reason === '' ? '' : ` (${decider.reason})`}`)
  return `${[...pairClauses(receipt), ...stages, ...declined].join('; ')}.`
}

/** As much of it as the decision alone tells, without its receipt. */
export const sentenceOfDecision = (decision: Decision): string => {
  if (decision.outcome !== 'routed') return refusal(decision)
  const clauses = decision.profiles.flatMap(({ stage, picks: [pick], survivors, margin, runnerUp }) => {
    if (pick === undefined) return []
    return [`${stage} on ${pick.endpoint}: ${survivors === 1 ? 'the only one left' : `total ${number(pick.score)} of ${survivors}`}${runnerUp === '' ? '' : `, ${number(margin)} ahead of ${runnerUp}`}`]
  })
  return `${clauses.join('; ')}.`
}

const refusal = ({ rejection: why }: Decision): string =>
  `Not served: ${why?.message ?? 'no reason was recorded'} (${why?.status ?? 0}${why === undefined || why.reason === '' ? '' : `, ${why.reason}`}).`

/** Of endpoints picked together: the group, and how far it was ahead. */
const pairClauses = ({ pairs }: Receipt): readonly string[] => {
  const chosen = pairs.find((pair) => pair.chosen)
  if (chosen === undefined) return []
  const next = pairs.filter((pair) => pair !== chosen).reduce((best, { finalScore }) => (finalScore < best ? finalScore : best), Infinity)
  return [`pair of ${chosen.group} with final score ${number(chosen.finalScore)} of ${pairs.length}${next === Infinity ? '' : `, ${number(next - chosen.finalScore)} ahead`}`]
}

const stageClause = (profile: ProfileReceipt): string => {
  const decision = profile.decision
  const pick = decision?.picks[0]
  if (decision === undefined || pick === undefined) return `${profile.stage} found nobody`
  const field = `${profile.stage} on ${pick.endpoint}`
  if (decision.survivors === 1) return `${field}: the only one of ${decision.candidates} left by the filters`
  if (profile.scorers.length === 0) return `${field}: drawn among ${decision.survivors}, nothing scores in profile ${profile.profile}`
  if (profile.lowerWins) return `${field}: ${profile.scorers[0]?.plugin ?? 'score'} ${number(pick.score)} of ${decision.survivors}`
  if (decision.ties > 1 && decision.margin === 0) return `${field}: drawn among ${decision.ties} with the best total ${number(pick.score)}`
  const lead = leadingScorer(profile, pick.endpoint, decision.runnerUp)
  const because = lead === undefined ? '' : `, mostly by ${lead}`
  return `${field}: total ${number(pick.score)} of ${decision.survivors}, ${number(decision.margin)} ahead of ${decision.runnerUp}${because}`
}

/** The scorer that puts the pick ahead of the runner-up the most. */
const leadingScorer = (profile: ProfileReceipt, pick: string, runnerUp: string): string | undefined => {
  const a = profile.survivors.indexOf(pick)
  const b = profile.survivors.indexOf(runnerUp)
  let best: string | undefined
  let most = 0
  for (const { plugin, weight, raw } of profile.scorers) {
    const lead = (clamp(raw[a] ?? 0) - clamp(raw[b] ?? 0)) * weight
    if (lead > most) {
      most = lead
      best = plugin
    }
  }
  return best
}

/** A score as the profile counts it: NaN as 0, the rest within [0, 1]. */
export const clamp = (score: number): number => (score > 0 ? (score < 1 ? score : 1) : 0)

const number = (value: number): string => String(Math.round(value * 1000) / 1000)
