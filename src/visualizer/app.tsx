import type { JSX } from 'preact'
import { FleetView } from './fleet/fleet-view.tsx'
import { ForkView } from './fork/fork-view.tsx'
import { MachinesView } from './machines/machines-view.tsx'
import { RequestPanel } from './receipt/request-panel.tsx'
import { RecordsView } from './records/records-view.tsx'
import { RequestsView } from './requests/requests-view.tsx'
import { KEYS } from './state/keys.ts'
import { VIEWS } from './state/link.ts'
import type { View } from './state/link.ts'
import { addressInPage } from './state/page-address.ts'
import { decidedPosition, failure, goTo, helpShown, open, progress, story, theme, view } from './state/store.ts'
import { countText } from './state/text.ts'
import { TimeBar } from './time/time-bar.tsx'

const TITLES: Readonly<Record<View, string>> = { fleet: 'Fleet', requests: 'Requests', machines: 'Machines', records: 'Records', fork: 'Fork' }
const PAGES: Readonly<Record<View, () => JSX.Element>> = { fleet: FleetView, requests: RequestsView, machines: MachinesView, records: RecordsView, fork: ForkView }

/** The others need the width, and show what is chosen themselves. */
const WITH_PANEL: ReadonlySet<View> = new Set(['fleet', 'requests', 'records'])

export const App = (): JSX.Element => {
  if (story.value === undefined) return <Welcome />
  const Page = PAGES[view.value]
  return (
    <div class="shell">
      <Header />
      <main class="main" id="main">
        <Notices />
        <Page />
      </main>
      {WITH_PANEL.has(view.value) ? <RequestPanel /> : null}
      <TimeBar />
      {helpShown.value ? <Help /> : null}
    </div>
  )
}

const Header = (): JSX.Element => {
  const info = story.value?.info
  return (
    <header class="head">
      <div class="brand"><img src={addressInPage('icon.svg')} alt="" width="24" height="24" /><h1>Signalbox</h1></div>
      <div class="tabs" role="tablist" aria-label="Views">
        {VIEWS.map((name, i) => <button key={name} type="button" role="tab" aria-selected={view.value === name} aria-controls="main" title={`${TITLES[name]} (${i + 1})`} onClick={() => { view.value = name }}>{TITLES[name]}</button>)}
      </div>
      <span class="grow" />
      {progress.value === undefined ? null : <span class="quiet small" role="status">{Math.round((progress.value.done / Math.max(1, progress.value.total)) * 100)} %</span>}
      <span class="quiet small nowrap">{info?.name}</span>
      <span class="chip">{countText(info?.lastPosition ?? 0)} records</span>
      {info?.live === true ? <span class="chip good">running</span> : null}
      <Deciding />
      <button type="button" title="Light, dark or as the system has it (t)" onClick={() => { theme.value = theme.value === 'auto' ? 'light' : theme.value === 'light' ? 'dark' : 'auto' }}>{`theme: ${theme.value}`}</button>
      <button type="button" aria-label="Keys" title="Keys (?)" onClick={() => { helpShown.value = true }}>?</button>
    </header>
  )
}

/** How far the journal was decided again; nothing once it is. */
const Deciding = (): JSX.Element | null => {
  const info = story.value?.info
  if (info === undefined || info.undecidable !== '' || decidedPosition.value >= info.lastPosition) return null
  const share = (decidedPosition.value - info.firstPosition + 1) / Math.max(1, info.lastPosition - info.firstPosition + 1)
  return (
    <span class="deciding" role="progressbar" aria-label="Decided again" aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(share * 100)} title="The page shows what was recorded, and decides it again to show why">
      <span class="quiet small nowrap">deciding again {Math.round(share * 100)} %</span><i style={{ width: `${share * 100}%` }} />
    </span>
  )
}

const Notices = (): JSX.Element => {
  const info = story.value?.info
  const divergence = info?.divergence
  return (
    <>
      {failure.value === '' ? null : <div class="notice" role="alert"><span class="grow">{failure.value}</span><button type="button" onClick={() => { failure.value = '' }}>Close</button></div>}
      {info === undefined || info.fault === '' ? null : <div class="notice" role="alert"><span class="grow">The journal is not whole: {info.fault}. What was read up to position {info.lastPosition} is shown.</span></div>}
      {info === undefined || info.undecidable === '' ? null : <div class="notice calm" role="status"><span class="grow">{info.undecidable}</span></div>}
      {divergence === undefined ? null : <div class="notice" role="alert"><span class="grow">The replay came to another answer at {info?.divergences} records, first at position {divergence.position}. {info?.cause}</span><button type="button" onClick={() => goTo(divergence.position, 'records')}>Go there</button></div>}
      {info !== undefined && info.firstPosition > info.oldestPosition ? <div class="notice calm"><span class="grow">Shown from position {countText(info.firstPosition)} on.</span><button type="button" onClick={() => void openFrom(info.oldestPosition)}>From the beginning</button></div> : null}
    </>
  )
}

const openFrom = (position: number): Promise<void> => open({ kind: 'server', url: addressInPage('api'), position })

const KEY_TEXTS: Readonly<Record<string, string>> = { ' ': 'Space', ArrowLeft: '←', ArrowRight: '→', Escape: 'Esc' }

const Help = (): JSX.Element => (
  <div class="help" onClick={() => { helpShown.value = false }}>
    <div class="card" role="dialog" aria-modal="true" aria-label="Keys" tabIndex={-1}>
      <h2>Keys</h2>
      <dl>{KEYS.map(({ keys, does }) => <><dt class="row">{keys.filter((key, i) => i === 0 || key.toLowerCase() !== keys[0]).map((key) => <kbd key={key}>{KEY_TEXTS[key] ?? key}</kbd>)}</dt><dd>{does}</dd></>)}</dl>
      <p class="small quiet">In the fleet: wheel to zoom, drag to move, Shift and wheel for more lanes. Drop an exported journal on the page to open it.</p>
    </div>
  </div>
)

const Welcome = (): JSX.Element => (
  <main class="welcome">
    <div><img src={addressInPage('icon.svg')} alt="" width="56" height="56" /></div>
    <h1>Signalbox</h1>
    {failure.value !== '' ? <p class="bad" role="alert">{failure.value}</p>
      : progress.value === undefined ? <p class="quiet">Drop an exported journal (.sbj) here.</p>
        : <p class="quiet" role="status">Reading the journal… {Math.round((progress.value.done / Math.max(1, progress.value.total)) * 100)} %</p>}
    <p><label class="quiet small">or choose a file <input type="file" accept=".sbj" onChange={(event) => { const [file] = event.currentTarget.files ?? []; if (file !== undefined) void file.arrayBuffer().then((bytes) => open({ kind: 'file', name: file.name, bytes })) }} /></label></p>
  </main>
)
