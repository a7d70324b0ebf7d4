import { useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { MARKS } from '../../replay/timeline/timeline.ts'
import type { Probe } from '../../replay/travel/probe.ts'
import { ReceiptView } from '../receipt/receipt-view.tsx'
import { at, choose, chosen, client, failure, firstPosition, goTo, lastPosition, look, story } from '../state/store.ts'
import { countText, durationText, kindText, shortText, timeText } from '../state/text.ts'
import type { Look } from '../worker/messages.ts'
import { Difference } from './difference.tsx'
import { rowWindow } from './window.ts'

const ROW = 26

/** Every record, and the engine as it stood after the one at the cursor. */
export const RecordsView = (): JSX.Element => (
  <div class="records">
    <RecordList />
    <div class="detail stack" tabIndex={0} role="region" aria-label="The record and the engine after it">{look.value === undefined ? <p class="quiet">Looking…</p> : <Detail look={look.value} />}</div>
  </div>
)

const RecordList = (): JSX.Element => {
  const list = useRef<HTMLDivElement>(null)
  const scroll = useSignal(0)
  const height = useSignal(600)
  const records = story.value?.records
  useEffect(() => {
    const element = list.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      height.value = element.clientHeight
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  useSignalEffect(() => {
    const top = (at.value - firstPosition.value) * ROW
    // The element is not asked where it stands: that would lay the page out anew at every step.
    const [seen, tall] = [scroll.peek(), height.peek()]
    if (top >= seen && top <= seen + tall - ROW) return
    const wanted = Math.max(0, top - tall / 2)
    scroll.value = wanted
    // Nor is it moved before it is laid out anyway.
    requestAnimationFrame(() => {
      if (list.current !== null && scroll.peek() === wanted) list.current.scrollTop = wanted
    })
  })
  if (records === undefined) return <div class="list" />
  const count = records.atUs.length
  const { first, count: shown } = rowWindow(count, ROW, scroll.value, height.value)
  return (
    <div class="list" ref={list} tabIndex={0} role="group" aria-label={`${count} records`} onScroll={({ currentTarget }) => { requestAnimationFrame(() => { scroll.value = currentTarget.scrollTop }) }}>
      <div style={{ height: `${count * ROW}px` }}>
        {Array.from({ length: shown }, (_, i) => first + i).map((i) => (
          <button key={i} type="button" style={{ top: `${i * ROW}px` }} tabIndex={-1} aria-current={records.first + i === at.value} onClick={() => goTo(records.first + i)}>
            <span class="mono quiet" style={{ minWidth: '7ch' }}>{records.first + i}</span>
            <span class="grow">{kindText(records.kinds[records.kind[i] as number] ?? '')}</span>
            {markChip(records.marks[i] as number)}
          </button>
        ))}
      </div>
    </div>
  )
}

const markChip = (marks: number): JSX.Element | null => {
  if ((marks & MARKS.diverged) !== 0) return <span class="chip bad">diverged</span>
  if ((marks & MARKS.rejected) !== 0) return <span class="chip bad">rejected</span>
  if ((marks & MARKS.expired) !== 0) return <span class="chip bad">expired</span>
  if ((marks & MARKS.retried) !== 0) return <span class="chip">routed again</span>
  return (marks & MARKS.routed) !== 0 ? <span class="chip good">routed</span> : null
}

const Detail = ({ look: { known, position, atUs, kind, input, decided, endpoints, requests, liveRequests, timers } }: { look: Look }): JSX.Element => (
  <>
    <div class="row"><h2>{kindText(kind)}</h2><span class="quiet">position {position}, {timeText(atUs)} UTC</span></div>
    <Difference key={position} position={position} />
    {decided.map(({ receipt, sentence, recordedOnly }) => <div class="card" key={receipt.request}>{receipt.request === chosen.value ? <p class="sentence">{shortText(sentence)}</p> : <ReceiptView receipt={receipt} sentence={sentence} recordedOnly={recordedOnly} />}</div>)}
    {input === '' ? null : <details open={decided.length === 0} class="card"><summary>The input</summary><pre>{input}</pre></details>}
    {known ? <EngineAfter endpoints={endpoints} requests={requests} liveRequests={liveRequests} timers={timers} /> : <p class="quiet">{story.value?.info.undecidable === '' ? 'The engine as it stood here is shown once this is decided again.' : 'The engine as it stood here is not known.'}</p>}
    <Exports />
  </>
)

const EngineAfter = ({ endpoints, requests, liveRequests, timers }: Pick<Look, 'endpoints' | 'requests' | 'liveRequests' | 'timers'>): JSX.Element => (
  <>
    <EndpointTable rows={endpoints} />
    <div class="card stack">
      <h3>{countText(liveRequests)} live requests</h3>
      {requests.length === 0 ? null : <RequestTable rows={requests} />}
      <div class="small quiet">{timers.length} timers pending{timers[0] === undefined ? '' : `; next ${timers[0].owner} ${timers[0].name} in ${durationText(timers[0].inMs * 1000)}`}</div>
    </div>
  </>
)

const REQUESTS_FIRST = 20

const RequestTable = ({ rows }: { rows: Look['requests'] }): JSX.Element => {
  const all = useSignal(false)
  const shown = all.value ? rows : rows.slice(-REQUESTS_FIRST)
  return (
    <>
      <div class="scroll" tabIndex={0} role="group" aria-label="Live requests">
        <table>
          <thead><tr><th scope="col">request</th><th scope="col">state</th><th scope="col">endpoint</th><th scope="col">timer</th></tr></thead>
          <tbody>
            {shown.map((request) => (
              <tr key={request.key}>
                <td><button type="button" class="plain" onClick={() => choose(request.key)}>{request.id === '' ? request.key : request.id}</button></td>
                <td><Watched probe={{ of: 'request', key: request.key, field: 'machine' }}>{request.machine}</Watched></td>
                <td><Watched probe={{ of: 'request', key: request.key, field: 'endpoint' }}>{shortText(request.endpoint)}</Watched></td>
                <td class="quiet">{request.timer === undefined ? '' : `${request.timer.name} in ${durationText(request.timer.inMs * 1000)}`}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.length ? <button type="button" class="plain small" onClick={() => { all.value = true }}>and {rows.length - shown.length} older ones</button> : null}
    </>
  )
}

const COLUMNS: readonly (readonly [field: Extract<Probe, { of: 'endpoint' }>['field'], title: string])[] = [
  ['machine', 'state'], ['inFlightRequests', 'in flight'], ['inFlightTokens', 'tokens'], ['waitingQueueSize', 'waiting'],
  ['runningRequestsSize', 'running'], ['kvCacheUsage', 'KV use'], ['strikes', 'strikes'],
]
const ENDPOINTS_FIRST = 40

const EndpointTable = ({ rows }: { rows: Look['endpoints'] }): JSX.Element => {
  const all = useSignal(false)
  const shown = all.value ? rows : rows.slice(0, ENDPOINTS_FIRST)
  return (
    <div class="card stack">
      <div class="row"><h3>Endpoints</h3><span class="small quiet">choose a value to go to the record that last wrote it</span></div>
      <div class="scroll" tabIndex={0} role="group" aria-label="Values of endpoints"><table>
        <thead><tr><th scope="col">endpoint</th>{COLUMNS.map(([field, title]) => <th key={field} scope="col" class={field === 'machine' ? '' : 'number'}>{title}</th>)}</tr></thead>
        <tbody>
          {shown.map(({ id, values }) => (
            <tr key={id}>
              <td class="name">{shortText(id)}</td>
              {COLUMNS.map(([field]) => <td key={field} class={field === 'machine' ? 'nowrap' : 'number'}><Watched probe={{ of: 'endpoint', id, field }}>{valueText(field, values[field])}</Watched></td>)}
            </tr>
          ))}
        </tbody>
      </table></div>
      {rows.length > shown.length ? <button type="button" class="plain small" onClick={() => { all.value = true }}>and {rows.length - shown.length} more</button> : null}
    </div>
  )
}

const valueText = (field: string, value: string | number | undefined): string => {
  if (field === 'machine') return String(value).split('|').map((path) => path.replace(/^\w+\./, '')).join(', ')
  if (field === 'kvCacheUsage') return `${Math.round(Number(value) * 1000) / 10} %`
  return typeof value === 'number' ? countText(value) : String(value ?? '')
}

/** A value that knows which record last wrote it. */
const Watched = ({ probe, children }: { probe: Probe; children: string | number }): JSX.Element => {
  const find = (): void => {
    client.ask('lastWrite', probe, at.value).then((position) => {
      if (position === undefined) failure.value = 'It was so already where this journal begins.'
      else goTo(position)
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  }
  return <button type="button" class="plain" onClick={find}>{children}</button>
}

const SLICE = 2000

const Exports = (): JSX.Element => {
  const from = useSignal(Math.max(firstPosition.value, at.value - SLICE / 2))
  const to = useSignal(Math.min(lastPosition.value, at.value + SLICE / 2))
  const number = (value: { value: number }, label: string): JSX.Element => (
    <label class="row">{label} <input type="number" min={firstPosition.value} max={lastPosition.value} value={value.value} style={{ width: '12ch' }} onInput={(event) => { value.value = event.currentTarget.valueAsNumber }} /></label>
  )
  const save = (what: Promise<Uint8Array | string>, name: string): void => {
    what.then((content) => download(content, name)).catch((error: unknown) => {
      failure.value = String(error)
    })
  }
  return (
    <div class="card stack">
      <h3>Take a slice away</h3>
      <div class="row">{number(from, 'from')}{number(to, 'to')}</div>
      <div class="row">
        <button type="button" onClick={() => save(client.ask('slice', from.value, to.value), `slice-${from.value}-${to.value}.sbj`)}>Journal file</button>
        <button type="button" onClick={() => save(client.ask('sliceTest', from.value, to.value), `slice-${from.value}-${to.value}.test.ts`)}>vitest test</button>
        <button type="button" onClick={() => save(client.ask('inspection', from.value, to.value), `inspection-${from.value}-${to.value}.jsonl`)}>Stately Inspector events</button>
      </div>
    </div>
  )
}

/** Gives the user a file. */
export const download = (content: Uint8Array | string, name: string): void => {
  const url = URL.createObjectURL(new Blob([typeof content === 'string' ? content : new Uint8Array(content)]))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 1000)
}
