import { signal, useSignal, useSignalEffect } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { sentence } from '../../replay/sentence.ts'
import type { Receipt } from '../../wire/decision.ts'
import { ReceiptView } from '../receipt/receipt-view.tsx'
import { client, failure, goTo, progress, story } from '../state/store.ts'
import { countText, shortText, timeText } from '../state/text.ts'
import type { ForkChange, ForkResult } from '../worker/messages.ts'
import { ForkCharts, ForkLegend, Spark } from './charts.tsx'

const configuration: Signal<string> = signal('')
const result: Signal<ForkResult | undefined> = signal(undefined)
const problem: Signal<string> = signal('')
const busy: Signal<boolean> = signal(false)

/** What would have been decided under another configuration. */
export const ForkView = (): JSX.Element => {
  useSignalEffect(() => {
    if (story.value === undefined || configuration.peek() !== '') return
    client.ask('configuration').then((text) => {
      if (configuration.peek() === '') configuration.value = text
    }).catch((error: unknown) => {
      problem.value = String(error)
    })
  })
  const run = (): void => {
    busy.value = true
    problem.value = ''
    client.ask('fork', configuration.value).then((answer) => {
      result.value = answer
    }).catch((error: unknown) => {
      problem.value = error instanceof Error ? error.message : String(error)
    }).finally(() => {
      busy.value = false
      progress.value = undefined
    })
  }
  return (
    <div class="fork">
      <div class="stack">
        <label class="stack"><h2>Another configuration</h2><span class="quiet small">The completed configuration in force, to be changed; or an EndpointPickerConfig in YAML in its place.</span>
          <textarea spellcheck={false} value={configuration.value} onInput={(event) => { configuration.value = event.currentTarget.value }} />
        </label>
        <div class="row"><button type="button" class="main" disabled={busy.value || configuration.value === ''} onClick={run}>{busy.value ? 'Deciding…' : 'Decide again'}</button><span class="quiet small">from position {story.value?.info.firstPosition} to {story.value?.info.lastPosition}</span></div>
        {problem.value === '' ? null : <pre class="bad" role="alert">{problem.value}</pre>}
      </div>
      <div class="stack" tabIndex={0} role="region" aria-label="What changes">{result.value === undefined ? <p class="quiet">Every recorded input is decided again, beside the decision that was made. Nothing leaves this page.</p> : <Result result={result.value} />}</div>
    </div>
  )
}

const Result = ({ result: { summary, changes } }: { result: ForkResult }): JSX.Element => {
  const open = useSignal<number | undefined>(undefined)
  const share = summary.decisions === 0 ? 0 : Math.round((summary.changed / summary.decisions) * 1000) / 10
  return (
    <>
      <p class="headline">{countText(summary.changed)} of {countText(summary.decisions)} decisions change ({share} %).</p>
      <div class="stack small" style={{ gap: '4px' }}>
        {summary.missing.map((line) => <div key={line} class="bad">Not recorded: {line}.</div>)}
        {summary.assumed.map((line) => <div key={line} class="quiet">Assumed: {line}</div>)}
        <div>Prompt tokens found in the cache of the primary pick: {countText(summary.hitTokens.recorded)} recorded, <strong>{countText(summary.hitTokens.forked)}</strong> forked, of {countText(summary.promptTokens)}.</div>
        {summary.rejectedOnlyForked + summary.rejectedOnlyRecorded === 0 ? null : <div>Turned away: {summary.rejectedOnlyRecorded} only when recorded, {summary.rejectedOnlyForked} only now.</div>}
      </div>
      <div class="row"><h3>Over time</h3><ForkLegend /></div>
      <ForkCharts stretches={summary.overTime} />
      <Endpoints endpoints={summary.endpoints} />
      <h3>Decisions that change{changes.length < summary.changed ? `, the first ${changes.length}` : ''}</h3>
      <div class="card"><table>
        <thead><tr><th scope="col">position</th><th scope="col">time</th><th scope="col">recorded</th><th scope="col">forked</th></tr></thead>
        <tbody>{changes.map((change, i) => <Change key={i} change={change} place={i} shown={open.value === i} toggle={() => { open.value = open.value === i ? undefined : i }} />)}</tbody>
      </table></div>
    </>
  )
}

const ENDPOINTS_FIRST = 10

/** Each endpoint's share, those whose share changes most first. */
const Endpoints = ({ endpoints }: { endpoints: ForkResult['summary']['endpoints'] }): JSX.Element => {
  const all = useSignal(false)
  const shift = ({ recorded, forked }: (typeof endpoints)[number]): number => Math.abs(forked.picks - recorded.picks)
  const sorted = endpoints.toSorted((a, b) => shift(b) - shift(a))
  const shown = all.value ? sorted : sorted.slice(0, ENDPOINTS_FIRST)
  const busiest = endpoints.reduce((most, { recorded, forked }) => Math.max(most, ...recorded.inFlight, ...forked.inFlight), 1)
  return (
    <div class="card across" tabIndex={0} role="group" aria-label="Endpoints">
      <table>
        <thead><tr><th scope="col">endpoint</th><th scope="col">in flight</th><th scope="col" class="number">picks</th><th scope="col" class="number">forked</th><th scope="col" class="number">most in flight</th><th scope="col" class="number">forked</th></tr></thead>
        <tbody>
          {shown.map(({ id, recorded, forked }) => (
            <tr key={id}>
              <td class="nowrap">{shortText(id)}</td><td><Spark recorded={recorded.inFlight} forked={forked.inFlight} most={busiest} /></td>
              <td class="number">{countText(recorded.picks)}</td><td class="number"><strong>{countText(forked.picks)}</strong></td>
              <td class="number">{recorded.inFlightMax}</td><td class="number"><strong>{forked.inFlightMax}</strong></td>
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > shown.length ? <button type="button" class="plain small" onClick={() => { all.value = true }}>and {sorted.length - shown.length} more, whose share changes less</button> : null}
    </div>
  )
}

const Change = ({ change, place, shown, toggle }: { change: ForkChange; place: number; shown: boolean; toggle: () => void }): JSX.Element => (
  <>
    <tr class={shown ? 'chosen' : ''}>
      <td><button type="button" class="plain" aria-expanded={shown} onClick={toggle}>{change.position}</button></td>
      <td>{timeText(change.atUs)}</td><td>{shortText(change.recorded)}</td><td>{shortText(change.forked)}</td>
    </tr>
    {shown ? (
      <tr><td colSpan={4}>
        {change.hasReceipts ? <Receipts place={place} /> : <p class="quiet">The receipts of the first changes are kept, not this one's.</p>}
        <button type="button" class="plain small" onClick={() => goTo(change.position, 'records')}>Go to the record</button>
      </td></tr>
    ) : null}
  </>
)

const Receipts = ({ place }: { place: number }): JSX.Element => {
  const found = useSignal<{ readonly recorded: Receipt | undefined; readonly forked: Receipt | undefined } | undefined>(undefined)
  useEffect(() => {
    client.ask('forkReceipts', place).then((receipts) => {
      found.value = receipts
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  }, [place])
  if (found.value === undefined) return <p class="quiet">Looking…</p>
  const { recorded, forked } = found.value
  return (
    <div class="beside">
      <div class="stack"><h3>Recorded</h3>{recorded === undefined ? <p class="quiet">no decision</p> : <ReceiptView bare receipt={recorded} sentence={sentence(recorded)} />}</div>
      <div class="stack"><h3>Forked</h3>{forked === undefined ? <p class="quiet">no decision</p> : <ReceiptView bare receipt={forked} sentence={sentence(forked)} />}</div>
    </div>
  )
}
