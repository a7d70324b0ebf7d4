import type { Selection } from '../../../aibrix/index.ts'
import type { Endpoint } from '../../../core/endpoint.ts'
import type { ChosenRun, JointChoice } from '../../../core/joint-choice.ts'

interface Profiles {
  readonly prefill: string
  readonly decode: string
}

/** A selection in the engine's words. */
export const jointChoiceOf = (selection: Selection<Endpoint>, profiles: Profiles): JointChoice => {
  const { prefill, decode, scored } = selection
  if (scored === undefined) {
    const run: ChosenRun = { profile: profiles.decode, scorer: '', scored: [decode], scores: [0], picked: decode }
    return { runs: [run], pairs: [], notes: [selection.path === 'combined-by-length' ? 'a combined endpoint: no roleset takes a prompt of this length' : 'a combined endpoint: the pairs are overloaded and it is not'] }
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
  return { runs, pairs, notes: notesOf(selection) }
}

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
