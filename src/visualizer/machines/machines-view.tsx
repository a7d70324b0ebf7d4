import { useComputed, useSignal, useSignalEffect } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { drawings } from 'virtual:drawings'
import { endpointMachine } from '../../../machines/endpoint/machine.ts'
import { journalLinkMachine } from '../../../machines/journal-link/machine.ts'
import { requestMachine } from '../../../machines/request/machine.ts'
import { toMermaid } from '../../../machines/diagram/mermaid.ts'
import { toXStateJson } from '../../../machines/diagram/xstate-json.ts'
import { download } from '../records/records-view.tsx'
import { actorShown, at, chosen, client, failure, goTo, look, story } from '../state/store.ts'
import { durationText } from '../state/text.ts'
import type { ActorLook } from '../worker/messages.ts'
import { Chart } from './chart.tsx'

const MACHINES = { request: requestMachine, endpoint: endpointMachine, journalLink: journalLinkMachine }
/** Below this nobody reads the labels: rather scroll. */
const READABLE = 0.62

type MachineName = keyof typeof MACHINES
const NAMES: readonly (readonly [MachineName, string])[] = [['request', 'request'], ['endpoint', 'endpoint'], ['journalLink', 'journal link']]

/** The statecharts, with one actor lit at the cursor. */
export const MachinesView = (): JSX.Element => {
  const machine = useSignal<MachineName>('request')
  const endpoint = useSignal('')
  const zoom = useSignal(0)
  const width = useSignal(900)
  const actor = useSignal<ActorLook | undefined>(undefined)
  const chart = useRef<HTMLDivElement>(null)
  const request = useComputed(() => chosen.value ?? look.value?.requests.at(-1)?.key ?? story.value?.requests.key.findLast((key) => key <= at.value))
  const endpointId = useComputed(() => (endpoint.value === '' ? (story.value?.lanes[0]?.id ?? '') : endpoint.value))

  useSignalEffect(() => {
    const which = machine.value
    const who = which === 'request' ? request.value : endpointId.value
    if (story.value === undefined || which === 'journalLink' || who === undefined || who === '') {
      actor.value = undefined
      actorShown.value = undefined
      return
    }
    actorShown.value = { machine: which, actor: who }
    client.ask('actor', which, who, at.value).then((answer) => {
      actor.value = answer
    }).catch((error: unknown) => {
      failure.value = String(error)
    })
  })
  useEffect(() => {
    chart.current?.querySelector('.leaf.active')?.scrollIntoView({ block: 'center', inline: 'center' })
  }, [actor.value?.active.join(), machine.value, zoom.value])
  useEffect(() => {
    const element = chart.current
    if (element === null) return undefined
    const observer = new ResizeObserver(() => {
      width.value = element.clientWidth
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  const drawing = drawings.find(({ id }) => id === machine.value) ?? drawings[0]
  if (drawing === undefined) return <div />
  const scale = zoom.value === 0 ? Math.min(1.2, Math.max(READABLE, (width.value - 8) / drawing.width)) : zoom.value
  return (
    <>
      <div class="bar">
        {NAMES.map(([name, text]) => <button key={name} type="button" aria-pressed={machine.value === name} onClick={() => { machine.value = name }}>{text}</button>)}
        {machine.value === 'endpoint' ? <label class="row small quiet">endpoint<select value={endpointId.value} onChange={(event) => { endpoint.value = event.currentTarget.value }}>{story.value?.lanes.map(({ id }) => <option key={id}>{id}</option>)}</select></label> : null}
        {machine.value === 'request' ? <span class="quiet small">{chosen.value === undefined ? 'the newest request at the cursor; choose one in any view' : ''} {actor.value?.label}</span> : null}
        <span class="grow" />
        <button type="button" aria-label="Larger" onClick={() => { zoom.value = scale * 1.25 }}>+</button>
        <button type="button" aria-label="Smaller" onClick={() => { zoom.value = scale / 1.25 }}>−</button>
        <button type="button" onClick={() => { zoom.value = 0 }}>Fit</button>
        <button type="button" onClick={() => saveSvg(chart.current, machine.value)}>SVG</button>
        <button type="button" onClick={() => download(toMermaid(MACHINES[machine.value]), `${machine.value}.mmd`)}>Mermaid</button>
        <button type="button" onClick={() => download(JSON.stringify(toXStateJson(MACHINES[machine.value]), null, 2), `${machine.value}.json`)}>XState JSON</button>
      </div>
      <div class="machines">
        <div class="chart" ref={chart} tabIndex={0} role="group" aria-label="Statechart"><Chart drawing={drawing} look={actor.value} zoom={scale} /></div>
        <aside class="stack" aria-label="Transitions" tabIndex={0}>{machine.value === 'journalLink' ? <p class="quiet small">The link to the journal is outside of it, so the journal tells no states of it.</p> : <Steps actor={actor.value} />}</aside>
      </div>
    </>
  )
}

const Steps = ({ actor }: { actor: ActorLook | undefined }): JSX.Element => (
  <>
    <h3>Now</h3>
    {actor === undefined || actor.active.length === 0 ? <p class="quiet">{actor?.known === false ? 'not decided again' : 'not there at this position'}</p> : <div class="row">{actor.active.map((state) => <span key={state} class="chip good">{state}</span>)}</div>}
    {actor?.timers.map(({ name, inMs }) => <div key={name} class="small">timer <span class="mono">{name}</span> in <strong>{durationText(inMs * 1000)}</strong></div>)}
    {actor === undefined || actor.refusedBy.length === 0 ? null : <div class="small">guards that said no here: <span class="bad">{actor.refusedBy.join(', ')}</span></div>}
    <h3>Last transitions</h3>
    <table>
      <tbody>
        {actor?.steps.map((step, i) => (
          <tr key={i} class={step.position === at.value ? 'chosen' : ''}>
            <td><button type="button" class="plain" onClick={() => goTo(step.position)}>{step.position}</button></td>
            <td class="small">{changed(step.from, step.to)} <span class="quiet">{step.edge.split(':')[1] || 'always'}</span></td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
)

/** Only the regions that changed. */
const changed = (from: string, to: string): string => {
  const after = to.split('|')
  const moved = from.split('|').flatMap((state, i) => (state === after[i] ? [] : [`${state} → ${after[i] ?? ''}`]))
  return moved.length === 0 ? `in ${to.split('|').length > 1 ? 'place' : to}` : moved.join(', ')
}

const saveSvg = (chart: HTMLElement | null, name: string): void => {
  const svg = chart?.querySelector('svg')
  if (svg === undefined || svg === null) return
  const copy = svg.cloneNode(true) as SVGElement
  const style = getComputedStyle(svg)
  const drawn = [...svg.querySelectorAll('rect, path, polygon, circle, text')]
  const copies = [...copy.querySelectorAll<SVGElement>('rect, path, polygon, circle, text')]
  // The page's style sheet does not travel with the file.
  copies.forEach((element, i) => {
    const seen = getComputedStyle(drawn[i] ?? svg)
    for (const property of ['fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'font', 'paint-order', 'rx']) element.style.setProperty(property, seen.getPropertyValue(property))
  })
  copy.style.setProperty('background', getComputedStyle(chart ?? svg).backgroundColor)
  copy.style.setProperty('color', style.color)
  download(new XMLSerializer().serializeToString(copy), `${name}.svg`)
}
