import { signal, useComputed, useSignal } from '@preact/signals'
import type { Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { OUTCOMES } from '../../replay/timeline/timeline.ts'
import { choose, chosen, goTo, story } from '../state/store.ts'
import { countText, durationText, shortText, timeText } from '../state/text.ts'
import type { RequestData } from '../worker/messages.ts'
import { histogram, percentile, shareOf, valueAt } from './histogram.ts'
import { METRIC_TEXT, METRICS, metricOf, NO_FILTERS, selectRows } from './selection.ts'
import type { Filters, Metric } from './selection.ts'

const filters: Signal<Filters> = signal(NO_FILTERS)
const ordered: Signal<Metric> = signal('firstToken')
const ROWS_FIRST = 200

/** How long requests took, and which of them. */
export const RequestsView = (): JSX.Element => {
  const requests = story.value?.requests
  const more = useSignal(ROWS_FIRST)
  const rows = useComputed(() => {
    const all = story.value?.requests
    if (all === undefined) return []
    const value = (row: number): number => metricOf(all, ordered.value, row) || -1
    return selectRows(all, filters.value).sort((a, b) => value(b) - value(a))
  })
  if (requests === undefined) return <div />
  return (
    <div class="requests">
      <FilterBar requests={requests} found={rows.value.length} />
      <div class="histograms">{METRICS.map((metric) => <MetricCard key={metric} metric={metric} requests={requests} />)}</div>
      <div class="scroll table" tabIndex={0} role="group" aria-label="Requests">
        <table>
          <thead>
            <tr>
              <th scope="col">request</th><th scope="col">arrived</th><th scope="col">model</th><th scope="col">endpoint</th><th scope="col">decision</th>
              {METRICS.map((metric) => <th key={metric} scope="col" class="number" aria-sort={ordered.value === metric ? 'descending' : 'none'}><button type="button" class="plain small" onClick={() => { ordered.value = metric }}>{METRIC_TEXT[metric]}{ordered.value === metric ? ' ↓' : ''}</button></th>)}
              <th scope="col" class="number">tokens in</th><th scope="col" class="number">out</th><th scope="col">outcome</th>
            </tr>
          </thead>
          <tbody>{rows.value.slice(0, more.value).map((row) => <RequestLine key={requests.key[row]} requests={requests} row={row} />)}</tbody>
        </table>
        {rows.value.length > more.value ? <div class="bar"><button type="button" onClick={() => { more.value += ROWS_FIRST }}>Show more of {countText(rows.value.length)}</button></div> : null}
      </div>
    </div>
  )
}

const RequestLine = ({ requests, row }: { requests: RequestData; row: number }): JSX.Element => {
  const key = requests.key[row] as number
  const outcome = OUTCOMES[requests.outcome[row] as number] ?? 'open'
  return (
    <tr class={chosen.value === key ? 'chosen' : ''}>
      <td><button type="button" class="plain mono" onClick={() => { goTo(key); choose(key) }}>{(requests.ids[row] ?? '') === '' ? key : requests.ids[row]?.slice(0, 24)}</button></td>
      <td class="nowrap">{timeText(requests.receivedAt[row] as number)}</td>
      <td>{requests.models[requests.model[row] as number]}</td>
      <td>{shortText(story.value?.lanes[requests.lane[row] as number]?.id ?? '')}</td>
      <td>{requests.decisionTypes[requests.decisionType[row] as number]}{(requests.attempts[row] as number) > 1 ? ` (attempt ${requests.attempts[row]})` : ''}</td>
      {METRICS.map((metric) => <td key={metric} class="number nowrap">{durationText(metricOf(requests, metric, row))}</td>)}
      <td class="number">{countText(requests.promptTokens[row] as number)}</td>
      <td class="number">{countText(requests.outputTokens[row] as number)}</td>
      <td><span class={outcome === 'completed' ? 'chip good' : outcome === 'open' ? 'chip' : 'chip bad'}>{outcome}</span></td>
    </tr>
  )
}

const FilterBar = ({ requests, found }: { requests: RequestData; found: number }): JSX.Element => {
  const set = (change: Partial<Filters>): void => {
    filters.value = { ...filters.value, ...change }
  }
  const { model, outcome, lane, decisionType, text, brushes } = filters.value
  const chooser = (label: string, value: string, options: readonly string[], change: (value: string) => void): JSX.Element => (
    <label class="row small quiet">{label}<select value={value} onChange={(event) => change(event.currentTarget.value)}><option value="">all</option>{options.map((option) => <option key={option} value={option}>{option}</option>)}</select></label>
  )
  const lanes = story.value?.lanes ?? []
  return (
    <div class="bar">
      <strong>{countText(found)}</strong><span class="quiet">of {countText(requests.key.length)} requests</span>
      {chooser('model', model, requests.models, (value) => set({ model: value }))}
      {chooser('outcome', outcome, OUTCOMES, (value) => set({ outcome: value }))}
      {chooser('endpoint', lanes[lane]?.id ?? '', lanes.map(({ id }) => id), (value) => set({ lane: lanes.findIndex(({ id }) => id === value) }))}
      {chooser('decision', decisionType, requests.decisionTypes.filter((type) => type !== ''), (value) => set({ decisionType: value }))}
      <label class="row small quiet">id<input type="search" value={text} size={14} onInput={(event) => set({ text: event.currentTarget.value })} /></label>
      <span class="grow" />
      <button type="button" disabled={filters.value === NO_FILTERS || (JSON.stringify(filters.value) === JSON.stringify(NO_FILTERS) && Object.keys(brushes).length === 0)} onClick={() => { filters.value = NO_FILTERS }}>Clear filters</button>
    </div>
  )
}

const PERCENTILES = [0.5, 0.9, 0.99] as const

const MetricCard = ({ metric, requests }: { metric: Metric; requests: RequestData }): JSX.Element => {
  const values = selectRows(requests, filters.value, metric).map((row) => metricOf(requests, metric, row)).filter((value) => value >= 0)
  const bins = histogram(values)
  const sorted = values.sort((a, b) => a - b)
  const start = useRef<number | undefined>(undefined)
  const brush = filters.value.brushes[metric]
  const setBrush = (range: readonly [number, number] | undefined): void => {
    const { [metric]: _old, ...others } = filters.value.brushes
    filters.value = { ...filters.value, brushes: range === undefined ? others : { ...others, [metric]: range } }
  }
  const share = (event: PointerEvent & { readonly currentTarget: SVGElement }): number => {
    const box = event.currentTarget.getBoundingClientRect()
    return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width))
  }
  const most = Math.max(1, ...bins.counts)
  return (
    <div class="card histogram">
      <div class="row"><h3>{METRIC_TEXT[metric]}</h3><span class="grow" />{brush === undefined ? null : <button type="button" class="plain small" onClick={() => setBrush(undefined)}>{durationText(brush[0])} – {durationText(brush[1])} ×</button>}</div>
      <svg
        viewBox="0 0 1000 90" preserveAspectRatio="none" role="img" aria-label={`Histogram of ${METRIC_TEXT[metric]}: ${values.length} requests`}
        onPointerDown={(event) => { start.current = share(event); event.currentTarget.setPointerCapture(event.pointerId) }}
        onPointerMove={(event) => {
          if (start.current === undefined || bins.total === 0) return
          const [a, b] = [start.current, share(event)].sort((x, y) => x - y) as [number, number]
          if (b - a > 0.005) setBrush([valueAt(bins, a), valueAt(bins, b)])
        }}
        onPointerUp={() => { start.current = undefined }}
      >
        {bins.counts.map((count, i) => <rect key={i} x={(i / bins.counts.length) * 1000 + 1} width={Math.max(1, 1000 / bins.counts.length - 2)} y={88 - (count / most) * 84} height={(count / most) * 84} fill="var(--decode)" />)}
        {brush === undefined ? null : <rect x={shareOf(bins, brush[0]) * 1000} width={Math.max(2, (shareOf(bins, brush[1]) - shareOf(bins, brush[0])) * 1000)} y={0} height={90} fill="var(--cursor)" opacity={0.22} />}
        <line x1={0} x2={1000} y1={89} y2={89} stroke="var(--line)" />
      </svg>
      <div class="row small quiet"><span>{bins.total === 0 ? 'nothing yet' : durationText(bins.bounds[0] ?? 0)}</span><span class="grow" /><span>{bins.total === 0 ? '' : durationText(bins.end)}</span></div>
      <div class="percentiles">
        {PERCENTILES.map((p) => (
          <button key={p} type="button" disabled={sorted.length === 0} title="Show the requests from here up" onClick={() => { ordered.value = metric; setBrush([percentile(sorted, p), sorted.at(-1) ?? 0]) }}>
            p{p * 100} <strong>{durationText(percentile(sorted, p))}</strong>
          </button>
        ))}
      </div>
    </div>
  )
}
