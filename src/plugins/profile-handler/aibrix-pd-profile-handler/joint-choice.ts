import { prefillPolicies } from '../../../aibrix/index.ts'
import type { MetricsOf, Scored, Selection } from '../../../aibrix/index.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { ChosenRun, JointChoice } from '../../../core/joint-choice.ts'
import { didYouMean } from '../../../core/nearest.ts'

interface Profiles {
  readonly prefill: string
  readonly decode: string
}

/** A selection in the engine's words; `wished` is the prefill policy that the model's own profile names, '' for none. */
export const jointChoiceOf = (selection: Selection<Endpoint>, profiles: Profiles, metricsOf: MetricsOf<Endpoint>, wished: string): JointChoice => {
  const { prefill, decode, scored } = selection
  if (scored === undefined) {
    const run: ChosenRun = { profile: profiles.decode, scorer: '', scored: [decode], scores: [0], picked: decode }
    return { runs: [run], pairs: [], notes: [combinedMeasures(decode, metricsOf), selection.path === 'combined-by-length' ? 'a combined endpoint: no roleset takes a prompt of this length' : 'a combined endpoint: the pairs are overloaded and it is not'] }
  }
  const runs: ChosenRun[] = [{ profile: profiles.decode, scorer: scored.decodeRun.policy, scored: scored.decodePods, scores: scored.decodeRun.scores, picked: decode }]
  if (prefill !== undefined) {
    runs.push({ profile: profiles.prefill, scorer: scored.prefillRun.policy, scored: scored.prefillPods, scores: scored.prefillRun.scores, picked: prefill })
  }
  const pairs = scored.final.rolesets.map((roleset) => ({
    group: roleset.roleset,
    prefill: roleset.prefill.id,
    decode: roleset.decode.id,
    prefillScore: roleset.prefillScore,
    decodeScore: roleset.decodeScore,
    finalScore: roleset.finalScore,
    chosen: roleset === scored.final.chosen,
  }))
  const measured = prefill === undefined ? [] : [prefillMeasures(prefill, metricsOf), decodeMeasures(decode, scored, metricsOf)]
  return { runs, pairs, notes: [...measured, ...notesOf(selection), ...passedOver(wished, scored.prefillRun.policy)] }
}

/** What was measured of the pair, in words. */
const prefillMeasures = (endpoint: Endpoint, metricsOf: MetricsOf<Endpoint>): string => {
  const { prefillTime, waitingRequests = 0, prefillPreallocQueue = 0, queueDrainRate1m } = metricsOf(endpoint)
  const mean = prefillTime === undefined || prefillTime.count === 0 ? 'no prefill time is known' : `${rounded((prefillTime.sumSeconds / prefillTime.count) * 1000)} ms a prefill`
  return `prefill ${endpoint.id}: ${mean}, ${waitingRequests} waiting, ${prefillPreallocQueue} to be allocated, ${known(queueDrainRate1m, 'requests/s leave its queue')}`
}

const combinedMeasures = (endpoint: Endpoint, metricsOf: MetricsOf<Endpoint>): string => {
  const { waitingRequests = 0, prefillPreallocQueue = 0, decodePreallocQueue = 0, queueDrainRate1m } = metricsOf(endpoint)
  return `combined ${endpoint.id}: ${waitingRequests} waiting, ${prefillPreallocQueue + decodePreallocQueue} to be allocated, ${known(queueDrainRate1m, 'requests/s leave its queue')}`
}

const decodeMeasures = (endpoint: Endpoint, { loads }: Scored<Endpoint>, metricsOf: MetricsOf<Endpoint>): string => {
  const { runningRequests, generationThroughput, drainRate1m, waitingRequests = 0, decodePreallocQueue = 0 } = metricsOf(endpoint)
  return [
    `decode ${endpoint.id}: ${runningRequests === undefined ? 'cold' : `${runningRequests} running`}, ${(loads.counts.get(endpoint.id) ?? 0) - (runningRequests ?? 0)} pending`,
    known(generationThroughput, 'tokens/s'), known(drainRate1m, 'requests/s drained'), `${loads.freeGPUPercents.get(endpoint.id) ?? 0} % of its cache free`, `${waitingRequests} waiting`, `${decodePreallocQueue} to be allocated`,
  ].join(', ')
}

/** A model that names a policy which is not there goes on with the router's, but not in silence. (AIBrix: a line of its log) */
const passedOver = (wished: string, policy: string): readonly string[] =>
  wished === '' || prefillPolicies.names().includes(wished) ? [] : [`${policy} stands in for the prefill policy "${wished}" of the model's profile, which is not there${didYouMean(wished, prefillPolicies.names())}`]

const known = (value: number | undefined, unit: string): string => (value === undefined ? `${unit} not known` : `${rounded(value)} ${unit}`)

const rounded = (value: number): number => Math.round(value * 100) / 100

/** What the scores alone do not show. */
const notesOf = ({ prefillFastPath, decodeFastPath, scored }: Selection<Endpoint>): readonly string[] => {
  const notes: string[] = []
  if (prefillFastPath) notes.push('prefill load is spread so widely that the least loaded endpoint was taken')
  if (decodeFastPath === 'running') notes.push('decode requests are spread so widely that the least loaded endpoint was taken')
  if (decodeFastPath === 'throughput') notes.push('decode throughput is spread so widely that the slowest endpoint was taken, as the least busy')
  if (decodeFastPath === 'drain') notes.push('decode endpoints drain so differently that the soonest drained was taken')
  if (scored?.decodeRun.fallbackUsed === true) notes.push(`the policy ${scored.decodeRun.policy} could not tell of some endpoints: load_balancing stood in`)
  return notes
}
