import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { clamp } from '../../replay/sentence.ts'
import type { ProfileReceipt, Receipt } from '../../wire/decision.ts'
import { goTo, story } from '../state/store.ts'
import { durationText, scoreText, shortText } from '../state/text.ts'
import { candidateRows } from './candidates.ts'
import type { CandidateRow } from './candidates.ts'
import { Attributes } from './attributes.tsx'
import { Flips } from './flips.tsx'

const ROWS_FIRST = 12

/** Why a request went where it did: one sentence, then the whole table. */
export const ReceiptView = ({ receipt, sentence, bare, recordedOnly }: { receipt: Receipt; sentence: string; bare?: boolean; recordedOnly?: boolean }): JSX.Element => (
  <section class="stack" aria-label={`Receipt of attempt ${receipt.attempt}`}>
    <p class="sentence">{shortText(sentence)}</p>
    <div class="row small quiet">
      <button type="button" class="plain" onClick={() => goTo(receipt.position)}>position {receipt.position}</button>
      <span>attempt {receipt.attempt}</span>
      {receipt.decision?.decisionType === '' ? null : <span class="chip good">{receipt.decision?.decisionType}</span>}
      {receipt.excluded.length === 0 ? null : <span>tried before: {shortText(receipt.excluded.join(', '))}</span>}
    </div>
    {receipt.deciders.map((decider) => <div key={decider.plugin} class="small"><span class={decider.runs ? 'chip good' : 'chip'}>{decider.plugin}: {decider.runs ? 'yes' : 'no'}</span> {decider.reason}</div>)}
    {receipt.notes.map((note) => <div key={note} class="small warn">{note}</div>)}
    {receipt.profiles.map((profile) => <ProfileTable key={`${profile.profile}${profile.stage}`} profile={profile} />)}
    {recordedOnly === true ? <p class="small quiet">{story.value?.info.undecidable === '' ? 'As recorded; the table of candidates is there once this is decided again.' : 'As recorded: the table of candidates is not known.'}</p> : null}
    {bare === true || recordedOnly === true ? null : (
      <>
        <Attributes key={`a${receipt.position}`} position={receipt.position} request={receipt.request} />
        <Flips key={`f${receipt.position}`} position={receipt.position} request={receipt.request} />
      </>
    )}
  </section>
)

const ProfileTable = ({ profile }: { profile: ProfileReceipt }): JSX.Element => {
  const all = useSignal(false)
  const rows = candidateRows(profile)
  const shown = all.value ? rows : rows.slice(0, ROWS_FIRST)
  const { decision } = profile
  return (
    <div class="stack" style={{ gap: '4px' }}>
      <h3>{profile.stage} <span class="quiet small">profile {profile.profile}, {profile.candidates.length} candidates</span></h3>
      {decision === undefined || decision.error === '' ? null : <div class="bad small">{decision.error}</div>}
      <div class="scroll" tabIndex={0} role="group" aria-label={`Candidates of ${profile.profile}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">endpoint</th>
              {profile.scorers.map(({ plugin, weight }) => <th scope="col" key={plugin} class="number" title={`${plugin}, weight ${weight}`}>{plugin.replace(/-scorer$/, '')} ×{scoreText(weight)}</th>)}
              <th scope="col" class="number">total</th>
              <th scope="col" class="number">metrics</th>
            </tr>
          </thead>
          <tbody>{shown.map((row) => <Candidate key={row.id} row={row} scorers={profile.scorers.length} />)}</tbody>
        </table>
      </div>
      {rows.length > shown.length ? <button type="button" class="plain small" onClick={() => { all.value = true }}>and {rows.length - shown.length} more</button> : null}
      {decision === undefined || decision.picks.length === 0 ? null : (
        <div class="small quiet">
          {profile.picker}: margin {scoreText(decision.margin)}{decision.runnerUp === '' ? '' : ` over ${shortText(decision.runnerUp)}`}, {decision.ties} with the best total, {decision.draws.length === 0 ? 'nothing drawn' : `drawn ${decision.draws.map(scoreText).join(', ')}`}
        </div>
      )}
    </div>
  )
}

const Candidate = ({ row, scorers }: { row: CandidateRow; scorers: number }): JSX.Element => {
  if (row.removedBy !== undefined) {
    return (
      <tr class="out">
        <td class="name">{shortText(row.id)}</td>
        <td colSpan={scorers + 2} class="small">out: {row.removedBy}</td>
      </tr>
    )
  }
  return (
    <tr class={row.picked ? 'chosen' : ''}>
      <td class="name">{row.picked ? '▸ ' : ''}{shortText(row.id)}{row.runnerUp ? <span class="quiet small"> runner-up</span> : null}</td>
      {row.raw.map((raw, i) => <td key={i} class="number" title={`raw ${raw}`}>{scoreText(clamp(raw))}<span class="quiet"> → {scoreText(row.weighted[i] ?? 0)}</span></td>)}
      <td class="number"><strong>{scoreText(row.total)}</strong></td>
      <td class="number quiet">{row.ageUs < 0 ? 'never' : durationText(row.ageUs)}</td>
    </tr>
  )
}
